"""``train``, ``gradient`` and ``evaluation``: how the skill is trained, read and scored."""

from dataclasses import dataclass

from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError

MOST_REPEATS = 100
"""Attempts an item, far beyond what tells more than other items would."""

MOST_EPOCHS = 1000
"""Far beyond what helps; a slip of the keyboard must not plan steps until memory is full."""


@dataclass(kw_only=True)
class TrainConfig:
    """The outer loop."""

    num_epochs: int = key(3, affects=Affects.result, help="passes over the train split")
    batch_size: int | None = key(None, affects=Affects.result, help="items a step; null takes the rule's")
    accumulation: int = key(1, affects=Affects.result, help="batches that one step rolls out and reflects on")
    seed: int = key(42, affects=Affects.result, help="order of the train items in each epoch")
    patience: int | None = key(
        None,
        affects=Affects.result,
        help="epochs in a row without an accepted candidate after which training ends; null is never",
    )
    skill_init: str | None = key(
        None, affects=Affects.result, help="a Markdown file to start from; null is empty"
    )

    def __post_init__(self) -> None:
        if not 0 <= self.num_epochs <= MOST_EPOCHS:
            raise UsageError(f"train.num_epochs is {self.num_epochs}; give 0 to {MOST_EPOCHS}")
        if self.batch_size is not None and self.batch_size < 1:
            raise UsageError(f"train.batch_size is {self.batch_size}; give 1 or more, or null for the rule's")
        if self.patience is not None and self.patience < 1:
            raise UsageError(f"train.patience is {self.patience}; give 1 or more epochs, or null for never")
        if self.accumulation < 1:
            raise UsageError(f"train.accumulation is {self.accumulation}; give 1 or more batches a step")


@dataclass(kw_only=True)
class GradientConfig:
    """How trajectories become edits."""

    minibatch_size: int = key(4, affects=Affects.result, help="trajectories shown in one reflect call")
    merge_batch_size: int = key(4, affects=Affects.result, help="patches merged by one call, at least 2")
    analyst_workers: int = key(8, affects=Affects.nothing, help="reflect and merge calls under way at once")
    failure_only: bool = key(False, affects=Affects.result, help="reflect on failures alone")
    trajectory_chars: int = key(
        4000,
        affects=Affects.result,
        help="longest question, context or reply that a trajectory shows, in characters",
    )

    def __post_init__(self) -> None:
        if self.minibatch_size < 1:
            raise UsageError(f"gradient.minibatch_size is {self.minibatch_size}; give 1 or more")
        if self.merge_batch_size < 2:
            raise UsageError(
                f"gradient.merge_batch_size is {self.merge_batch_size}; give 2 or more: "
                "merging one by one never ends"
            )
        if self.analyst_workers < 1:
            raise UsageError(f"gradient.analyst_workers is {self.analyst_workers}; give 1 or more")
        if self.trajectory_chars < 200:
            raise UsageError(f"gradient.trajectory_chars is {self.trajectory_chars}; give 200 or more")


@dataclass(kw_only=True)
class EvaluationConfig:
    """How much of the held-out splits is scored."""

    val_limit: int | None = key(None, affects=Affects.result, help="score only the first so many val items")
    test_limit: int | None = key(None, affects=Affects.result, help="score only the first so many test items")
    control: bool = key(
        True,
        affects=Affects.cost,
        help="score no skill at all on test, too: says what the skill adds, and what it costs in each call",
    )

    repeats: int = key(
        1,
        affects=Affects.result,
        help="attempts at each val and test item, averaged within the item",
    )

    def __post_init__(self) -> None:
        if not 1 <= self.repeats <= MOST_REPEATS:
            raise UsageError(f"evaluation.repeats is {self.repeats}; give 1 to {MOST_REPEATS} attempts")
        for name, limit in (("val_limit", self.val_limit), ("test_limit", self.test_limit)):
            if limit is not None and limit < 1:
                raise UsageError(f"evaluation.{name} is {limit}; give 1 or more, or null for all")
