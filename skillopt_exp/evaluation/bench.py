"""What skills are scored on: the items of one split, their task, and the target that attempts them."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp import rules
from skillopt_exp.config.resolved import Resolved
from skillopt_exp.experiment import Experiment
from skillopt_exp.llm.base import Stage
from skillopt_exp.records import Item, Role, Split

_STAGE = {Split.train: Stage.rollout, Split.val: Stage.selection, Split.test: Stage.test}


@dataclass(frozen=True, slots=True)
class Bench:
    """A checked experiment, of which one split and the target are used.

    ``resolved`` is its configuration as the user gave it; ``base`` the folder that relative paths
    start from.
    """

    prepared: Experiment
    resolved: Resolved
    split: Split
    base: Path

    @property
    def items(self) -> tuple[Item, ...]:
        """The items of the split, within ``evaluation.val_limit`` and ``evaluation.test_limit``."""
        items: Mapping[Split, tuple[Item, ...]] = {
            Split.train: self.prepared.splits.train,
            Split.val: self.prepared.splits.val,
            Split.test: self.prepared.splits.test,
        }
        return items[self.split]

    @property
    def attempts(self) -> tuple[tuple[Item, int], ...]:
        """Every item as often as ``evaluation.repeats`` says, with the number of the attempt."""
        numbers = range(1, self.prepared.config.evaluation.repeats + 1)
        return tuple((item, number) for item in self.items for number in numbers)

    @property
    def stage(self) -> Stage:
        """What its calls are booked under."""
        return _STAGE[self.split]

    @property
    def dataset(self) -> str:
        return self.prepared.config.dataset.name

    @property
    def target(self) -> str:
        return self.prepared.config.model.target.name

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to be warned of; what concerns training alone is left out."""
        remarks = list(self.prepared.warnings) + list(rules.model_warnings({Role.target: self.target}))
        if self.prepared.config.dataset.shuffle_answers:
            remarks.append("the answers are shuffled (dataset.shuffle_answers): a control, no result")
        return tuple(remarks)
