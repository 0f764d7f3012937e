"""What was scored and decided, and where a training stands."""

from dataclasses import dataclass
from enum import StrEnum

from skillopt_exp.records.rollout import Metric, Rollout, Score, mean
from skillopt_exp.records.skill import Compaction, EditResult, Skill


class Outcome(StrEnum):
    """What a step ended in; the counts of all four add up to ``total_steps``."""

    accepted = "accepted"
    rejected = "rejected"
    unchanged = "unchanged"
    inconclusive = "inconclusive"


class StopReason(StrEnum):
    """Why training ended before its last step, in good order."""

    ceiling = "ceiling"
    patience = "patience"


@dataclass(frozen=True, slots=True)
class ScoredSkill:
    """A skill with its scores on every val item, in the split's order. ``step`` 0 is the seed.

    With several attempts an item, ``repeats`` scores stand side by side for each. ``epoch_end`` tells the
    work at the end of an epoch from the edits of that epoch's last step. A candidate that was refused
    before every item was answered has no scores.
    """

    skill: Skill
    scores: tuple[Score, ...]
    step: int
    epoch_end: bool = False
    repeats: int = 1

    @property
    def num_items(self) -> int:
        return len(self.scores) // self.repeats

    def mean(self, metric: Metric) -> float | None:
        """The mean over items, or None when there are none: the mean of nothing is not 0."""
        return mean(score.value(metric) for score in self.scores)

    def by_item(self) -> tuple[tuple[Score, ...], ...]:
        """The scores of each item's attempts."""
        return tuple(
            self.scores[start : start + self.repeats] for start in range(0, len(self.scores), self.repeats)
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's decision on one candidate; the only source for log, MLflow, summary and report.

    ``margin`` is the sum over val items of candidate minus current, in items; ``detail`` says what was
    found where a candidate was refused before it met the target. ``num_won`` and ``num_lost`` count the
    items that only the candidate, or only the current skill, solves in more than half of the attempts;
    ``p_value`` is how often luck alone gains as much (one-sided). All three are None where not every
    item was answered under both. ``at_most`` is set where the evaluation ended early: the score on val, in
    the gate's metric, that the candidate could have reached; the margin is then at most so much, too.
    """

    outcome: Outcome
    by: str = ""
    margin: float = 0.0
    detail: str = ""
    num_won: int | None = None
    num_lost: int | None = None
    p_value: float | None = None
    at_most: float | None = None

    def __str__(self) -> str:
        return f"{self.outcome}(by: {self.by})" if self.by else str(self.outcome)


@dataclass(frozen=True, slots=True)
class Remembered:
    """One earlier step of this epoch, as the optimizer is shown it: never by how much it failed.

    ``by`` is what the step's candidate was rejected by. ``rejected_edits`` are those that were not kept, the
    ones that could not be applied with their own reason.
    """

    step: int
    failure_summaries: tuple[str, ...]
    rejected_edits: tuple[EditResult, ...]
    outcome: Outcome
    by: str = ""


@dataclass(frozen=True, slots=True)
class TrainState:
    """All that the next step depends on, besides configuration and data.

    ``last_epoch`` is the skill that the last complete epoch ended with, ``meta_skill`` the optimizer's
    advice to itself. ``epoch_scored`` are the candidates that ends of epochs have scored on val;
    ``ungated`` says that guidance was written past the gate.
    """

    step: int
    current: ScoredSkill
    best: ScoredSkill
    step_buffer: tuple[Remembered, ...] = ()
    last_epoch: Skill | None = None
    meta_skill: str = ""
    epoch_scored: tuple[ScoredSkill, ...] = ()
    ungated: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its val rollouts (none where its text was scored before) and its verdict.

    ``selection`` is in the split's order; of an evaluation that ended early it holds what was asked until
    then. ``screening`` are attempts at the step's batch, where those came first.
    """

    candidate: ScoredSkill
    selection: tuple[Rollout, ...]
    verdict: Verdict
    compaction: Compaction | None = None
    screening: tuple[Rollout, ...] = ()
