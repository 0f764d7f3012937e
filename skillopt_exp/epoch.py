"""The end of an epoch, from the second on: what a whole epoch did to the same tasks, and what follows.

The slow update writes the guidance part of the skill, which step edits never touch; the meta skill is
advice to the optimizer for the next epoch, which the target never sees. Both look back on the same
pairs of attempts. Like a step, this is a function of the state and of the models' replies.
"""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillopt_exp.flow import both
from skillopt_exp.llm.base import Chat
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import (
    Advice,
    EpochTrace,
    Item,
    Judged,
    Pair,
    PairPolicy,
    Rejection,
    Rollout,
    Skill,
    TrainState,
)
from skillopt_exp.skill import with_guidance
from skillopt_exp.stages.looking_back import Hindsight, chosen, write_guidance, write_meta_skill
from skillopt_exp.stages.modes import Mode

Attempt = Callable[[Skill, Sequence[Item]], Coroutine[Any, Any, tuple[Rollout, ...]]]
"""One attempt at every item under a skill, in order."""

Judge = Callable[[Skill], Coroutine[Any, Any, Judged]]
"""A skill with other guidance, scored on val, and what becomes of it."""


@dataclass(frozen=True, slots=True)
class EpochSettings:
    """What is done at the end of an epoch. ``samples`` counts train items; ``gated`` sends the guidance
    through the gate, else it is kept whatever it scores."""

    slow_update: bool = False
    meta_skill: bool = False
    samples: int = 20
    pair_policy: PairPolicy = PairPolicy.mixed
    gated: bool = True


NOTHING = EpochSettings()
"""An epoch ends, and nothing is done."""


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """Who takes part: the optimizer with its prompts, and the loop's ways to attempt and to judge."""

    optimizer: Chat
    prompts: Prompts
    mode: Mode
    settings: EpochSettings
    trajectory_chars: int
    attempt: Attempt
    judge: Judge

    async def __call__(self, state: TrainState, sample: Sequence[Item], *, last: bool) -> EpochTrace | None:
        """What the epoch that ``state`` has just completed leads to; None where nothing is wanted.

        The last epoch needs no meta skill.
        """
        wants_meta = self.settings.meta_skill and not last
        if not (self.settings.slow_update or wants_meta):
            return None
        pairs = await self.compared(state, sample)
        shown = chosen(pairs, self.settings.pair_policy)
        if not shown:
            return EpochTrace(pairs, shown)
        hindsight = Hindsight(
            self.mode, state.current.skill, state.step_buffer, state.meta_skill, shown, self.trajectory_chars
        )
        slow, meta = await both(
            self.written(write_guidance, hindsight, self.settings.slow_update),
            self.written(write_meta_skill, hindsight, wants_meta),
        )
        judged = None
        if slow is not None and slow.text:
            guided, rejection = with_guidance(state.current.skill, slow.text)
            if rejection in (None, Rejection.no_change):
                judged = await self.judge(guided)
            else:
                slow = replace(slow, dropped=(*slow.dropped, f"the guidance was refused: {rejection}"))
        return EpochTrace(pairs, shown, slow, meta, judged)

    async def compared(self, state: TrainState, sample: Sequence[Item]) -> tuple[Pair, ...]:
        """The sample under the skill of one epoch ago and under the current one."""
        now = state.current.skill
        if state.last_epoch is None or state.last_epoch.digest == now.digest:
            after = await self.attempt(now, sample)
            before = after
        else:
            before, after = await both(self.attempt(state.last_epoch, sample), self.attempt(now, sample))
        return tuple(Pair(one, other) for one, other in zip(before, after, strict=True))

    async def written(
        self,
        write: Callable[[Chat, Hindsight, Prompts], Coroutine[Any, Any, Advice]],
        hindsight: Hindsight,
        wanted: bool,
    ) -> Advice | None:
        """What ``write`` gets from the optimizer, or None where it is not wanted."""
        return await write(self.optimizer, hindsight, self.prompts) if wanted else None
