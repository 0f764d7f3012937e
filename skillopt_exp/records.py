"""The values that stages pass on. All frozen; nothing here does I/O or knows a configuration.

Scores are fractions in [0, 1] everywhere; percent exists in printed text alone.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar


class Split(StrEnum):
    """What reflection sees, what the gate sees, what is scored for the report alone."""

    train = "train"
    val = "val"
    test = "test"


class Metric(StrEnum):
    """What the gate compares: solved or not, partial credit, or the mean of both."""

    hard = "hard"
    soft = "soft"
    mixed = "mixed"


class Role(StrEnum):
    """The model that does the tasks, and the model that edits the skill."""

    target = "target"
    optimizer = "optimizer"


class Fault(StrEnum):
    """Why a reply could not be used, by the reply's own doing."""

    truncated = "truncated"
    too_long = "too_long"
    content_filter = "content_filter"
    empty = "empty"
    scorer_error = "scorer_error"
    unparsable = "unparsable"


class ParsePath(StrEnum):
    """How an optimizer reply was read: as it stood, after repair, or not at all."""

    strict = "strict"
    repaired = "repaired"
    failed = "failed"


class Source(StrEnum):
    """What a patch was read from: failed attempts, solved ones, or both after merging."""

    failure = "failure"
    success = "success"
    mixed = "mixed"


class Rejection(StrEnum):
    """Why one edit was not applied."""

    anchor_missing = "anchor_missing"
    anchor_ambiguous = "anchor_ambiguous"
    empty_anchor = "empty_anchor"
    unknown_op = "unknown_op"
    bad_content = "bad_content"
    protected = "protected"
    duplicate = "duplicate"
    placeholders = "placeholders"
    no_change = "no_change"


class Outcome(StrEnum):
    """What a step ended in; the counts of all four add up to ``total_steps``."""

    accepted = "accepted"
    rejected = "rejected"
    unchanged = "unchanged"
    inconclusive = "inconclusive"


class RateControl(StrEnum):
    """Who says how many edits a step may apply: the schedule, the optimizer, or nobody."""

    fixed = "fixed"
    autonomous = "autonomous"
    none = "none"


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
class Item:
    """One task: a question with its accepted answers (at least one) and, maybe, a context."""

    id: str
    question: str
    answers: tuple[str, ...]
    context: str = ""


@dataclass(frozen=True, slots=True)
class Splits:
    """The items of a data set, disjoint by id."""

    train: tuple[Item, ...]
    val: tuple[Item, ...]
    test: tuple[Item, ...]

    def __iter__(self) -> Iterator[Item]:
        yield from self.train
        yield from self.val
        yield from self.test


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. ``reasoning`` is the model's hidden text: kept, never scored."""

    role: str
    content: str
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One conversation with the optimizer, its reply last; ``stage`` says what it was for."""

    stage: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A rollout's score: ``hard`` is 0 or 1, ``soft`` in [0, 1]; ``feedback`` says what differed."""

    hard: float
    soft: float
    feedback: str = ""

    def __post_init__(self) -> None:
        for value in (self.hard, self.soft):
            if not (math.isfinite(value) and 0.0 <= value <= 1.0):
                raise ValueError(f"a score must be a number in [0, 1], not {value!r}")

    def value(self, metric: Metric) -> float:
        """The number that ``metric`` reads. The one definition of each metric."""
        match metric:
            case Metric.hard:
                return self.hard
            case Metric.soft:
                return self.soft
            case Metric.mixed:
                return (self.hard + self.soft) / 2


@dataclass(frozen=True, slots=True)
class Rollout:
    """One attempt at ``item``: the whole conversation, the answer read from it, its score.

    ``fault`` is set when the reply itself could not be used; the score is then 0.
    """

    item: Item
    attempt: int
    messages: tuple[Message, ...]
    prediction: str
    score: Score
    fault: Fault | None = None

    @property
    def failed(self) -> bool:
        return self.score.hard < 1.0


@dataclass(frozen=True, slots=True)
class Edit:
    """One proposed change, as the optimizer wrote it: not yet known to be applicable.

    ``target`` is the anchor (unused by ``append``), ``content`` the new text (unused by ``delete``).
    ``support_count`` says how many patches asked for it, ``source_type`` whether they came from
    failures or successes.
    """

    op: str
    target: str | None = None
    content: str | None = None
    support_count: int = 1
    source_type: Source = Source.failure


@dataclass(frozen=True, slots=True)
class Patch:
    """Proposed edits with their reasoning: of one reflect reply, or merged of several.

    ``replies`` says how each optimizer reply that went into it was read, ``dropped`` what of them
    was left out and why.
    """

    edits: tuple[Edit, ...]
    source: Source = Source.mixed
    reasoning: str = ""
    failure_summary: str = ""
    replies: tuple[ParsePath, ...] = ()
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """The text being trained, in three parts; an empty part renders to nothing."""

    body: str = ""
    guidance: str = ""
    appendix: str = ""

    GUIDANCE_START: ClassVar[str] = "<!-- SLOW_UPDATE_START -->"
    GUIDANCE_END: ClassVar[str] = "<!-- SLOW_UPDATE_END -->"

    @property
    def text(self) -> str:
        """What stands in front of every target call."""
        guidance = self.guidance.strip()
        if guidance:
            guidance = f"{self.GUIDANCE_START}\n{guidance}\n{self.GUIDANCE_END}"
        parts = (self.body.strip(), guidance, self.appendix.strip())
        return "\n\n".join(part for part in parts if part)

    @property
    def digest(self) -> str:
        """SHA-256 of the rendered text, 64 hex digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class EditResult:
    """What became of one edit: applied (``rejection`` is None) or rejected for one reason."""

    edit: Edit
    rejection: Rejection | None = None

    @property
    def applied(self) -> bool:
        return self.rejection is None


@dataclass(frozen=True, slots=True)
class ScoredSkill:
    """A skill with its score on every val item, in the split's order. ``step`` 0 is the seed.

    ``epoch_end`` tells the work at the end of an epoch from the edits of that epoch's last step. A
    candidate that was refused before it met the target has no scores.
    """

    skill: Skill
    scores: tuple[Score, ...]
    step: int
    epoch_end: bool = False

    def mean(self, metric: Metric) -> float | None:
        """The mean over items, or None when there are none: the mean of nothing is not 0."""
        return mean(score.value(metric) for score in self.scores)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The gate's decision on one candidate; the only source for log, MLflow, summary and report.

    ``margin`` is the sum over val items of candidate minus current, in items; ``detail`` says what was
    found where a candidate was refused before it met the target.
    """

    outcome: Outcome
    by: str = ""
    margin: float = 0.0
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.outcome}(by: {self.by})" if self.by else str(self.outcome)


@dataclass(frozen=True, slots=True)
class Remembered:
    """One earlier step of this epoch, as the optimizer is shown it: never by how much it failed."""

    step: int
    failure_summaries: tuple[str, ...]
    rejected_edits: tuple[Edit, ...]
    outcome: Outcome


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
class EditLimit:
    """How many edits a step may apply (None: no limit), in the optimizer's words where it decided."""

    edits: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Compaction:
    """A candidate that was too long, sent back once. Sizes are in tokens, see ``skill.num_tokens``.

    ``after`` is None where the reply could not be used; ``problem`` says why.
    """

    before: int
    after: int | None
    reply: ParsePath
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A candidate with its val rollouts (none where its text was scored before) and its verdict."""

    candidate: ScoredSkill
    selection: tuple[Rollout, ...]
    verdict: Verdict
    compaction: Compaction | None = None


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
            pairs=_count(pair.change for pair in self.pairs),
            pairs_shown=len(self.shown),
            parse_paths=_count(path for advice in written for path in advice.replies),
            guidance_chars=len(self.slow_update.text) if self.slow_update is not None else 0,
            meta_skill_chars=len(self.meta_skill.text) if self.meta_skill is not None else 0,
            candidate_digest=None if judged is None else judged.candidate.skill.digest,
            candidate_hard=None if judged is None else judged.candidate.mean(Metric.hard),
            candidate_soft=None if judged is None else judged.candidate.mean(Metric.soft),
            candidate_faults=_count(rollout.fault for rollout in judged.selection)
            if judged is not None
            else {},
            outcome=None if judged is None else verdict.outcome,
            by=verdict.by,
            margin=verdict.margin,
            detail=verdict.detail,
            compaction=None if judged is None else judged.compaction,
        )


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
    edit_budget_reason: str = ""
    compaction: Compaction | None = None
    epoch_end: EpochRecord | None = None


@dataclass(frozen=True, slots=True)
class StepTrace:
    """Everything that one step made, stage by stage, for those who keep or show it.

    ``edit_budget`` None is no limit. ``selection`` holds the candidate's val rollouts; none where its
    text had been scored before. ``epoch_end`` is what followed the last step of an epoch; ``state``
    comes after that.
    """

    epoch: int
    edit_budget: int | None
    rollouts: tuple[Rollout, ...]
    patches: tuple[Patch, ...]
    merged: Patch
    selected: Patch
    edits: tuple[EditResult, ...]
    candidate: ScoredSkill
    selection: tuple[Rollout, ...]
    verdict: Verdict
    state: TrainState
    edit_budget_reason: str = ""
    compaction: Compaction | None = None
    epoch_end: EpochTrace | None = None

    @property
    def unreadable(self) -> bool:
        """Whether the optimizer was asked and not one of its replies could be read."""
        return bool(self.selected.replies) and set(self.selected.replies) == {ParsePath.failed}

    @property
    def record(self) -> StepRecord:
        """The step in one line."""
        state, scores = self.state, [rollout.score for rollout in self.rollouts]
        return StepRecord(
            step=state.step,
            epoch=self.epoch,
            item_ids=tuple(rollout.item.id for rollout in self.rollouts),
            train_hard=mean(score.hard for score in scores),
            train_soft=mean(score.soft for score in scores),
            num_failures=sum(rollout.failed for rollout in self.rollouts),
            faults=_count(rollout.fault for rollout in self.rollouts),
            candidate_faults=_count(rollout.fault for rollout in self.selection),
            edit_budget=self.edit_budget,
            num_patches=len(self.patches),
            parse_paths=_count(self.selected.replies),
            edits_reflected=sum(len(patch.edits) for patch in self.patches),
            edits_merged=len(self.merged.edits),
            edits_proposed=len(self.edits),
            edits_applied=sum(result.applied for result in self.edits),
            edits_rejected=_count(result.rejection for result in self.edits),
            candidate_digest=self.candidate.skill.digest,
            candidate_chars=len(self.candidate.skill.text),
            candidate_hard=self.candidate.mean(Metric.hard),
            candidate_soft=self.candidate.mean(Metric.soft),
            current_hard=state.current.mean(Metric.hard),
            current_soft=state.current.mean(Metric.soft),
            best_hard=state.best.mean(Metric.hard),
            best_soft=state.best.mean(Metric.soft),
            best_step=state.best.step,
            outcome=self.verdict.outcome,
            by=self.verdict.by,
            margin=self.verdict.margin,
            detail=self.verdict.detail,
            edit_budget_reason=self.edit_budget_reason,
            compaction=self.compaction,
            epoch_end=None if self.epoch_end is None else self.epoch_end.record,
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """What an earlier process of a run left: enough to go on as if it had never ended.

    ``scored`` holds every skill that was scored on val, the seed first.
    """

    seed: ScoredSkill
    records: tuple[StepRecord, ...]
    state: TrainState
    scored: tuple[ScoredSkill, ...]


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its confidence interval; all in the value's own unit."""

    value: float
    low: float
    high: float


class Evidence(StrEnum):
    """What the paired test on the test items lets one say of the gain."""

    clear = "clear"
    within_noise = "within_noise"
    underpowered = "underpowered"


@dataclass(frozen=True, slots=True)
class Usage:
    """Paid calls and their tokens. None is unknown (the provider did not say), which is not zero.

    ``reused`` counts answers that came from the store instead: they are in no other number.
    """

    calls: int = 0
    reused: int = 0
    input_tokens: int | None = 0
    cached_tokens: int | None = 0
    output_tokens: int | None = 0
    reasoning_tokens: int | None = 0
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Summary:
    """What ``summary.json`` holds: the run's result, in fractions, with intervals."""

    format: int
    status: str
    verdict: str
    evidence: Evidence | None
    meets_seed_rule: bool
    cause: str
    dataset: str
    target: str
    optimizer: str
    simulated: bool
    seed: int
    baseline_selection_hard: float | None
    best_selection_hard: float | None
    best_step: int
    baseline_test_hard: float | None
    test_hard: float | None
    test_delta_hard: float | None
    test_delta_interval: Interval | None
    final_test_hard: float | None
    num_test_items: int
    total_steps: int
    total_accepts: int
    total_rejects: int
    outcomes: Mapping[str, int]
    seed_digest: str
    best_digest: str
    gate: str = ""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def mean(values: Iterable[float]) -> float | None:
    """The exactly rounded mean, or None of nothing."""
    known = list(values)
    return math.fsum(known) / len(known) if known else None


def _count(values: Iterable[StrEnum | None]) -> dict[str, int]:
    """How often each value occurs, by name, in the order of their names."""
    counts = Counter(str(value) for value in values if value is not None)
    return dict(sorted(counts.items()))
