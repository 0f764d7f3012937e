"""What the search asks for, answered with the parts of a run, and its iterations told as steps.

A step is one proposal: the minibatches attempted until one showed something to learn, the optimizer's new
skill, its attempts at the last of them, and, where those did better, its score on val and the gate's verdict
against the best skill so far. All of this runs in the event loop, one call after the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, fsum

from skillopt_exp.algorithms.steps import NO_PATCH, one_proposal
from skillopt_exp.errors import DataError
from skillopt_exp.loop import Trainer
from skillopt_exp.records import (
    Compaction,
    EditResult,
    Item,
    Judged,
    Outcome,
    Patch,
    Progress,
    Rollout,
    ScoredSkill,
    Skill,
    StepRecord,
    TrainState,
    Verdict,
)
from skillopt_exp.skill import apply_edits
from skillopt_exp.stages.compact import compact
from skillopt_exp.stages.gate import hopeless
from skillopt_exp.stages.propose import propose
from skillopt_exp.unreadable import UnreadableSteps


@dataclass(slots=True)
class Iteration:
    """One iteration as far as it has come. ``child`` is the proposed skill, if it may be tried."""

    parent: Skill
    attempts: tuple[Rollout, ...]
    patch: Patch | None = None
    edits: tuple[EditResult, ...] = ()
    child: Skill | None = None
    compaction: Compaction | None = None
    screening: tuple[Rollout, ...] = ()
    judged: Judged | None = None


class Search:
    """The run's side of the search. ``state`` is where it stands after its last step.

    Of a run that goes on, the first steps are gone through again: their answers are in the store, their
    scores in the trainer's judge. They are compared with what was recorded, and not told again.
    """

    def __init__(self, trainer: Trainer, seed: ScoredSkill, progress: Progress | None) -> None:
        self.state = TrainState(step=0, current=seed, best=seed)
        self._trainer = trainer
        self._recorded = () if progress is None else progress.records
        self._pool = {seed.skill.digest: seed}
        self._num_minibatches = 0
        self._idle: Iteration | None = None
        self._iteration: Iteration | None = None
        self._unreadable = UnreadableSteps()

    @property
    def at_ceiling(self) -> bool:
        """Whether nothing can pass the gate any more."""
        return hopeless(self.state.current, self._trainer.settings.gate)

    async def attempt(self, skill: Skill, items: Sequence[Item]) -> tuple[Rollout, ...]:
        """A minibatch: the first of an iteration is its parent's, the second is the child's."""
        at = self._iteration
        if at is None:
            self._num_minibatches += 1
        rollouts = await self._trainer.attempts(skill, items, self._epoch)
        if at is None:
            self._iteration = Iteration(skill, rollouts)
        else:
            at.screening = rollouts
        return rollouts

    async def propose(self) -> Skill | None:
        """The optimizer's new skill for the iteration at hand; None where there is none to be tried."""
        at, settings = self._at_hand, self._trainer.settings
        at.patch = await propose(
            self._trainer.optimizer,
            at.parent,
            at.attempts,
            trajectory_chars=settings.trajectory_chars,
            prompts=settings.prompts,
        )
        child, at.edits = apply_edits(at.parent, at.patch.edits)
        if child.text == at.parent.text:
            return None
        refusal, child = await self._refusal(at, child)
        known = self._pool.get(child.digest)
        if known is not None:
            # Nothing new would be learned of it, and the pool would hold it twice.
            verdict = Verdict(Outcome.unchanged, detail="this text was scored before")
            at.judged = Judged(replace(known, step=self._next_step), (), verdict, at.compaction)
            return None
        if refusal is not None:
            at.judged = Judged(self._unscored(child), (), refusal, at.compaction)
            return None
        at.child = child
        return child

    async def score(self, skill: Skill) -> tuple[float, ...]:
        """The value of each val item under ``skill``: the seed, or the child of the iteration at hand."""
        at = self._iteration
        if at is not None:
            # The search wants to know of every item which of its skills solve it.
            judged = await self._trainer.judge(skill, self.state.current, step=self._next_step, whole=True)
            at.judged = replace(judged, compaction=at.compaction, screening=at.screening)
            self._pool[skill.digest] = judged.candidate
        metric = self._trainer.settings.gate.metric
        by_item = self._pool[skill.digest].by_item()
        return tuple(fsum(score.value(metric) for score in each) / len(each) for each in by_item)

    async def end_iteration(self) -> None:
        """What the iteration at hand came to is a step, unless there was nothing to learn from it."""
        at, self._iteration = self._at_hand, None
        if at.patch is None:
            self._idle = replace(at, attempts=self._after_idle(at))
        else:
            self._step(at, at.patch)

    async def end(self) -> None:
        """The search is over; what it attempted last without learning anything is a step, too."""
        if self._idle is not None:
            at, self._idle = self._idle, None
            self._step(at, NO_PATCH)

    @property
    def _at_hand(self) -> Iteration:
        assert self._iteration is not None, "a minibatch comes first"
        return self._iteration

    @property
    def _next_step(self) -> int:
        return self.state.step + 1

    async def _refusal(self, at: Iteration, child: Skill) -> tuple[Verdict | None, Skill]:
        """Why the child does not meet the target, or None; and the child, made shorter if it had to be."""
        judge, current, settings = self._trainer.judge, self.state.current.skill, self._trainer.settings
        if judge.too_long(child, current):
            assert settings.max_skill_tokens is not None
            child, at.compaction = await compact(
                self._trainer.optimizer, child, settings.max_skill_tokens, settings.prompts
            )
        return judge.refusal(child, current), child

    def _step(self, at: Iteration, patch: Patch) -> None:
        trainer, number = self._trainer, self._next_step
        judged = self._judged(at)
        trace = one_proposal(
            self.state,
            judged,
            trainer.settings.gate.metric,
            epoch=self._epoch,
            rollouts=self._after_idle(at),
            patch=patch,
            edits=at.edits,
        )
        self.state, self._idle = trace.state, None
        if number <= len(self._recorded):
            _compare(trace.record, self._recorded[number - 1])
            trainer.watcher.replayed(trace)
        else:
            trainer.watcher.step(trace)
        self._unreadable.see(trace)

    def _after_idle(self, at: Iteration) -> tuple[Rollout, ...]:
        """The minibatches since the last step."""
        return at.attempts if self._idle is None or self._idle is at else self._idle.attempts + at.attempts

    def _judged(self, at: Iteration) -> Judged:
        """The verdict of the gate; else a child that did not do better on its minibatch, or no child."""
        if at.judged is not None:
            return at.judged
        if at.child is None:
            parent = replace(self._pool[at.parent.digest], step=self._next_step)
            return Judged(parent, (), Verdict(Outcome.unchanged), at.compaction)
        metric = self._trainer.settings.gate.metric
        before, after = (
            fsum(rollout.score.value(metric) for rollout in each) for each in (at.attempts, at.screening)
        )
        detail = f"{after:g} of {len(at.screening)} on its minibatch, {before:g} before"
        verdict = Verdict(Outcome.rejected, by="screen", detail=detail)
        return Judged(self._unscored(at.child), (), verdict, at.compaction, at.screening)

    def _unscored(self, skill: Skill) -> ScoredSkill:
        return ScoredSkill(skill, (), self._next_step)

    @property
    def _epoch(self) -> int:
        """The pass over the train split that the last minibatch belongs to."""
        size = self._trainer.settings.minibatch_size
        an_epoch = ceil(len(self._trainer.splits.train) / size)
        return (self._num_minibatches - 1) // an_epoch + 1


def _compare(again: StepRecord, recorded: StepRecord) -> None:
    """
    Raises:
        DataError: a step came out otherwise than it did when it was recorded.
    """
    for name in ("item_ids", "candidate_digest", "outcome", "by"):
        if getattr(again, name) != getattr(recorded, name):
            raise DataError(
                f"step {recorded.step} comes out otherwise than it was recorded ({name}): the models gave "
                "other answers, and the store does not hold the old ones. Bring it back (cache.path), or "
                "start a new run"
            )
