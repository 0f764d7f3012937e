"""What becomes of a candidate: refused for what it is, or scored on val and put before the gate.

A candidate that may not be is refused before any val call is spent: one that is still too long after it
was sent back once, and one that says what only val and test items can know.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from skillopt_exp.leak import LeakCheck
from skillopt_exp.llm.base import Chat
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Judged, Outcome, Rollout, ScoredSkill, Skill, Verdict
from skillopt_exp.skill import num_tokens
from skillopt_exp.stages.compact import compact
from skillopt_exp.stages.gate import GateSettings, gate

Attempt = Callable[[Skill], Coroutine[Any, Any, tuple[Rollout, ...]]]
"""One attempt at every val item under a skill, in the split's order."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Scores candidates and decides on them. ``max_tokens`` None is no limit.

    ``scored`` keeps every skill scored on val so far, by digest: an equal text costs no calls.
    """

    attempt: Attempt
    optimizer: Chat
    prompts: Prompts
    gate: GateSettings
    max_tokens: int | None
    leaks: LeakCheck
    scored: dict[str, ScoredSkill] = field(default_factory=dict)

    async def __call__(
        self, skill: Skill, current: ScoredSkill, *, step: int, epoch_end: bool = False
    ) -> Judged:
        """The candidate and the verdict on it, against ``current``."""
        compaction = None
        if self.too_long(skill, current.skill):
            assert self.max_tokens is not None
            skill, compaction = await compact(self.optimizer, skill, self.max_tokens, self.prompts)
        verdict = self.refusal(skill, current.skill)
        if verdict is not None:
            return Judged(ScoredSkill(skill, (), step, epoch_end), (), verdict, compaction)
        candidate, selection = await self.score(skill, step=step, epoch_end=epoch_end)
        return Judged(candidate, selection, gate(candidate, current, self.gate), compaction)

    def too_long(self, skill: Skill, current: Skill) -> bool:
        """Whether it is over the limit. One that was over it before may stay, or shrink."""
        return self.max_tokens is not None and num_tokens(skill.text) > max(
            self.max_tokens, num_tokens(current.text)
        )

    def refusal(self, skill: Skill, current: Skill) -> Verdict | None:
        """Why the candidate does not get as far as val, or None."""
        if self.too_long(skill, current):
            size = f"{num_tokens(skill.text)} tokens, at most {self.max_tokens}"
            return Verdict(Outcome.rejected, by="length", detail=size)
        leak = self.leaks.find(skill.text, current.text)
        return None if leak is None else Verdict(Outcome.rejected, by="leak", detail=str(leak))

    async def score(
        self, skill: Skill, *, step: int, epoch_end: bool = False
    ) -> tuple[ScoredSkill, tuple[Rollout, ...]]:
        """The skill on every val item, with the rollouts; none of them where its text was scored before."""
        known = self.scored.get(skill.digest)
        if known is not None:
            return replace(known, skill=skill, step=step, epoch_end=epoch_end), ()
        selection = await self.attempt(skill)
        scored = ScoredSkill(skill, tuple(rollout.score for rollout in selection), step, epoch_end)
        self.scored[skill.digest] = scored
        return scored, selection
