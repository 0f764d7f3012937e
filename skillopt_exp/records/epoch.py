"""What the end of an epoch makes."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from skillopt_exp.records.rollout import Metric, Rollout, count
from skillopt_exp.records.skill import Compaction, ParsePath
from skillopt_exp.records.state import Judged, Outcome, Verdict


class Change(StrEnum):
    """What became of an item from one epoch's skill to the next one's."""

    improved = "improved"
    regressed = "regressed"
    still_failing = "still_failing"
    still_solved = "still_solved"


class PairPolicy(StrEnum):
    """Which pairs of attempts the work at an epoch's end is shown."""

    mixed = "mixed"
    changed = "changed"
    unchanged = "unchanged"


@dataclass(frozen=True, slots=True)
class Pair:
    """One train item under last epoch's skill and under this epoch's."""

    before: Rollout
    after: Rollout

    @property
    def change(self) -> Change:
        if self.before.failed:
            return Change.still_failing if self.after.failed else Change.improved
        return Change.regressed if self.after.failed else Change.still_solved


@dataclass(frozen=True, slots=True)
class Advice:
    """A text that the optimizer wrote at the end of an epoch; an empty one changes nothing."""

    text: str = ""
    reasoning: str = ""
    replies: tuple[ParsePath, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EpochRecord:
    """The end of an epoch, from the second on, as a part of the line of the epoch's last step.

    ``pairs`` counts the sampled items by what became of them, ``pairs_shown`` those that the optimizer
    saw. The fields from ``candidate_digest`` on are None where no guidance was written.
    """

    pairs: Mapping[str, int]
    pairs_shown: int
    parse_paths: Mapping[str, int]
    guidance_chars: int
    meta_skill_chars: int
    candidate_digest: str | None
    candidate_hard: float | None
    candidate_soft: float | None
    candidate_faults: Mapping[str, int]
    outcome: Outcome | None
    by: str
    margin: float
    detail: str
    compaction: Compaction | None = None
    num_won: int | None = None
    num_lost: int | None = None
    p_value: float | None = None
    candidate_at_most: float | None = None
    num_selection: int = 0


@dataclass(frozen=True, slots=True)
class EpochTrace:
    """Everything that the end of an epoch made. ``slow_update`` and ``meta_skill`` are None when off,
    ``judged`` where no guidance was written."""

    pairs: tuple[Pair, ...]
    shown: tuple[Pair, ...]
    slow_update: Advice | None = None
    meta_skill: Advice | None = None
    judged: Judged | None = None

    @property
    def record(self) -> EpochRecord:
        """The end of the epoch in one line."""
        judged = self.judged
        written = [advice for advice in (self.slow_update, self.meta_skill) if advice is not None]
        verdict = Verdict(Outcome.unchanged) if judged is None else judged.verdict
        return EpochRecord(
            pairs=count(pair.change for pair in self.pairs),
            pairs_shown=len(self.shown),
            parse_paths=count(path for advice in written for path in advice.replies),
            guidance_chars=len(self.slow_update.text) if self.slow_update is not None else 0,
            meta_skill_chars=len(self.meta_skill.text) if self.meta_skill is not None else 0,
            candidate_digest=None if judged is None else judged.candidate.skill.digest,
            candidate_hard=None if judged is None else judged.candidate.mean(Metric.hard),
            candidate_soft=None if judged is None else judged.candidate.mean(Metric.soft),
            candidate_faults=count(rollout.fault for rollout in judged.selection)
            if judged is not None
            else {},
            outcome=None if judged is None else verdict.outcome,
            by=verdict.by,
            margin=verdict.margin,
            detail=verdict.detail,
            compaction=None if judged is None else judged.compaction,
            num_won=verdict.num_won,
            num_lost=verdict.num_lost,
            p_value=verdict.p_value,
            candidate_at_most=verdict.at_most,
            num_selection=0 if judged is None else len(judged.selection),
        )
