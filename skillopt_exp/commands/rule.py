"""``rule``: what the rule derives from a train split of a given size, and why."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from omegaconf import DictConfig, OmegaConf

from skillopt_exp import rules
from skillopt_exp.commands.arguments import Verb, parse
from skillopt_exp.config.key import Affects, key
from skillopt_exp.config.locate import conf_dir
from skillopt_exp.config.rule import RuleConfig
from skillopt_exp.errors import UsageError

VERB = Verb(
    "rule",
    "Show the batch size and learning rate that the rule derives from a train split, and why.",
    "python -m skillopt_exp rule train_size=1000",
)


@dataclass(kw_only=True)
class RuleArguments:
    """Keys of the verb."""

    train_size: int = key(affects=Affects.nothing, help="items in the train split")
    rule: str = key("seed", affects=Affects.nothing, help="a file of conf/rule")
    num_epochs: int = key(3, affects=Affects.nothing, help="passes over the train split")


def run(arguments: Sequence[str]) -> int:
    """Print the derived values with their reasons."""
    asked = parse(RuleArguments, arguments, VERB)
    if asked is None:
        return 0
    if asked.train_size < 1:
        raise UsageError(f"train_size is {asked.train_size}; give 1 or more items")
    if asked.num_epochs < 0:
        raise UsageError(f"num_epochs is {asked.num_epochs}; give 0 or more")
    derived = rules.derive(load_table(asked.rule), asked.train_size)
    steps = rules.steps_per_epoch(asked.train_size, derived.batch_size)
    low, high = derived.steps
    rows = (
        ("batch_size", derived.batch_size, derived.batch_size_reason),
        ("learning_rate", derived.learning_rate, derived.learning_rate_reason),
        (
            "min_learning_rate",
            rules.default_min_learning_rate(derived.learning_rate),
            "min(2, learning_rate)",
        ),
        ("steps", steps * asked.num_epochs, f"{asked.num_epochs} epochs of {steps}; aims at {low} to {high}"),
    )
    sys.stdout.write("".join(f"{name:<18}{value:>6}   {reason}\n" for name, value, reason in rows))
    if asked.train_size < rules.FEW_TRAIN_ITEMS:
        sys.stdout.write(f"warning: {rules.few_train_items(asked.train_size)}\n")
    return 0


def load_table(name: str) -> rules.RuleTable:
    """The rule table in ``conf/rule/<name>.yaml``."""
    folder = conf_dir() / "rule"
    known = sorted(each.stem for each in folder.glob("*.yaml"))
    if name not in known:
        raise UsageError(f"there is no rule {name!r}; rules: {', '.join(known)}")
    loaded = OmegaConf.load(folder / f"{name}.yaml")
    assert isinstance(loaded, DictConfig)
    loaded.pop("defaults", None)
    config = OmegaConf.to_object(OmegaConf.merge(OmegaConf.structured(RuleConfig), loaded))
    assert isinstance(config, RuleConfig)
    return config.table()
