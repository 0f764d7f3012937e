"""From what a run did to its result in words and numbers."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from skillopt_exp import rules
from skillopt_exp.errors import BudgetError, InterruptedRun, OutageError
from skillopt_exp.held_out import HeldOut, OnTest
from skillopt_exp.records import (
    FINISHED,
    NO_CALLS,
    ACall,
    Evidence,
    Interval,
    Metric,
    Outcome,
    ParsePath,
    Progress,
    Rollout,
    ScoredSkill,
    Skill,
    Spent,
    Split,
    Standing,
    StepRecord,
    StepTrace,
    StopReason,
    Summary,
    stopped,
)
from skillopt_exp.watch import Opening, Watcher

FORMAT = 1
EVALUATED_ONLY = "evaluated only"
"""The verdict of a run that trains nothing."""

CEILING = 0.98
SEED_RULE_DELTA = 0.02
SEED_RULE_ACCEPTS = 2


@dataclass
class Tally(Watcher):
    """Keeps of a run what its summary is made of; works for a run that ended early, too."""

    opening: Opening
    seed: int
    baseline_skill: ScoredSkill | None = None
    best: ScoredSkill | None = None

    def __post_init__(self) -> None:
        self.records: list[StepRecord] = []
        self.ungated = False
        self.stop_reason: StopReason | None = None
        self.tests: dict[str, OnTest] = {}

    def baseline(self, seed: ScoredSkill, selection: Sequence[Rollout]) -> None:
        self.baseline_skill = self.best = seed

    def resumed(self, progress: Progress) -> None:
        self.baseline_skill, self.best = progress.seed, progress.state.best
        self.records, self.ungated = list(progress.records), progress.state.ungated

    def step(self, trace: StepTrace) -> None:
        self.records.append(trace.record)
        self.best, self.ungated = trace.state.best, trace.state.ungated

    def stopped(self, reason: StopReason) -> None:
        self.stop_reason = reason

    @property
    def status(self) -> str:
        """That of a run which came to its end."""
        return FINISHED if self.stop_reason is None else stopped(self.stop_reason)

    def tested(self, which: str, skill: Skill, rollouts: Sequence[Rollout], a_call: ACall = NO_CALLS) -> None:
        self.tests[which] = OnTest(skill, tuple(rollouts), a_call)

    def summary(self, status: str, spent: Spent) -> Summary | None:
        """The result so far, or None before the baseline was scored."""
        if self.baseline_skill is None or self.best is None:
            return None
        baseline, best = self.baseline_skill, self.best
        outcomes = Counter(record.outcome for record in self.records)
        held_out = HeldOut(self.tests)
        trained = not self.opening.evaluates_only
        headline, standings = held_out.headline if trained else None, held_out.standings
        shown = None if headline is None else headline.evidence
        delta = None if headline is None else headline.hard
        accepts = outcomes[Outcome.accepted]
        return Summary(
            format=FORMAT,
            status=status,
            verdict=_headline(shown, delta) if trained else EVALUATED_ONLY,
            evidence=shown,
            meets_seed_rule=delta is not None and delta > SEED_RULE_DELTA and accepts >= SEED_RULE_ACCEPTS,
            cause=self._cause(shown, delta),
            dataset=self.opening.dataset,
            target=self.opening.target,
            optimizer=self.opening.optimizer,
            simulated=self.opening.simulated,
            seed=self.seed,
            baseline_selection_hard=baseline.mean(Metric.hard),
            best_selection_hard=best.mean(Metric.hard),
            best_step=best.step,
            baseline_test_hard=_hard(standings, "baseline"),
            test_hard=_hard(standings, "best"),
            test_delta_hard=delta,
            test_delta_interval=None if headline is None else headline.hard_interval,
            final_test_hard=_hard(standings, "final"),
            num_test_items=standings["best"].num_items if "best" in standings else 0,
            total_steps=len(self.records),
            total_accepts=accepts,
            total_rejects=outcomes[Outcome.rejected],
            val_attempts_not_needed=self._not_needed(),
            outcomes={str(outcome): outcomes[outcome] for outcome in Outcome},
            seed_digest=baseline.skill.digest,
            best_digest=best.skill.digest,
            gate=self.opening.gate,
            control_test_hard=_hard(standings, "control"),
            control_test_hard_interval=_interval(standings, "control"),
            baseline_test_hard_interval=_interval(standings, "baseline"),
            test_hard_interval=_interval(standings, "best"),
            final_test_hard_interval=_interval(standings, "final"),
            test_digests={name: each.skill.digest for name, each in self.tests.items()},
            test_gains=held_out.gains,
            test_by_group=held_out.groups,
            test_a_call={name: each.a_call for name, each in self.tests.items()},
            skill_cost_a_call=held_out.cost_a_call,
            usage=spent.usage,
            failed_requests=spent.failed_requests,
            notes=self._notes(spent),
        )

    def _not_needed(self) -> int:
        """Attempts at val items that no verdict needed, less what it took to screen candidates.

        What was asked ahead of a verdict is in the usage all the same.

        Negative where screening took more than it spared; 0 of a search that has no candidates but those that
        pass a screen of its own.
        """
        if self.opening.total_steps is None:
            return 0
        assert self.baseline_skill is not None
        whole = len(self.baseline_skill.scores)
        spared = sum(
            whole - record.num_selection
            for record in self.records
            if record.candidate_at_most is not None or record.by == "screen"
        )
        ends = [record.epoch_end for record in self.records if record.epoch_end is not None]
        spared += sum(whole - end.num_selection for end in ends if end.candidate_at_most is not None)
        return spared - sum(record.num_screening for record in self.records)

    def optimizer_unusable(self) -> bool:
        """Whether the optimizer was asked and not one of its replies could be read."""
        paths = _parse_paths(self.records)
        return bool(paths) and set(paths) == {ParsePath.failed}

    def _cause(self, shown: Evidence | None, delta: float | None) -> str:
        """Why there is no clear gain, as far as the run's own figures show it."""
        if shown is None or (shown is Evidence.clear and delta is not None and delta > 0):
            return ""
        baseline = self.baseline_skill.mean(Metric.hard) if self.baseline_skill else None
        paths = _parse_paths(self.records)
        num_val = self.opening.sizes[Split.val]
        num_train = self.opening.sizes[Split.train]
        if paths and paths[ParsePath.failed] > sum(paths.values()) / 2:
            unread = f"{paths[ParsePath.failed]} of {sum(paths.values())}"
            return f"optimizer replies unusable: {unread} could not be read"
        if baseline is not None and baseline >= CEILING:
            return f"ceiling reached: the baseline solves {baseline:.0%} of val"
        if not self.records:
            return "no step was taken"
        if not any(
            record.edits_reflected or record.notes_proposed or record.outcome is not Outcome.unchanged
            for record in self.records
        ):
            return "the optimizer proposed no edits"
        if num_val < rules.FEW_VAL_ITEMS:
            return f"gate too small: val has {num_val} items"
        if num_train < rules.FEW_TRAIN_ITEMS:
            return f"too little train data: {num_train} items"
        if shown is Evidence.underpowered:
            return f"too few test items to tell: {self.opening.sizes[Split.test]}"
        return (
            "no proposed edit helped on val" if not self._accepted() else "what helped on val did not on test"
        )

    def _accepted(self) -> bool:
        return any(record.outcome is Outcome.accepted for record in self.records)

    def _notes(self, spent: Spent) -> tuple[str, ...]:
        notes = []
        if not self.opening.evaluates_only:
            notes.append("best_selection_hard is optimistic: the best skill was chosen on these items")
        if self.opening.simulated:
            notes.append("simulated models: the numbers say nothing about real ones")
        if self.ungated:
            notes.append("the skill holds epoch-end guidance that the gate was not asked about")
        faults = sum(
            sum(record.faults.values()) + sum(record.candidate_faults.values()) for record in self.records
        )
        if faults:
            notes.append(f"{faults} replies could not be used and scored 0 (see faults in history.jsonl)")
        lost = sum(usage.lost for usage in spent.usage.values())
        if lost:
            notes.append(_lost(lost))
        return tuple(notes)


def _hard(standings: Mapping[str, Standing], which: str) -> float | None:
    return standings[which].hard if which in standings else None


def _interval(standings: Mapping[str, Standing], which: str) -> Interval | None:
    return standings[which].hard_interval if which in standings else None


def _lost(count: int) -> str:
    calls = (
        "1 call was sent and its answer lost"
        if count == 1
        else f"{count} calls were sent and their answers lost"
    )
    return (
        f"{calls}, when a process was stopped: perhaps paid, in no figure of tokens or money, and counted "
        "against the budget with all that can have been used"
    )


def _parse_paths(records: Sequence[StepRecord]) -> Counter[str]:
    total: Counter[str] = Counter()
    for record in records:
        total.update(record.parse_paths)
    return total


def _headline(shown: Evidence | None, delta: float | None) -> str:
    if shown is None or delta is None:
        return "not tested"
    match shown:
        case Evidence.clear:
            return "clear gain" if delta > 0 else "clear loss"
        case Evidence.within_noise:
            return "no clear gain: within noise"
        case Evidence.underpowered:
            return "no clear gain: too few test items to tell"


def status_of(error: BaseException) -> str:
    """The status of a run that ``error`` ended."""
    match error:
        case OutageError():
            return stopped("outage")
        case BudgetError():
            return stopped("budget")
        case InterruptedRun() | asyncio.CancelledError() | KeyboardInterrupt():
            return stopped("user")
        case _:
            return f"failed({type(error).__name__})"
