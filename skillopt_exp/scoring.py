"""The val split, asked: all of it for the seed skill, and for a candidate as far as it takes to decide."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from skillopt_exp.flow import in_blocks, ordered
from skillopt_exp.llm.base import Stage
from skillopt_exp.records import Item, Judged, Outcome, Rollout, ScoredSkill, Skill, Verdict
from skillopt_exp.stages.gate import GateSettings, at_best, can_end_early, gain, gate, objection, solved

Attempt = Callable[[Skill, Item, Stage, int], Coroutine[Any, Any, Rollout]]
"""One attempt at an item under a skill: what it is for, and its number (1 is the first)."""


@dataclass(frozen=True, slots=True)
class Scoring:
    """How much is asked of val, and what comes before it.

    ``repeats`` are attempts an item. After each ``block`` of items it is looked at whether the candidate
    can still pass; None asks all items at once. ``screened`` tries a candidate on its batch first.
    ``at_once`` is how many calls the target takes: so many are asked ahead of a decision, which does not
    depend on it.
    """

    repeats: int = 1
    block: int | None = None
    screened: bool = False
    at_once: int = 1


MOST_PUT_ASIDE = 16
"""Candidates whose attempts are kept after an evaluation that ended early: whole conversations take room."""

ALL_AT_ONCE = Scoring()
"""Every val item once, all at once."""


@dataclass(frozen=True, slots=True)
class Scorer:
    """Asks the ``val`` items and puts candidates before the gate.

    ``scored`` keeps every skill scored on all of val so far, by digest: an equal text costs no calls.
    ``asked`` are the digests of all that met val, if only a part of it, and ``partly`` the attempts that some
    of them left, so that an equal text is not asked the same again.
    """

    attempt: Attempt
    val: Sequence[Item]
    gate: GateSettings
    scoring: Scoring
    scored: dict[str, ScoredSkill] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    partly: dict[str, dict[int, tuple[Rollout, ...]]] = field(default_factory=dict)

    async def baseline(self, skill: Skill) -> tuple[ScoredSkill, tuple[Rollout, ...]]:
        """The skill to start from, on every val item, with the rollouts."""
        attempts = await ordered(lambda position: self._attempts(skill, position), range(len(self.val)))
        selection = tuple(rollout for each in attempts for rollout in each)
        return self._kept(ScoredSkill(skill, (), 0, repeats=self.scoring.repeats), selection), selection

    async def compared(self, bare: ScoredSkill, current: ScoredSkill, *, whole: bool) -> Judged:
        """The candidate on val, as far as it takes to decide, or the ``whole`` of it; ``bare`` is it without
        scores."""
        known = self.scored.get(bare.skill.digest)
        if known is not None:
            candidate = replace(bare, scores=known.scores)
            return Judged(candidate, (), gate(candidate, current, self.gate))

        digest = bare.skill.digest
        self.asked.add(digest)
        left = self.partly.pop(digest, {})

        async def attempts(position: int) -> tuple[Rollout, ...]:
            if position not in left:
                left[position] = await self._attempts(bare.skill, position)
            return left[position]

        def best_case(answered: Mapping[int, Sequence[Rollout]]) -> ScoredSkill:
            seen = {position: [rollout.score for rollout in each] for position, each in answered.items()}
            return at_best(bare, seen, current)

        def hopeless(answered: Mapping[int, Sequence[Rollout]]) -> bool:
            return objection(best_case(answered), current, self.gate) == "score"

        answered = await in_blocks(
            attempts,
            self._blocks(current, whole=whole),
            hopeless,
            at_once=ceil(self.scoring.at_once / self.scoring.repeats),
        )
        selection = tuple(rollout for position in sorted(answered) for rollout in answered[position])
        if len(answered) < len(self.val):
            self._put_aside(digest, left)
            best = best_case(answered)
            verdict = Verdict(
                Outcome.rejected,
                by="score",
                margin=gain(best, current, self.gate.metric),
                at_most=best.mean(self.gate.metric),
            )
            return Judged(bare, selection, verdict)
        candidate = self._kept(bare, selection)
        return Judged(candidate, selection, gate(candidate, current, self.gate))

    def _blocks(self, current: ScoredSkill, *, whole: bool) -> tuple[tuple[int, ...], ...]:
        """The positions of the val items: those that ``current`` fails first, in blocks to decide after."""
        by_item = current.by_item()
        order = sorted(range(len(self.val)), key=lambda position: solved(by_item[position]))
        size = self.scoring.block
        if whole or size is None or not can_end_early(self.gate, self.scoring.repeats):
            size = max(1, len(order))
        return tuple(tuple(order[start : start + size]) for start in range(0, len(order), size))

    async def _attempts(self, skill: Skill, position: int) -> tuple[Rollout, ...]:
        numbers = range(1, self.scoring.repeats + 1)
        return await ordered(
            lambda number: self.attempt(skill, self.val[position], Stage.selection, number), numbers
        )

    def _put_aside(self, digest: str, left: dict[int, tuple[Rollout, ...]]) -> None:
        self.partly[digest] = left
        if len(self.partly) > MOST_PUT_ASIDE:
            del self.partly[next(iter(self.partly))]

    def _kept(self, bare: ScoredSkill, selection: Sequence[Rollout]) -> ScoredSkill:
        scored = replace(bare, scores=tuple(rollout.score for rollout in selection))
        self.scored[bare.skill.digest] = scored
        self.asked.add(bare.skill.digest)
        return scored
