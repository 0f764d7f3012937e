"""What a budget pays for, and what one call sets aside of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from skillopt_exp.config.model import EndpointConfig, PriceConfig
from skillopt_exp.config.spending import BudgetConfig
from skillopt_exp.planning import money
from skillopt_exp.planning.course import ROLE_OF, Course, Leg
from skillopt_exp.planning.spending import Amount, plus
from skillopt_exp.records import Role

FEW_STEPS = 3
"""A budget that affords fewer trains next to nothing."""


@dataclass(frozen=True, slots=True)
class Afforded:
    """How many steps a cap pays for at the expected spending, with the baseline before and the test after.

    ``steps`` is None where the price is unknown. ``covered`` says whether even the baseline and the test
    fit.
    """

    key: str
    cap: float | int
    steps: int | None
    of_steps: int
    covered: bool = True

    @property
    def too_few(self) -> bool:
        return self.steps is not None and self.steps < min(FEW_STEPS, self.of_steps)


def afforded(
    course: Course, budget: BudgetConfig, prices: Mapping[Role, PriceConfig]
) -> tuple[Afforded, ...]:
    """One entry for each cap that is set."""
    found = []
    if budget.usd is not None:
        found.append(_steps("budget.usd", budget.usd, course, [_cost(leg, prices) for leg in course.legs]))
    if budget.tokens is not None:
        tokens = [_sum([amount.tokens for amount in leg.amounts.values()]) for leg in course.legs]
        found.append(_steps("budget.tokens", budget.tokens, course, tokens))
    if budget.calls is not None:
        calls = [_sum([amount.calls for amount in leg.amounts.values()]) for leg in course.legs]
        found.append(_steps("budget.calls", budget.calls, course, calls))
    return tuple(found)


def _steps(key: str, cap: float | int, course: Course, legs: Sequence[float | None]) -> Afforded:
    """``legs``: what the baseline, each step and the test come to."""
    known = [leg for leg in legs if leg is not None]
    if len(known) < len(legs):
        return Afforded(key, cap, None, len(course.steps))
    baseline, *steps, test = known
    reached = [spent <= cap for spent in accumulate(steps, initial=baseline + test)]
    return Afforded(key, cap, max(0, sum(reached) - 1), len(steps), covered=reached[0])


def _cost(leg: Leg, prices: Mapping[Role, PriceConfig]) -> float | None:
    return _sum([money.ordinary(amount, prices[ROLE_OF[stage]]) for stage, amount in leg.amounts.items()])


def _sum(values: Sequence[float | None]) -> float | None:
    total: float | None = 0.0
    for value in values:
        total = plus(total, value)
    return total


@dataclass(frozen=True, slots=True)
class Reserve:
    """What one call of a role sets aside; tokens are None where no output limit is sent, money also
    where no price is known."""

    tokens: float | None
    cost_usd: float | None


def reserve(prompt_tokens: float, endpoint: EndpointConfig) -> Reserve:
    """For a prompt that cannot be more than ``prompt_tokens``."""
    amount = Amount(1, prompt_tokens, endpoint.max_tokens)
    return Reserve(amount.tokens, money.highest(amount, endpoint.price))
