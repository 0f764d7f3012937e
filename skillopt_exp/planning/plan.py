"""The plan of a run: for every stage the least, the expected and the most, and what a budget affords."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from statistics import fmean

from skillopt_exp.config.model import ModelConfig, PriceConfig
from skillopt_exp.config.spending import BudgetConfig
from skillopt_exp.llm.base import Stage
from skillopt_exp.planning import case, counts, gepa, money
from skillopt_exp.planning.afford import Afforded, Reserve, afforded, reserve
from skillopt_exp.planning.case import Case, Guesses, Limits
from skillopt_exp.planning.course import ROLE_OF, Count, Course, imagine
from skillopt_exp.planning.ground import Ground
from skillopt_exp.planning.prompts import Shown, reflect_prompt
from skillopt_exp.planning.spending import Amount, Bounds, Spending
from skillopt_exp.records import Role

REPEATS = {Role.target: 1, Role.optimizer: 2}
"""How often the client sends one call again on its own account: with more room where the reply was
cut, and the optimizer's also without JSON mode where the reply was blank."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run comes to. ``repeats`` are calls that the client may add on its own, at most.

    ``candidates`` says what is expected of them, in words.
    """

    num_steps: int
    candidates: str
    stages: Mapping[Stage, Spending]
    seconds: Bounds
    repeats: float
    reserves: Mapping[Role, Reserve]
    afforded: tuple[Afforded, ...]

    @property
    def total(self) -> Spending:
        return reduce(add, self.stages.values())


async def plan(ground: Ground, model: ModelConfig, budget: BudgetConfig, guesses: Guesses) -> Plan:
    """Everything that can be said before the first call. Asks nobody."""
    limits = Limits(model.target.max_tokens, model.optimizer.max_tokens, ground.settings.trajectory_chars)
    settings, at_once = ground.settings, ground.at_once.optimizer
    ends = settings.epoch_end
    usual, dearest = case.usual(guesses, limits), case.dearest(limits)
    fewest = Count(
        step=partial(counts.fewest, settings=settings, at_once=at_once),
        end=lambda last: counts.end_fewest(ends, last=last),
        tested=1,
        steps=ground.fewest_steps,
    )
    expected = Count(
        step=partial(counts.expected, settings=settings, at_once=at_once, failure_rate=guesses.failure_rate),
        end=lambda last: counts.end_most(ends, last=last),
        tested=ground.most_tested,
        share=counts.expected_share(settings, len(ground.splits.val)),
    )
    most = replace(expected, share=1, step=partial(counts.most, settings=settings, at_once=at_once))
    courses = _Courses(
        least=await imagine(ground, case.cheapest(), fewest),
        expected=await imagine(ground, usual, expected),
        most=await imagine(ground, dearest, most),
    )
    kept = f"every step and epoch makes a new candidate, and {counts.KEPT:.0%} of them are kept"
    if expected.share < 1:
        kept += " (the others are asked about half of val: gate.early_stop)"
    return await _planned(courses, len(ground.batches), kept, ground, model, budget, guesses)


async def plan_gepa(
    ground: Ground, max_metric_calls: int, model: ModelConfig, budget: BudgetConfig, guesses: Guesses
) -> Plan:
    """The same for ``optimizer=gepa``. Asks nobody."""
    limits = Limits(model.target.max_tokens, model.optimizer.max_tokens, ground.settings.trajectory_chars)
    expected = gepa.expected(ground, max_metric_calls, guesses.failure_rate)
    courses = _Courses(
        least=await gepa.imagine(ground, case.cheapest(), gepa.fewest(), min),
        expected=await gepa.imagine(ground, case.usual(guesses, limits), expected, fmean),
        most=await gepa.imagine(ground, case.dearest(limits), gepa.most(ground, max_metric_calls), max),
    )
    better = (
        f"every minibatch with a failure leads to a new skill, {counts.KEPT:.0%} of which do better on it"
    )
    return await _planned(courses, len(expected.steps), better, ground, model, budget, guesses)


async def _planned(
    courses: "_Courses",
    num_steps: int,
    candidates: str,
    ground: Ground,
    model: ModelConfig,
    budget: BudgetConfig,
    guesses: Guesses,
) -> Plan:
    limits = Limits(model.target.max_tokens, model.optimizer.max_tokens, ground.settings.trajectory_chars)
    usual, dearest = case.usual(guesses, limits), case.dearest(limits)
    prices = {Role.target: model.target.price, Role.optimizer: model.optimizer.price}
    return Plan(
        num_steps=num_steps,
        candidates=candidates,
        stages={stage: courses.spending(stage, prices[role]) for stage, role in ROLE_OF.items()},
        seconds=courses.bounds(
            lambda course: guesses.seconds_per_call * sum(leg.waves for leg in course.legs)
        ),
        repeats=sum(REPEATS[role] * courses.most.of(stage).calls for stage, role in ROLE_OF.items()),
        reserves=await _reserves(ground, model, usual, dearest),
        afforded=afforded(courses.expected, budget, prices),
    )


async def _reserves(ground: Ground, model: ModelConfig, usual: Case, dearest: Case) -> Mapping[Role, Reserve]:
    """Of the target's longest prompt under the seed, and of an ordinary reflect prompt of the first step."""
    longest = max(dearest.tokens(each.under(ground.seed_bytes)) for each in ground.questions.values())
    shown = Shown(
        ground.seed_bytes,
        content=0,
        text=usual.text_bytes,
        patches=2,
        edits=0,
        memory=0,
        remembered=0,
        advice=0,
        budget=1,
    )
    trajectories = ground.trajectory.longer(usual.shown_bytes).times(ground.settings.minibatch_size)
    reflect = dearest.tokens(await reflect_prompt(shown, ground.settings) + trajectories)
    return {
        Role.target: reserve(longest, model.target),
        Role.optimizer: reserve(reflect, model.optimizer),
    }


@dataclass(frozen=True, slots=True)
class _Courses:
    """The run imagined three times."""

    least: Course
    expected: Course
    most: Course

    def bounds(self, measure: Callable[[Course], float | None]) -> Bounds:
        return Bounds(measure(self.least), measure(self.expected), measure(self.most))

    def spending(self, stage: Stage, price: PriceConfig) -> Spending:
        # What may be asked at an unknown price is unknown, however likely it is that it will not be.
        unpriced = self.most.of(stage).calls > 0 and money.ordinary(Amount(1, 1, 1), price) is None
        return Spending(
            calls=self.bounds(lambda course: course.of(stage).calls),
            input_tokens=self.bounds(lambda course: course.of(stage).input_tokens),
            output_tokens=self.bounds(lambda course: course.of(stage).output_tokens),
            cost_usd=Bounds(None, None, None)
            if unpriced
            else Bounds(
                money.lowest(self.least.of(stage), price),
                money.ordinary(self.expected.of(stage), price),
                money.highest(self.most.of(stage), price),
            ),
        )
