"""Whole runs: what one seed promises, and what each key changes."""

import json
import shlex
from pathlib import Path

import pytest
from running import all_files, run

from skillopt_exp.config.root import schema_keys
from skillopt_exp.prompts import BUILT_IN
from skillopt_exp.records import Evidence, Skill, UpdateMode

ABOUT_THE_PROCESS = {"run.json", "mlflow.json", "calls.jsonl", "report.html"}


def test_the_demo_gains_over_twenty_points_with_accepted_and_rejected_steps(tmp_path: Path) -> None:
    summary = run(tmp_path, "dataset.limit=null", "train.num_epochs=2")
    assert summary.evidence is Evidence.clear
    assert summary.test_delta_hard is not None
    assert summary.test_delta_hard > 0.20
    assert summary.baseline_test_hard is not None
    assert 0.30 <= summary.baseline_test_hard <= 0.45
    assert summary.total_accepts >= 2
    assert summary.total_rejects >= 2
    assert summary.meets_seed_rule


def test_the_shuffled_control_ends_in_no_improvement(tmp_path: Path) -> None:
    summary = run(tmp_path, "dataset.limit=null", "dataset.shuffle_answers=true")
    assert summary.verdict.startswith("no clear gain")
    assert not summary.meets_seed_rule


def test_one_seed_is_one_run_whatever_the_concurrency(tmp_path: Path) -> None:
    runs = []
    for slots in (1, 8, 64):
        folder = tmp_path / str(slots)
        folder.mkdir()
        limits = [f"model.{role}.max_concurrency={slots}" for role in ("target", "optimizer")]
        run(folder, *limits, f"gradient.analyst_workers={slots}")
        files = all_files(folder)
        # What is asked ahead of a decision, and so what is spent, follows from the slots; nothing else does.
        summary = json.loads(files["summary.json"])
        del summary["usage"]
        files["summary.json"] = json.dumps(summary).encode()
        runs.append({name: files[name] for name in files if name not in ABOUT_THE_PROCESS | {"config.yaml"}})
    assert runs[0].keys() == runs[1].keys() == runs[2].keys()
    for name, content in runs[0].items():
        assert content == runs[1][name] == runs[2][name], name


def test_the_answers_of_test_items_reach_no_decision(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"i{i}",
            "question": f"Which number follows {i}?",
            "answers": f"{i + 1} metres",
            "split": ("train", "val", "test")[i % 3],
        }
        for i in range(90)
    ]
    permuted = [dict(row) for row in rows]
    test = [row for row in permuted if row["split"] == "test"]
    answers = [row["answers"] for row in test]
    for row, answer in zip(test, answers[1:] + answers[:1], strict=True):
        row["answers"] = answer
    left = {}
    for name, items in (("true", rows), ("permuted", permuted)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "items.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
        run(
            folder,
            "dataset=qa",
            "dataset.path=items.jsonl",
            "dataset.limit=null",
            "dataset.split_field=split",
        )
        left[name] = all_files(folder)
    differing = {name for name in left["true"] if left["true"][name] != left["permuted"].get(name)}
    allowed = ABOUT_THE_PROCESS | {"items.jsonl", "split_manifest.json", "summary.json"}
    assert {name for name in differing if not name.startswith("test/")} <= allowed
    assert any(name.startswith("test/") for name in differing), "the permutation reached the test rollouts"


# What each key changes, as (override, the file in which the first difference shows).
SWITCHES = {
    "dataset.context_chars": ("dataset.context_chars=60", "baseline/selection.jsonl"),
    "dataset.fields.context": ("dataset.fields.context=null", "baseline/selection.jsonl"),
    "dataset.fields.group": ("dataset.fields.group=null", "summary.json"),
    "dataset.fields.id": ("dataset.fields.id=null", "split_manifest.json"),
    "dataset.instruction": ("dataset.instruction='Name it.'", "baseline/selection.jsonl"),
    "dataset.limit": ("dataset.limit=70", "split_manifest.json"),
    "dataset.scorer": ("dataset.scorer=contains", "baseline/selection.jsonl"),
    "dataset.shuffle_answers": ("dataset.shuffle_answers=true", "baseline/selection.jsonl"),
    "dataset.split": ("dataset.split=[1,1,1]", "split_manifest.json"),
    "dataset.split_seed": ("dataset.split_seed=7", "split_manifest.json"),
    "dataset.task": ("dataset.task=qa", "baseline/selection.jsonl"),
    "evaluation.repeats": ("evaluation.repeats=2", "baseline/selection.jsonl"),
    "evaluation.test_limit": ("evaluation.test_limit=5", "test/baseline.jsonl"),
    "evaluation.val_limit": ("evaluation.val_limit=5", "baseline/selection.jsonl"),
    "gate.block": ("gate.block=3", "history.jsonl"),
    "gate.early_stop": ("gate.early_stop=none gate.block=null", "history.jsonl"),
    "gate.metric": ("gate.metric=soft", "history.jsonl"),
    "gate.rule": ("gate.rule=accept_all", "history.jsonl"),
    "gate.screen": ("gate.screen=batch", "history.jsonl"),
    "gradient.failure_only": ("gradient.failure_only=true", "steps/step_0001/patches.json"),
    "gradient.merge_batch_size": ("gradient.merge_batch_size=2", "steps/step_0002/merged.json"),
    "gradient.minibatch_size": ("gradient.minibatch_size=4", "steps/step_0001/patches.json"),
    "gradient.trajectory_chars": ("gradient.trajectory_chars=200", "steps/step_0001/patches.json"),
    "optimizer.learning_rate": ("optimizer.learning_rate=1", "history.jsonl"),
    "optimizer.lr_scheduler": ("optimizer.lr_scheduler=constant", "history.jsonl"),
    "optimizer.min_learning_rate": ("optimizer.min_learning_rate=1", "history.jsonl"),
    "optimizer.lr_control_mode": ("optimizer.lr_control_mode=none", "steps/step_0001/patches.json"),
    "optimizer.max_skill_tokens": ("optimizer.max_skill_tokens=10", "history.jsonl"),
    "optimizer.num_candidates": ("optimizer.num_candidates=3", "history.jsonl"),
    "optimizer.prompts_dir": ("optimizer.prompts_dir=prompts", "steps/step_0001/patches.json"),
    "optimizer.skill_update_mode": (
        "optimizer.skill_update_mode=rewrite_from_suggestions",
        "steps/step_0001/patches.json",
    ),
    "optimizer.use_skill_aware_reflection": (
        "optimizer.use_skill_aware_reflection=true",
        "steps/step_0001/patches.json",
    ),
    "train.accumulation": ("train.accumulation=2", "steps/step_0001/rollouts.jsonl"),
    "train.batch_size": ("train.batch_size=7", "history.jsonl"),
    "train.num_epochs": ("train.num_epochs=2", "history.jsonl"),
    "train.seed": ("train.seed=7", "history.jsonl"),
    "train.skill_init": ("train.skill_init=seed.md", "skills/skill_v0000.md"),
}
# The same, of runs of three epochs: what these keys change happens at the end of the second.
EPOCH_SWITCHES = {
    "optimizer.longitudinal_pair_policy": (
        "optimizer.longitudinal_pair_policy=unchanged", "epochs/epoch_0002/epoch.json",
    ),
    "optimizer.slow_update_gate_with_selection": (
        "optimizer.slow_update_gate_with_selection=false", "epochs/epoch_0002/epoch.json",
    ),
    "optimizer.slow_update_samples": ("optimizer.slow_update_samples=6", "epochs/epoch_0002/after.jsonl"),
    "optimizer.use_meta_skill": ("optimizer.use_meta_skill=false", "epochs/epoch_0002/epoch.json"),
    "optimizer.use_slow_update": ("optimizer.use_slow_update=false", "epochs/epoch_0002/epoch.json"),
}  # fmt: skip
# Tested where they act: sources and formats in tests/data, requests and prices in tests/llm, the
# store in tests/tracking, the rule's table in tests/test_decide.py and tests/test_rules.py, what a
# gate's rule reads in tests/stages/test_gate_keys.py, when training ends in tests/test_scoring.py, other
# optimizers in tests/algorithms, the control in tests/test_held_out.py, many notes in
# tests/test_skill_aware.py, what sweeps read in tests/sweeps.
ELSEWHERE = {
    "budget.calls", "budget.tokens", "budget.usd",
    "cache.max_gb", "cache.mode", "cache.path",
    "dataset.fields.answers", "dataset.fields.question", "dataset.gold_after", "dataset.min_source_items",
    "dataset.name", "dataset.path", "dataset.records", "dataset.split_dir", "dataset.split_field",
    "evaluation.control",
    "gate.alpha", "gate.alpha_per", "gate.margin", "gate.no_regression",
    "gradient.analyst_workers", "model.max_error_rate", "optimizer.name",
    "optimizer.factory", "optimizer.max_metric_calls", "optimizer.options",
    "optimizer.skill_aware_consolidate_threshold",
    "rule.bands", "rule.name", "rule.open_until", "train.patience",
    "sweep.fresh", "sweep.name", "sweep.on_error", "sweep.test_all",
    "tracking.backend", "tracking.experiment", "tracking.uri",
}  # fmt: skip


# Small minibatches, so that there is something to merge; small blocks, so that some are not asked.
BASE = ("gradient.minibatch_size=1", "train.batch_size=8", "gate.block=1")


def test_every_key_is_accounted_for() -> None:
    keys = {key for key in schema_keys() if not key.startswith(("model.target.", "model.optimizer."))}
    assert keys == SWITCHES.keys() | EPOCH_SWITCHES.keys() | ELSEWHERE


@pytest.fixture(scope="module")
def unswitched(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("unswitched")
    (folder / "seed.md").write_text("- Answer with the bare name.\n", encoding="utf-8")
    run(folder, *BASE)
    return all_files(folder)


@pytest.mark.parametrize("key", SWITCHES)
def test_each_key_changes_what_it_says(
    key: str, unswitched: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    override, where = SWITCHES[key]
    (tmp_path / "seed.md").write_text("- Answer with the bare name.\n", encoding="utf-8")
    (tmp_path / "prompts").mkdir()
    own = BUILT_IN.sources["reflect"].replace("{{ budget }}", "1", 1)
    (tmp_path / "prompts" / "reflect.md").write_text(own, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    run(tmp_path, *BASE, *shlex.split(override))
    switched = all_files(tmp_path)
    assert switched[where] != unswitched[where], f"{override} changed nothing in {where}"


EPOCHS = (
    "train.num_epochs=3",
    "train.batch_size=12",
    "train.seed=2",
    "dataset.limit=60",
    "gradient.minibatch_size=4",
    "optimizer.learning_rate=2",
)


@pytest.fixture(scope="module")
def unswitched_epochs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("unswitched_epochs")
    run(folder, *EPOCHS)
    return all_files(folder)


@pytest.mark.parametrize("key", EPOCH_SWITCHES)
def test_each_key_of_the_ends_of_epochs_changes_what_it_says(
    key: str, unswitched_epochs: dict[str, bytes], tmp_path: Path
) -> None:
    override, where = EPOCH_SWITCHES[key]
    run(tmp_path, *EPOCHS, override)
    switched = all_files(tmp_path)
    assert switched[where] != unswitched_epochs[where], f"{override} changed nothing in {where}"
    before = [name for name in unswitched_epochs if name.startswith(("baseline", "steps"))]
    first_epoch = [name for name in before if name < "steps/step_0003"]
    assert len(first_epoch) > 10
    assert all(switched[name] == unswitched_epochs[name] for name in first_epoch)


@pytest.mark.parametrize(
    "override",
    [
        "optimizer.lr_control_mode=autonomous",
        "optimizer.lr_control_mode=none",
        *(f"optimizer.skill_update_mode={mode}" for mode in UpdateMode),
        "optimizer.use_skill_aware_reflection=true",
        "train.accumulation=2",
        "optimizer.slow_update_gate_with_selection=false",
    ],
)
@pytest.mark.slow
def test_each_mode_learns_the_demo(override: str, tmp_path: Path) -> None:
    summary = run(tmp_path, "dataset.limit=null", "train.num_epochs=3", override)
    assert summary.baseline_test_hard is not None
    assert summary.baseline_test_hard < 0.45
    assert summary.test_hard is not None
    assert summary.test_hard > 0.70


@pytest.mark.parametrize("mode", UpdateMode)
@pytest.mark.slow
def test_rules_that_are_forgotten_are_reminded_of_in_the_appendix(mode: UpdateMode, tmp_path: Path) -> None:
    """The seed skill names flaws, and cures none: to reflection they are lapses."""
    (tmp_path / "seed.md").write_text("- There are sentences, full names and alternatives.", encoding="utf-8")
    summary = run(
        tmp_path,
        "dataset.limit=null",
        "train.num_epochs=3",
        f"train.skill_init={tmp_path / 'seed.md'}",
        f"optimizer.skill_update_mode={mode}",
        "optimizer.use_skill_aware_reflection=true",
    )
    assert summary.baseline_test_hard is not None
    assert summary.baseline_test_hard < 0.45
    assert summary.test_hard is not None
    assert summary.test_hard > 0.70
    assert Skill.APPENDIX_START in (tmp_path / "best_skill.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("mode", UpdateMode)
@pytest.mark.slow
def test_the_shuffled_control_gains_nothing_in_any_mode(mode: UpdateMode, tmp_path: Path) -> None:
    summary = run(
        tmp_path,
        "dataset.limit=null",
        "dataset.shuffle_answers=true",
        f"optimizer.skill_update_mode={mode}",
        "optimizer.use_skill_aware_reflection=true",
    )
    assert summary.verdict.startswith("no clear gain")
    assert not summary.meets_seed_rule
