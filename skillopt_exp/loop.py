"""The algorithm: rollout, reflect, aggregate, select, update, gate; then the next batch.

Read this file first. A step is a function of the state, its batch and the two models' replies; nothing
is saved, printed or parsed here. Those who keep or show a run listen to its records (``watch.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from skillopt_exp.batching import Batch, batches
from skillopt_exp.errors import ProviderError
from skillopt_exp.flow import both, ordered, reduced
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.records import (
    EditResult,
    Item,
    Outcome,
    Patch,
    Progress,
    Remembered,
    Rollout,
    ScoredSkill,
    Skill,
    Source,
    Splits,
    StepTrace,
    TrainState,
    Verdict,
)
from skillopt_exp.schedule import Scheduler, edit_budget
from skillopt_exp.skill import apply_edits
from skillopt_exp.stages.aggregate import aggregate
from skillopt_exp.stages.gate import GateSettings, gate
from skillopt_exp.stages.reflect import Brief, minibatches, reflect
from skillopt_exp.stages.rollout import rollout
from skillopt_exp.stages.select import select
from skillopt_exp.tasks.base import Task
from skillopt_exp.watch import Watcher

MOST_UNREADABLE_STEPS = 5
"""Steps in a row without one readable optimizer reply, after which going on would only cost money."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The numbers that the algorithm needs, all of them decided."""

    num_epochs: int
    batch_size: int
    seed: int
    learning_rate: int
    min_learning_rate: int
    scheduler: Scheduler
    minibatch_size: int
    merge_batch_size: int
    failure_only: bool
    trajectory_chars: int
    gate: GateSettings


@dataclass(frozen=True)
class Trainer:
    """One training: a task, its items, the two models, the settings, and whoever watches."""

    task: Task
    splits: Splits
    target: Chat
    optimizer: Chat
    settings: Settings
    watcher: Watcher
    scored: dict[str, ScoredSkill] = field(default_factory=dict)
    """Every skill scored on val so far, by digest: an equal one costs no calls."""

    async def train(self, seed_skill: Skill, progress: Progress | None = None) -> TrainState:
        """The state after the last step, from ``seed_skill`` on, or from where an earlier process ended."""
        state = await self.begin(seed_skill) if progress is None else self.resume(progress)
        unreadable_steps = 0
        for batch in self.plan()[state.step :]:
            trace = await self.step(state, batch)
            self.watcher.step(trace)
            state = trace.state
            unreadable_steps = unreadable_steps + 1 if trace.unreadable else 0
            if unreadable_steps == MOST_UNREADABLE_STEPS:
                raise ProviderError(
                    f"no reply of the optimizer model could be read in {unreadable_steps} steps in a row; "
                    f"the last one: {trace.selected.dropped[-1]}. Try another model: model.optimizer.name=..."
                )
        return state

    async def begin(self, seed_skill: Skill) -> TrainState:
        """The seed skill, scored on val, is the first current and the first best."""
        seed, selection = await self.score(seed_skill, step=0)
        self.watcher.baseline(seed, selection)
        return TrainState(step=0, current=seed, best=seed)

    def resume(self, progress: Progress) -> TrainState:
        """Where the earlier process ended, with all that it had scored."""
        self.scored.update((scored.skill.digest, scored) for scored in progress.scored)
        self.watcher.resumed(progress)
        return progress.state

    def plan(self) -> tuple[Batch, ...]:
        """The batches of all steps."""
        return tuple(
            batches(
                self.splits.train,
                batch_size=self.settings.batch_size,
                num_epochs=self.settings.num_epochs,
                seed=self.settings.seed,
            )
        )

    async def step(self, state: TrainState, batch: Batch) -> StepTrace:
        """One step: the six stages, and the state that follows from them."""
        skill, budget = state.current.skill, self.budget(batch.step)

        rollouts = await self.rollouts(skill, batch.items, Stage.rollout)
        patches = await self.reflect(state, rollouts, budget)
        merged = await self.aggregate(skill, patches)
        selected = await select(self.optimizer, skill, merged, budget)
        edited, edits = apply_edits(skill, selected.edits)
        candidate, selection = await self.score(edited, step=batch.step)
        verdict = gate(candidate, state.current, self.settings.gate)

        return StepTrace(
            epoch=batch.epoch,
            edit_budget=budget,
            rollouts=rollouts,
            patches=patches,
            merged=merged,
            selected=selected,
            edits=edits,
            candidate=candidate,
            selection=selection,
            verdict=verdict,
            state=advance(state, batch, candidate, verdict, patches, edits),
        )

    async def rollouts(self, skill: Skill, items: Sequence[Item], stage: Stage) -> tuple[Rollout, ...]:
        """One attempt at every item, in the order of ``items``."""
        return await ordered(lambda item: rollout(self.task, self.target, skill, item, stage=stage), items)

    async def reflect(self, state: TrainState, rollouts: Sequence[Rollout], budget: int) -> tuple[Patch, ...]:
        """One patch a minibatch: those of failures, then those of successes."""
        settings = self.settings
        brief = Brief(state.current.skill, state.step_buffer, budget, settings.trajectory_chars)
        cut = minibatches(rollouts, size=settings.minibatch_size, failure_only=settings.failure_only)
        return await ordered(lambda minibatch: reflect(self.optimizer, brief, minibatch), cut)

    async def aggregate(self, skill: Skill, patches: Sequence[Patch]) -> Patch:
        """All patches as one: failures and successes apart and at once, then together, failures first."""

        async def merged(source: Source, group: Sequence[Patch]) -> tuple[Patch, ...]:
            async def merge(some: Sequence[Patch]) -> Patch:
                return await aggregate(self.optimizer, skill, source, some)

            return await reduced(group, self.settings.merge_batch_size, merge)

        failures, successes = await both(
            merged(Source.failure, [patch for patch in patches if patch.source is Source.failure]),
            merged(Source.success, [patch for patch in patches if patch.source is Source.success]),
        )
        together = await merged(Source.mixed, failures + successes)
        return together[0] if together else Patch(())

    async def score(self, skill: Skill, *, step: int) -> tuple[ScoredSkill, tuple[Rollout, ...]]:
        """The skill on every val item, with the rollouts; none of them where its text was scored before."""
        known = self.scored.get(skill.digest)
        if known is not None:
            return replace(known, skill=skill, step=step), ()
        selection = await self.rollouts(skill, self.splits.val, Stage.selection)
        scored = ScoredSkill(skill, tuple(rollout.score for rollout in selection), step)
        self.scored[skill.digest] = scored
        return scored, selection

    def budget(self, step: int) -> int:
        """The edits that ``step`` may apply."""
        settings = self.settings
        return edit_budget(
            step,
            len(self.plan()),
            scheduler=settings.scheduler,
            first=settings.learning_rate,
            last=settings.min_learning_rate,
        )

    async def test(self, state: TrainState, seed_skill: Skill) -> dict[str, tuple[Rollout, ...]]:
        """Baseline, best and final skill on test, at once; equal texts are scored once.

        Nothing after this decides anything.
        """
        named = {"baseline": seed_skill, "best": state.best.skill, "final": state.current.skill}
        distinct = {skill.digest: skill for skill in named.values()}

        async def one(skill: Skill) -> tuple[Rollout, ...]:
            return await self.rollouts(skill, self.splits.test, Stage.test)

        results = dict(zip(distinct, await ordered(one, distinct.values()), strict=True))
        for which, skill in named.items():
            self.watcher.tested(which, skill, results[skill.digest])
        return {which: results[skill.digest] for which, skill in named.items()}


def advance(
    state: TrainState,
    batch: Batch,
    candidate: ScoredSkill,
    verdict: Verdict,
    patches: Sequence[Patch],
    edits: Sequence[EditResult],
) -> TrainState:
    """The state after a step. The step buffer is this epoch's: it ends with the epoch."""
    accepted = verdict.outcome is Outcome.accepted
    failures = [patch for patch in patches if patch.source is Source.failure]
    remembered = Remembered(
        step=batch.step,
        failure_summaries=tuple(patch.failure_summary for patch in failures if patch.failure_summary),
        rejected_edits=tuple(result.edit for result in edits if not (accepted and result.applied)),
        outcome=verdict.outcome,
    )
    return TrainState(
        step=batch.step,
        current=candidate if accepted else state.current,
        best=candidate if accepted else state.best,
        step_buffer=() if batch.last_of_epoch else (*state.step_buffer, remembered),
    )
