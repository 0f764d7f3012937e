"""Amounts of calls, tokens and money, and the three values that bound them."""

from dataclasses import dataclass


def plus(one: float | None, other: float | None) -> float | None:
    """The sum; with something unknown or unbounded in it, so is the sum."""
    return None if one is None or other is None else one + other


@dataclass(frozen=True, slots=True)
class Amount:
    """Calls and their tokens; None is what nothing bounds."""

    calls: float = 0
    input_tokens: float | None = 0
    output_tokens: float | None = 0

    @property
    def tokens(self) -> float | None:
        """Input and output together."""
        return plus(self.input_tokens, self.output_tokens)

    def __add__(self, other: "Amount") -> "Amount":
        return Amount(
            self.calls + other.calls,
            plus(self.input_tokens, other.input_tokens),
            plus(self.output_tokens, other.output_tokens),
        )


@dataclass(frozen=True, slots=True)
class Bounds:
    """``least <= expected <= most``; None where it is unknown, or where nothing bounds it."""

    least: float | None
    expected: float | None
    most: float | None

    def __add__(self, other: "Bounds") -> "Bounds":
        return Bounds(
            plus(self.least, other.least),
            plus(self.expected, other.expected),
            plus(self.most, other.most),
        )


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls, tokens and US dollars of one stage, or of several."""

    calls: Bounds
    input_tokens: Bounds
    output_tokens: Bounds
    cost_usd: Bounds

    def __add__(self, other: "Spending") -> "Spending":
        return Spending(
            self.calls + other.calls,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost_usd + other.cost_usd,
        )
