from pathlib import Path

import pytest

from skillopt_exp.commands.composing import compose
from skillopt_exp.config import Config
from skillopt_exp.config.locate import conf_dir
from skillopt_exp.config.names import nearest
from skillopt_exp.config.root import schema_keys
from skillopt_exp.errors import UsageError

GROUPS = ("dataset", "model", "optimizer", "rule", "gate", "tracking")
CHOICES = [
    f"{group}={path.stem}" for group in GROUPS for path in sorted((conf_dir() / group).glob("*.yaml"))
] + [
    f"model/{role}={path.stem}"
    for role in ("target", "optimizer")
    for path in sorted((conf_dir() / "model" / role).glob("*.yaml"))
]

NAMELESS = ("azure", "ollama", "openai", "openai_compatible", "vllm")
"""Model files that leave the model's name to their user."""


@pytest.mark.parametrize("choice", CHOICES)
def test_every_file_of_a_group_composes(choice: str) -> None:
    group, _, name = choice.partition("=")
    named = [
        f"model.{role}.name=m" for role in ("target", "optimizer") if group in ("model", f"model/{role}")
    ]
    own = ["optimizer.factory=somewhere:make"] if choice == "optimizer=custom" else []
    assert isinstance(compose([choice, *own, *(named if name in NAMELESS else [])]), Config)


@pytest.mark.parametrize(
    "path", sorted((conf_dir() / "experiment").glob("*.yaml")), ids=lambda path: path.stem
)
def test_every_recipe_composes(path: Path) -> None:
    assert isinstance(compose([f"+experiment={path.stem}"]), Config)


def test_one_role_can_be_swapped() -> None:
    config = compose(["model=deepseek", "model/target=simulated"])
    assert (config.model.target.name, config.model.optimizer.name) == ("simulated-target", "deepseek-v4-pro")


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("train.batchsize=3", "there is no key 'train.batchsize'; did you mean train.batch_size?"),
        ("+train.batchsize=3", "there is no key 'train.batchsize'; did you mean train.batch_size?"),
        ("batch_size=3", "did you mean train.batch_size?"),
        ("+dataset.scorer_name=exact", "did you mean dataset.scorer?"),
        ("+model.target.apikeyenv=x", "did you mean model.target.api_key_env?"),
        ("train.batch_size=0", "train.batch_size is 0; give 1 or more"),
        ("train.num_epochs=-1", "train.num_epochs is -1"),
        ("train.num_epochs=1000000000000", "give 0 to 1000"),
        ("budget.usd=inf", "budget.usd is inf"),
        ("cache.max_gb=inf", "cache.max_gb is inf"),
        ("model.target.timeout=nan", "seconds above 0"),
        ("model.target.temperature=nan", "0 or more, or null"),
        ("gradient.merge_batch_size=1", "merging one by one never ends"),
        ("gradient.minibatch_size=0", "gradient.minibatch_size is 0"),
        ("optimizer.learning_rate=0", "optimizer.learning_rate is 0"),
        ("optimizer.learningrate=2", "did you mean optimizer.learning_rate?"),
        ("optimizer.max_metric_calls=9", "read by optimizer=gepa alone"),
        ("optimizer=custom", "optimizer.factory has no value yet"),
        ("evaluation.val_limit=0", "evaluation.val_limit is 0"),
        ("dataset.split=[1,2]", "'dataset.split=[2,1,7]'"),
        ("dataset.split=[0,1,1]", "three numbers above zero"),
        ("dataset.split=2:1:7", "dataset.split"),
        ("dataset.limit=2", "at least 3"),
        ("dataset.scorer=fuzzy", "numeric"),
        ("gate.metric=medium", "mixed"),
        ("model.target.timeout=0", "seconds above 0"),
        ("train.seed=abc", "train.seed"),
        ("rule.open_until=5", "rule.open_until is 5"),
        ("dataset=serchqa", "searchqa"),
        ("dataset=my.jsonl", "dataset=qa dataset.path=my.jsonl"),
        ("note=a, b", "'note=\"a, b\"'"),
        ("dataset.path=[x", "'dataset.path=\"[x\"'"),
    ],
)
def test_a_mistake_is_named_with_what_to_type_instead(override: str, said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        compose(["model=simulated", override])
    assert said in str(refusal.value)


@pytest.mark.parametrize("plus", ["", "+"])
def test_a_key_of_another_choice_is_unknown_and_the_choice_that_reads_it_is_named(plus: str) -> None:
    with pytest.raises(UsageError, match=r"optimizer\.use_meta_skill is read by optimizer=skillopt alone"):
        compose(["model=simulated", "optimizer=none", f"{plus}optimizer.use_meta_skill=false"])


def test_what_never_asks_the_optimizer_model_needs_none() -> None:
    roles = ["model/target=simulated", "model/optimizer=openai_compatible"]
    assert compose([*roles, "optimizer=none"]).model.optimizer.name == "never asked"
    with pytest.raises(UsageError, match=r"model\.optimizer\.name has no value yet"):
        compose(roles)


def test_a_mandatory_value_is_asked_for() -> None:
    with pytest.raises(UsageError, match=r"model\.(target|optimizer)\.name has no value yet"):
        compose(["model=openai_compatible"])


def test_only_the_openai_files_read_its_base_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example/v1")
    for path in (conf_dir() / "model").glob("*.yaml"):
        named = ["model.target.name=m", "model.optimizer.name=m"]
        model = compose([f"model={path.stem}", *named]).model
        reads = {
            endpoint.base_url == "https://elsewhere.example/v1"
            for endpoint in (model.target, model.optimizer)
        }
        assert reads == {path.stem in ("openai", "openai_compatible")}, path.stem


def test_the_nearest_key_is_found_by_its_whole_and_by_its_last_part() -> None:
    keys = schema_keys()
    assert nearest("optimiser.learning_rate", keys) == "did you mean optimizer.learning_rate?"
    assert "train.num_epochs" in nearest("epochs", keys) or "--cfg job" in nearest("epochs", keys)
    assert "--cfg job" in nearest("zzzzzz", keys)


def test_zero_epochs_are_a_value() -> None:
    assert compose(["train.num_epochs=0"]).train.num_epochs == 0
