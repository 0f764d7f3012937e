"""What a call comes to in each unit of a budget: at most before it is made, and in fact after it. Pure.

Whole numbers all through, money in picodollars: nothing is lost or gained by rounding.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

from skillopt_exp.llm.price import all_rates, rates, tariff_at

if TYPE_CHECKING:
    from skillopt_exp.config.model import PriceConfig
    from skillopt_exp.llm.ledger import SettledCall

FRAMING_TOKENS = 128
"""What a chat template may put around one message, at most."""

PICODOLLARS = 10**12
"""In one dollar."""


class Unit(StrEnum):
    """What a budget counts; ``usd`` in picodollars."""

    usd = "usd"
    tokens = "tokens"
    calls = "calls"


@dataclass(frozen=True, slots=True)
class Bill:
    """Calls, their input and output tokens together, and picodollars."""

    calls: int = 0
    tokens: int = 0
    picodollars: int = 0

    def __add__(self, other: "Bill") -> "Bill":
        return Bill(
            self.calls + other.calls, self.tokens + other.tokens, self.picodollars + other.picodollars
        )

    def __sub__(self, other: "Bill") -> "Bill":
        return Bill(
            self.calls - other.calls, self.tokens - other.tokens, self.picodollars - other.picodollars
        )

    def of(self, unit: Unit) -> int:
        """The part that ``unit`` counts."""
        match unit:
            case Unit.usd:
                return self.picodollars
            case Unit.tokens:
                return self.tokens
            case Unit.calls:
                return self.calls


@dataclass(frozen=True, slots=True)
class AtMost:
    """The most tokens that one call can use; ``output`` is None where no output limit is sent."""

    input: int
    output: int | None


NOTHING = AtMost(0, 0)
"""Of an answer that was not paid for."""


def prompt_at_most(contents: Iterable[str]) -> int:
    """The most tokens that messages with these texts can be: none is shorter than a byte."""
    return sum(len(content.encode()) + FRAMING_TOKENS for content in contents)


def bill_at_most(price: "PriceConfig", at_most: AtMost, *, unlimited_reply: int) -> Bill:
    """For a call that is yet to be made: nothing of it cached, at the dearest hour.

    ``unlimited_reply`` are the tokens of a reply without an output limit. A price that is unknown counts
    as nothing; whoever caps money has to refuse it before.
    """
    output = unlimited_reply if at_most.output is None else at_most.output
    dearest = max(
        _picodollars(each.input, at_most.input) + _picodollars(each.output, output)
        for each in all_rates(price)
    )
    return Bill(1, at_most.input + output, dearest)


def bill_of(price: "PriceConfig", call: "SettledCall", *, unlimited_reply: int) -> Bill:
    """For a call that was made, by what its provider reported; what it did not report is taken to be the
    most that it can be. A reused answer costs nothing."""
    if call.reused:
        return Bill()
    most = call.at_most
    unreported = unlimited_reply if most.output is None else most.output
    asked = most.input if call.input_tokens is None else call.input_tokens
    answered = unreported if call.output_tokens is None else call.output_tokens
    cached = 0 if call.cached_tokens is None else min(call.cached_tokens, asked)
    at = rates(price, tariff_at(price, call.at))
    cost = _picodollars(at.input, asked - cached) + _picodollars(at.cached_input, cached)
    return Bill(1, asked + answered, cost + _picodollars(at.output, answered))


def is_free(price: "PriceConfig") -> bool:
    """Whether nothing costs anything, at any hour."""
    return all(each.input == 0 and each.output == 0 for each in all_rates(price))


def _picodollars(per_million: float | None, tokens: int) -> int:
    """What ``tokens`` cost; an unknown price counts as nothing."""
    return 0 if per_million is None else _a_token(per_million) * tokens


@cache
def _a_token(per_million: float) -> int:
    """Picodollars for one token; a fraction of one is rounded up."""
    return math.ceil(Fraction(str(per_million)) * PICODOLLARS / 10**6)
