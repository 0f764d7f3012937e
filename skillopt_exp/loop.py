"""The algorithm: rollout, reflect, aggregate, select, update, gate; then the next batch.

Read this file first, then ``epoch.py`` for what ends an epoch. A step is a function of the state, its
batch and the two models' replies; nothing is saved, printed or parsed here. Those who keep or show a run
listen to its records (``watch.py``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil

from skillopt_exp.batching import Batch, batches, sample
from skillopt_exp.contest import Contest, Tried, decided, distinct
from skillopt_exp.epoch import NOTHING, EpochEnd, EpochSettings
from skillopt_exp.flow import both, ordered, reduced
from skillopt_exp.judging import Judge
from skillopt_exp.leak import LeakCheck
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import BUILT_IN, Prompts
from skillopt_exp.records import (
    EpochTrace,
    Item,
    Judged,
    Patch,
    Progress,
    RateControl,
    Rollout,
    Skill,
    Source,
    Splits,
    StepTrace,
    StopReason,
    TrainState,
    UpdateMode,
)
from skillopt_exp.schedule import Scheduler, edit_budget
from skillopt_exp.scoring import ALL_AT_ONCE, Scorer, Scoring
from skillopt_exp.stages.aggregate import aggregate
from skillopt_exp.stages.gate import GateSettings, hopeless
from skillopt_exp.stages.modes import MODES, Mode
from skillopt_exp.stages.rate import limited
from skillopt_exp.stages.reflect import MOST_NOTES, Brief, minibatches, reflect
from skillopt_exp.stages.rollout import rollout
from skillopt_exp.stages.select import select
from skillopt_exp.stages.update import Updated, update
from skillopt_exp.stages.variants import variants
from skillopt_exp.tasks.base import Task
from skillopt_exp.transitions import advance, after_epoch, waved_through
from skillopt_exp.unreadable import UnreadableSteps
from skillopt_exp.watch import Watcher


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
    accumulation: int = 1
    rate_control: RateControl = RateControl.fixed
    epoch_end: EpochSettings = NOTHING
    scoring: Scoring = ALL_AT_ONCE
    patience: int | None = None
    max_skill_tokens: int | None = None
    prompts: Prompts = BUILT_IN
    update_mode: UpdateMode = UpdateMode.patch
    skill_aware: bool = False
    max_notes: int | None = None
    num_candidates: int = 1

    @property
    def candidates(self) -> int:
        """How many candidates a step tries at most: a whole skill has no parts to choose from."""
        return 1 if self.mode.most == 1 else self.num_candidates

    @property
    def mode(self) -> Mode:
        """What the update mode comes to, stage by stage."""
        return MODES[self.update_mode]


@dataclass(frozen=True)
class Trainer:
    """One training: a task, its items, the two models, the settings, and whoever watches."""

    task: Task
    splits: Splits
    target: Chat
    optimizer: Chat
    settings: Settings
    watcher: Watcher

    @cached_property
    def judge(self) -> Judge:
        """Decides on candidates, and keeps what was scored."""
        settings = self.settings
        return Judge(
            scorer=Scorer(self.attempt, self.splits.val, settings.gate, settings.scoring),
            optimizer=self.optimizer,
            prompts=settings.prompts,
            max_tokens=settings.max_skill_tokens,
            leaks=LeakCheck(self.splits),
        )

    async def train(self, seed_skill: Skill, progress: Progress | None = None) -> TrainState:
        """The state after the last step, from ``seed_skill`` on, or from where an earlier process ended."""
        state = await self.begin(seed_skill) if progress is None else self.resume(progress)
        unreadable = UnreadableSteps()
        for batch in self.plan[state.step :]:
            reason = self.stop_reason(state, batch)
            if reason is not None:
                self.watcher.stopped(reason)
                break
            trace = await self.step(state, batch)
            self.watcher.step(trace)
            state = trace.state
            unreadable.see(trace)
        return state

    async def begin(self, seed_skill: Skill) -> TrainState:
        """The seed skill, scored on val, is the first current and the first best."""
        seed, selection = await self.judge.scorer.baseline(seed_skill)
        self.watcher.baseline(seed, selection)
        return TrainState(step=0, current=seed, best=seed)

    def resume(self, progress: Progress) -> TrainState:
        """Where the earlier process ended, with all that it had scored."""
        scorer = self.judge.scorer
        for scored in (*progress.scored, *progress.state.epoch_scored):
            scorer.scored[scored.skill.digest] = scored
        scorer.asked.update(progress.asked, scorer.scored)
        self.watcher.resumed(progress)
        return progress.state

    def stop_reason(self, state: TrainState, batch: Batch) -> StopReason | None:
        """Why training ends before ``batch``, or None: nothing can pass any more, or nothing did for long."""
        if hopeless(state.current, self.settings.gate):
            return StopReason.ceiling
        patience, steps_per_epoch = self.settings.patience, len(self.plan) // self.settings.num_epochs
        idle_epochs = batch.epoch - 1 - ceil(state.current.step / steps_per_epoch)
        return StopReason.patience if patience is not None and idle_epochs >= patience else None

    @cached_property
    def plan(self) -> tuple[Batch, ...]:
        """The batches of all steps."""
        return tuple(
            batches(
                self.splits.train,
                batch_size=self.settings.batch_size,
                num_epochs=self.settings.num_epochs,
                seed=self.settings.seed,
                accumulation=self.settings.accumulation,
            )
        )

    async def step(self, state: TrainState, batch: Batch) -> StepTrace:
        """One step: the six stages, and the state that follows from them."""
        settings, skill, metric = self.settings, state.current.skill, self.settings.gate.metric
        mode, prompts = settings.mode, settings.prompts

        rollouts, patches = await self.explore(state, batch)
        merged = await self.aggregate(skill, patches)
        limit, pool = await limited(
            self.optimizer,
            skill,
            merged,
            control=settings.rate_control,
            scheduled=self.budget(batch.step),
            mode=mode,
            prompts=prompts,
        )
        selected = await select(self.optimizer, skill, pool, limit.edits, mode=mode, prompts=prompts)
        contest = await self.contest(state, batch.step, selected, pool, rollouts)
        updated, judged = contest.best.updated, contest.best.judged
        state = advance(state, batch.step, judged, patches, updated.edits + updated.notes, metric)

        epoch_end = None
        if batch.last_of_epoch:
            epoch_end = await self.end_epoch(state, batch) if batch.epoch > 1 else None
            state = after_epoch(state, epoch_end, metric)
        return StepTrace(
            epoch=batch.epoch,
            rollouts=rollouts,
            patches=patches,
            merged=merged,
            limit=limit,
            selected=contest.selected,
            edits=updated.edits,
            judged=judged,
            others=contest.others,
            state=state,
            epoch_end=epoch_end,
            notes=updated.notes,
            notes_compaction=updated.notes_compaction,
        )

    async def explore(self, state: TrainState, batch: Batch) -> tuple[tuple[Rollout, ...], tuple[Patch, ...]]:
        """Each part of the batch attempted and reflected on, one after the other, under the same skill."""
        rollouts: tuple[Rollout, ...] = ()
        patches: tuple[Patch, ...] = ()
        for part in batch.parts:
            attempted = await self.attempts(state.current.skill, part, batch.epoch)
            rollouts += attempted
            patches += await self.reflect(state, attempted, self.budget(batch.step))
        return rollouts, patches

    async def attempts(self, skill: Skill, items: Sequence[Item], epoch: int) -> tuple[Rollout, ...]:
        """One attempt at every train item, in the order of ``items``; each epoch takes a new sample."""
        return await ordered(lambda item: self.attempt(skill, item, Stage.rollout, epoch), items)

    async def attempt(self, skill: Skill, item: Item, stage: Stage, number: int) -> Rollout:
        """The ``number``-th attempt at ``item`` under ``skill``."""
        return await rollout(self.task, self.target, skill, item, stage=stage, attempt=number)

    async def reflect(self, state: TrainState, rollouts: Sequence[Rollout], budget: int) -> tuple[Patch, ...]:
        """One patch a minibatch: those of failures, then those of successes."""
        settings = self.settings
        brief = Brief(
            mode=settings.mode,
            skill=state.current.skill,
            memory=state.step_buffer,
            edit_budget=budget if settings.rate_control is RateControl.fixed else None,
            trajectory_chars=settings.trajectory_chars,
            advice=state.meta_skill,
            notes=MOST_NOTES if settings.skill_aware else None,
        )
        cut = minibatches(rollouts, size=settings.minibatch_size, failure_only=settings.failure_only)
        return await ordered(
            lambda minibatch: reflect(self.optimizer, brief, minibatch, settings.prompts), cut
        )

    async def aggregate(self, skill: Skill, patches: Sequence[Patch]) -> Patch:
        """All patches as one: failures and successes apart and at once, then together, failures first."""
        settings = self.settings

        async def merged(source: Source, group: Sequence[Patch]) -> tuple[Patch, ...]:
            async def merge(some: Sequence[Patch]) -> Patch:
                return await aggregate(
                    self.optimizer, skill, source, some, mode=settings.mode, prompts=settings.prompts
                )

            return await reduced(group, settings.merge_batch_size, merge)

        failures, successes = await both(
            merged(Source.failure, [patch for patch in patches if patch.source is Source.failure]),
            merged(Source.success, [patch for patch in patches if patch.source is Source.success]),
        )
        together = await merged(Source.mixed, failures + successes)
        return together[0] if together else Patch(())

    async def contest(
        self, state: TrainState, step: int, selected: Patch, pool: Patch, batch: Sequence[Rollout]
    ) -> Contest:
        """The candidates that the proposals make, each before the gate: one, or several at once."""
        settings, skill = self.settings, state.current.skill

        async def made(choice: Patch) -> Updated:
            return await update(
                self.optimizer,
                skill,
                choice,
                mode=settings.mode,
                max_notes=settings.max_notes,
                prompts=settings.prompts,
            )

        async def tried(updated: Updated) -> Tried:
            return Tried(updated, await self.judge(updated.skill, state.current, step=step, batch=batch))

        updates = await ordered(made, variants(selected, pool, settings.candidates))
        return decided(await ordered(tried, distinct(updates)), selected, updates)

    async def end_epoch(self, state: TrainState, batch: Batch) -> EpochTrace | None:
        """Slow update and meta skill; the guidance passes the gate like any edit, unless it need not."""
        settings = self.settings

        async def attempt(skill: Skill, items: Sequence[Item]) -> tuple[Rollout, ...]:
            return await self.attempts(skill, items, batch.epoch)

        async def judge(skill: Skill) -> Judged:
            gated = settings.epoch_end.gated
            judged = await self.judge(skill, state.current, step=batch.step, epoch_end=True, whole=not gated)
            return judged if gated else waved_through(judged)

        end = EpochEnd(
            self.optimizer,
            settings.prompts,
            settings.mode,
            settings.epoch_end,
            settings.trajectory_chars,
            attempt,
            judge,
        )
        looked_at = sample(
            self.splits.train, settings.epoch_end.samples, seed=settings.seed, epoch=batch.epoch
        )
        return await end(state, looked_at, last=batch.epoch == settings.num_epochs)

    def budget(self, step: int) -> int:
        """The edits that ``step`` may apply by the schedule."""
        settings = self.settings
        return edit_budget(
            step,
            len(self.plan),
            scheduler=settings.scheduler,
            first=settings.learning_rate,
            last=settings.min_learning_rate,
        )
