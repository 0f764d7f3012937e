"""A run imagined under one set of assumptions, leg by leg: the baseline, each step, the test."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from math import ceil
from operator import add

from skillopt_exp.batching import Batch
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Settings
from skillopt_exp.planning.case import Case
from skillopt_exp.planning.counts import EndCounts, Sizes, StepCounts
from skillopt_exp.planning.ground import Ground
from skillopt_exp.planning.prompts import (
    Shown,
    Size,
    compact_prompt,
    guidance_prompt,
    merge_prompt,
    meta_skill_prompt,
    notes_prompt,
    pairs,
    rank_prompt,
    rate_prompt,
    reflect_prompt,
    rewrite_prompt,
)
from skillopt_exp.planning.spending import Amount, plus
from skillopt_exp.records import Item, RateControl

ROLE_OF = {stage: stage.role for stage in Stage}

CORRECTION = Size(bytes=300, messages=2)
"""The reply that could not be read (its text is counted apart) and the request to answer again."""

NO_END = EndCounts(0, 0, 0, 0)
"""Of the first epoch, which has nothing to look back on."""

BETWEEN_EDITS = 2
"""Bytes of the blank line between an appended text and what stands before it."""


@dataclass(frozen=True, slots=True)
class Leg:
    """What each stage asks, and how many rounds of calls have to wait for each other."""

    amounts: Mapping[Stage, Amount]
    waves: float

    def __add__(self, other: "Leg") -> "Leg":
        amounts = dict(self.amounts)
        for stage, amount in other.amounts.items():
            amounts[stage] = amounts.get(stage, Amount()) + amount
        return Leg(amounts, self.waves + other.waves)


@dataclass(frozen=True, slots=True)
class Course:
    """A whole run."""

    baseline: Leg
    steps: tuple[Leg, ...]
    test: Leg

    @property
    def legs(self) -> tuple[Leg, ...]:
        return self.baseline, *self.steps, self.test

    def of(self, stage: Stage) -> Amount:
        """What ``stage`` comes to over the run."""
        return reduce(add, (leg.amounts[stage] for leg in self.legs if stage in leg.amounts), Amount())


@dataclass(frozen=True, slots=True)
class Count:
    """How many questions there are: of a step by the sizes of its parts, of the end of an epoch (the last
    one or not), how many of the ``steps`` are taken (None: all), how many skills of the run meet the test.

    ``share`` is the part of val that a candidate is asked, from 0 to 1.
    """

    step: Callable[[Sizes], StepCounts]
    end: Callable[[bool], EndCounts]
    tested: int
    steps: int | None = None
    share: float = 1


async def imagine(ground: Ground, case: Case, count: Count) -> Course:
    """The run on which everything is as ``count`` and ``case`` say."""
    walk = _Walk(ground, case, count.share)
    counted = {sizes: count.step(sizes) for sizes in {_sizes(batch) for batch in ground.batches}}
    repeats = ground.settings.scoring.repeats
    baseline = walk.scored(repeats, ground.splits.val, ground.seed_bytes)
    steps = []
    for batch in ground.batches[: count.steps]:
        leg = await walk.step(batch, counted[_sizes(batch)])
        if batch.last_of_epoch:
            last = batch.epoch == ground.settings.num_epochs
            leg += await walk.end(batch.epoch, count.end(last) if batch.epoch > 1 else NO_END)
        steps.append(leg)
    # One skill after the other: the seed as it is, the control without a skill, others as long as the skill
    # has become.
    num_tested = count.tested + ground.control
    test = walk.scored(repeats, ground.splits.test, ground.seed_bytes)
    test += walk.scored(repeats * (count.tested - 1), ground.splits.test, walk.skill_bytes)
    test += walk.scored(repeats * int(ground.control), ground.splits.test, 0)
    return Course(
        Leg({Stage.selection: baseline}, ceil(baseline.calls / ground.at_once.target)),
        tuple(steps),
        Leg({Stage.test: test}, num_tested * ceil(repeats * len(ground.splits.test) / ground.at_once.target)),
    )


def _sizes(batch: Batch) -> Sizes:
    return tuple(len(part) for part in batch.parts)


class _Walk:
    """Goes through the steps and knows how long the skill has become."""

    def __init__(self, ground: Ground, case: Case, share: float) -> None:
        self._ground = ground
        self._case = case
        self._settings = ground.settings
        self._asked_of_val = share * ground.settings.scoring.repeats
        self._earlier_in_epoch = 0
        self._body_bytes: float = ground.seed_bytes
        self._guidance_bytes = 0
        self._advice_bytes = 0
        self._notes = 0.0

    @property
    def skill_bytes(self) -> float:
        return self._body_bytes + self._guidance_bytes + self._notes * self._edit_bytes

    async def step(self, batch: Batch, counts: StepCounts) -> Leg:
        """The next step, on which the skill grows by what is kept of its edits."""
        ground, case = self._ground, self._case
        shown = self._shown(counts, batch.step)
        notes = case.notes * counts.failures if self._settings.skill_aware else 0
        growth = (self._applied(shown) + notes) * self._edit_bytes
        shortened = await self._shortened(counts.candidates, self.skill_bytes + growth)
        noted = await self._fewer_notes(counts, shown, self._notes + notes)
        rollout = self.scored(1, batch.items, self.skill_bytes)
        candidate_bytes = self.skill_bytes + growth
        screened = counts.candidates if self._settings.scoring.screened else 0
        screen = self.scored(screened, batch.items, candidate_bytes)
        selection = self.scored(counts.candidates * self._asked_of_val, ground.splits.val, candidate_bytes)
        amounts = {
            Stage.rollout: rollout,
            Stage.screen: screen,
            Stage.reflect: self._asked(counts.reflect, await self._reflect(counts, shown)),
            Stage.aggregate: self._asked(counts.aggregate, await self._merges(counts, shown)),
            Stage.select: self._asked(counts.select, await self._choices(counts, shown)),
            Stage.rewrite: self._asked(counts.rewrite, await self._rewrites(counts, shown)),
            Stage.compact: shortened + noted,
            Stage.selection: selection,
        }
        self._grow(self._applied(shown) * self._edit_bytes, notes, fewer=noted.calls > 0)
        self._earlier_in_epoch += 1
        waves = sum(ceil(size / ground.at_once.target) for size in _sizes(batch))
        waves += sum(ceil(asked.calls / ground.at_once.target) for asked in (screen, selection))
        waves += ceil(shortened.calls) + ceil(noted.calls)
        return Leg(amounts, waves + case.asks * counts.waves)

    async def end(self, epoch: int, counts: EndCounts) -> Leg:
        """The end of the epoch, after which its steps are forgotten and its guidance is in the skill."""
        ground, case = self._ground, self._case
        items = ground.looked_back(epoch)
        if not counts.attempts:
            self._earlier_in_epoch = 0
            return Leg({}, 0)
        guided = self.skill_bytes + case.written_bytes
        shortened = await self._shortened(counts.candidates, guided)
        amounts = {
            Stage.rollout: self.scored(counts.attempts, items, self.skill_bytes),
            Stage.slow_update: await self._looking_back(counts.slow_updates, guidance_prompt, items),
            Stage.meta_skill: await self._looking_back(counts.meta_skills, meta_skill_prompt, items),
            Stage.compact: shortened,
            Stage.selection: self.scored(counts.candidates * self._asked_of_val, ground.splits.val, guided),
        }
        self._earlier_in_epoch = 0
        self._guidance_bytes = case.written_bytes if counts.candidates else 0
        self._advice_bytes = case.written_bytes if self._settings.epoch_end.meta_skill else 0
        waves = sum(
            ceil(amounts[stage].calls / ground.at_once.target) for stage in (Stage.rollout, Stage.selection)
        )
        waves += ceil(shortened.calls) + case.asks * ceil(counts.questions / ground.at_once.optimizer)
        return Leg(amounts, waves)

    def scored(self, times: float, items: tuple[Item, ...], skill_bytes: float) -> Amount:
        """All ``items`` asked of the target ``times`` over, under a skill of this many bytes."""
        calls = times * len(items)
        prompts = self._ground.asked(items, skill_bytes).times(times)
        return attempted(self._case, calls, prompts)

    def _grow(self, num_bytes: float, notes: float, *, fewer: bool) -> None:
        """What is kept of a step's edits and notes; a limit is kept to, where it is a case of length."""
        case, limit, most = self._case, self._settings.max_skill_tokens, self._settings.max_notes
        self._notes = 0 if case.kept is None else self._notes + case.kept * notes
        if fewer and most is not None and not case.always_too_long:
            self._notes = min(self._notes, most)
        self._body_bytes = 0 if case.kept is None else self._body_bytes + case.kept * num_bytes
        if limit is not None and not case.always_too_long:
            longest = max(limit * case.bytes_a_token, self._ground.seed_bytes)
            self._body_bytes = min(self._body_bytes, longest)

    async def _shortened(self, candidates: float, candidate_bytes: float) -> Amount:
        """Sending back those of ``candidates`` that are too long, once each."""
        case, limit = self._case, self._settings.max_skill_tokens
        if limit is None or not candidates:
            return Amount()
        if not case.always_too_long and case.tokens(Size(candidate_bytes)) <= limit:
            return Amount()
        prompt = await compact_prompt(round(candidate_bytes), limit, self._settings)
        return self._asked(candidates, prompt.times(candidates))

    async def _fewer_notes(self, counts: StepCounts, shown: Shown, notes: float) -> Amount:
        """Saying an appendix of so many notes in fewer, where new ones make it too long."""
        most = self._settings.max_notes
        if not self._settings.skill_aware or most is None or notes <= most or not counts.failures:
            return Amount()
        questions = min(1, counts.failures) * self._settings.candidates
        prompt = await notes_prompt(shown, self._settings, ceil(notes))
        return self._asked(questions, prompt.times(questions))

    def _asked(self, num_questions: float, prompts: Size) -> Amount:
        """So many questions to the optimizer, ``prompts`` long together, as often as each has to be sent."""
        return asked(self._case, num_questions, prompts)

    def _shown(self, counts: StepCounts, step: int) -> Shown:
        """What the optimizer's prompts of a step hold; without candidates nobody proposed anything."""
        settings = self._settings
        limited = settings.rate_control is RateControl.fixed
        edits = self._ground.budget(step) if limited else self._case.unlimited_edits
        # Schedules only fall: no earlier step had more edits than the first.
        earlier = settings.learning_rate if limited else self._case.unlimited_edits
        return Shown(
            skill=round(self.skill_bytes),
            content=self._content_bytes,
            text=self._case.text_bytes,
            patches=max(2, ceil(counts.reflect)),
            edits=(edits if settings.mode.most is None else settings.mode.most) if counts.candidates else 0,
            memory=self._earlier_in_epoch,
            remembered=earlier if counts.candidates else 0,
            advice=self._advice_bytes,
            budget=self._ground.budget(step) if limited else None,
        )

    def _shown_at_end(self) -> Shown:
        edits = self._settings.learning_rate if self._case.text_bytes else 0
        return Shown(
            skill=round(self.skill_bytes),
            content=self._content_bytes,
            text=self._case.text_bytes,
            patches=2,
            edits=edits,
            memory=self._earlier_in_epoch,
            remembered=edits,
            advice=self._advice_bytes,
            budget=None,
        )

    @property
    def _edit_bytes(self) -> int:
        return self._case.text_bytes + BETWEEN_EDITS

    @property
    def _content_bytes(self) -> int:
        """What one proposal writes: a text, or a whole skill."""
        if self._settings.mode.most is None:
            return self._case.text_bytes
        return round(self.skill_bytes) + self._case.unlimited_edits * self._edit_bytes

    def _applied(self, shown: Shown) -> int:
        """The edits of one step; where nobody limits them, those of all its patches. A whole skill is taken
        to be longer than the old one by as many as one reply holds."""
        if self._settings.mode.most is not None:
            return self._case.unlimited_edits if shown.edits else 0
        if self._settings.rate_control is RateControl.none:
            return shown.edits * shown.patches
        return shown.edits

    async def _reflect(self, counts: StepCounts, shown: Shown) -> Size:
        trajectory = self._ground.trajectory.longer(self._case.shown_bytes)
        prompts = (await reflect_prompt(shown, self._settings)).times(counts.reflect)
        return prompts + trajectory.times(counts.shown)

    async def _merges(self, counts: StepCounts, shown: Shown) -> Size:
        """Each level shows every edit once, however many merges share them: nothing was dropped before."""
        if not counts.aggregate:
            return Size()
        small = await merge_prompt(shown, self._settings, patches=2, edits=1)
        whole = await merge_prompt(shown, self._settings)
        return small.times(counts.aggregate - counts.levels) + whole.times(counts.levels)

    async def _choices(self, counts: StepCounts, shown: Shown) -> Size:
        """A choice shows every edit of the step: how many, or which."""
        if not counts.select:
            return Size()
        sizes = [await rank_prompt(shown, self._settings), await rate_prompt(shown, self._settings)]
        return max(sizes, key=lambda size: size.bytes).times(counts.select)

    async def _rewrites(self, counts: StepCounts, shown: Shown) -> Size:
        if not counts.rewrite:
            return Size()
        return (await rewrite_prompt(shown, self._settings, self._applied(shown))).times(counts.rewrite)

    async def _looking_back(
        self,
        num_questions: float,
        prompt: Callable[[Shown, Settings], Awaitable[Size]],
        items: tuple[Item, ...],
    ) -> Amount:
        if not num_questions:
            return Amount()
        compared = (await pairs(items, self._settings)).longer(2 * len(items) * self._case.shown_bytes)
        whole = await prompt(self._shown_at_end(), self._settings) + compared
        return self._asked(num_questions, whole.times(num_questions))


def attempted(case: Case, calls: float, prompts: Size) -> Amount:
    """So many calls of the target, ``prompts`` long together."""
    return Amount(calls, case.tokens(prompts), _replies(calls, case.target_reply))


def asked(case: Case, num_questions: float, prompts: Size) -> Amount:
    """So many questions to the optimizer, ``prompts`` long together, as often as each has to be sent."""
    again = num_questions * (case.asks - 1)
    calls = num_questions + again
    tokens: float | None = case.tokens(prompts) * case.asks + again * case.tokens(CORRECTION)
    return Amount(
        calls,
        plus(tokens, _replies(again, case.optimizer_reply)),
        _replies(calls, case.optimizer_reply),
    )


def _replies(calls: float, reply: float | None) -> float | None:
    """Tokens of so many replies; no replies are no tokens, whatever limits them."""
    if not calls:
        return 0
    return None if reply is None else calls * reply
