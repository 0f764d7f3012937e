"""What a step makes, and the line of it that is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillopt_exp.records.epoch import EpochRecord, EpochTrace
from skillopt_exp.records.rollout import Metric, Rollout, count, mean
from skillopt_exp.records.skill import Compaction, EditLimit, EditResult, ParsePath, Patch
from skillopt_exp.records.state import Judged, Outcome, ScoredSkill, TrainState


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One line of ``history.jsonl``: what follows from answers alone, so equal for equal seeds."""

    step: int
    epoch: int
    item_ids: tuple[str, ...]
    train_hard: float | None
    train_soft: float | None
    num_failures: int
    faults: Mapping[str, int]
    candidate_faults: Mapping[str, int]
    edit_budget: int | None
    num_patches: int
    parse_paths: Mapping[str, int]
    edits_reflected: int
    edits_merged: int
    edits_proposed: int
    edits_applied: int
    edits_rejected: Mapping[str, int]
    candidate_digest: str
    candidate_chars: int
    candidate_hard: float | None
    candidate_soft: float | None
    current_hard: float | None
    current_soft: float | None
    best_hard: float | None
    best_soft: float | None
    best_step: int
    outcome: Outcome
    by: str
    margin: float
    detail: str = ""
    num_won: int | None = None
    num_lost: int | None = None
    p_value: float | None = None
    candidate_at_most: float | None = None
    num_selection: int = 0
    num_screening: int = 0
    other_verdicts: tuple[str, ...] = ()
    other_selection: int = 0
    other_screening: int = 0
    edit_budget_reason: str = ""
    compaction: Compaction | None = None
    epoch_end: EpochRecord | None = None
    notes_proposed: int = 0
    notes_added: int = 0
    notes_rejected: Mapping[str, int] = field(default_factory=dict)
    notes_compaction: Compaction | None = None


@dataclass(frozen=True, slots=True)
class StepTrace:
    """Everything that one step made, stage by stage, for those who keep or show it.

    ``others`` are candidates that were tried beside the one that the step ended with. ``epoch_end`` is what
    followed the last step of an epoch; ``state`` comes after that. ``notes`` says of each reminder whether
    it was added to the appendix, ``notes_compaction`` what became of too many.
    """

    epoch: int
    rollouts: tuple[Rollout, ...]
    patches: tuple[Patch, ...]
    merged: Patch
    limit: EditLimit
    selected: Patch
    edits: tuple[EditResult, ...]
    judged: Judged
    state: TrainState
    epoch_end: EpochTrace | None = None
    others: tuple[Judged, ...] = ()
    notes: tuple[EditResult, ...] = ()
    notes_compaction: Compaction | None = None

    @property
    def unreadable(self) -> bool:
        """Whether the optimizer was asked and not one of its replies could be read."""
        return bool(self.selected.replies) and set(self.selected.replies) == {ParsePath.failed}

    @property
    def record(self) -> StepRecord:
        """The step in one line."""
        state, judged, scores = self.state, self.judged, [rollout.score for rollout in self.rollouts]
        candidate, verdict = judged.candidate, judged.verdict
        return StepRecord(
            step=state.step,
            epoch=self.epoch,
            item_ids=tuple(rollout.item.id for rollout in self.rollouts),
            train_hard=mean(score.hard for score in scores),
            train_soft=mean(score.soft for score in scores),
            num_failures=sum(rollout.failed for rollout in self.rollouts),
            faults=count(rollout.fault for rollout in self.rollouts),
            candidate_faults=count(rollout.fault for rollout in judged.selection),
            edit_budget=self.limit.edits,
            num_patches=len(self.patches),
            parse_paths=count(self.selected.replies),
            edits_reflected=sum(len(patch.edits) for patch in self.patches),
            edits_merged=len(self.merged.edits),
            edits_proposed=len(self.edits),
            edits_applied=sum(result.applied for result in self.edits),
            edits_rejected=count(result.rejection for result in self.edits),
            candidate_digest=candidate.skill.digest,
            candidate_chars=len(candidate.skill.text),
            candidate_hard=candidate.mean(Metric.hard),
            candidate_soft=candidate.mean(Metric.soft),
            current_hard=state.current.mean(Metric.hard),
            current_soft=state.current.mean(Metric.soft),
            best_hard=state.best.mean(Metric.hard),
            best_soft=state.best.mean(Metric.soft),
            best_step=state.best.step,
            outcome=verdict.outcome,
            by=verdict.by,
            margin=verdict.margin,
            detail=verdict.detail,
            num_won=verdict.num_won,
            num_lost=verdict.num_lost,
            p_value=verdict.p_value,
            candidate_at_most=verdict.at_most,
            num_selection=len(judged.selection),
            num_screening=len(judged.screening),
            other_verdicts=tuple(str(other.verdict) for other in self.others),
            other_selection=sum(len(other.selection) for other in self.others),
            other_screening=sum(len(other.screening) for other in self.others),
            edit_budget_reason=self.limit.reason,
            compaction=judged.compaction,
            epoch_end=None if self.epoch_end is None else self.epoch_end.record,
            notes_proposed=len(self.notes),
            notes_added=sum(result.applied for result in self.notes),
            notes_rejected=count(result.rejection for result in self.notes),
            notes_compaction=self.notes_compaction,
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """What an earlier process of a run left: enough to go on as if it had never ended.

    ``scored`` holds every skill that was scored on all of val, the seed first; ``asked`` the digests of all
    that met it.
    """

    seed: ScoredSkill
    records: tuple[StepRecord, ...]
    state: TrainState
    scored: tuple[ScoredSkill, ...]
    asked: frozenset[str] = frozenset()
