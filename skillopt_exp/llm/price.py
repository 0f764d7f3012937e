"""What tokens cost, by the time of the call. Pure; all prices are US dollars for a million tokens.

Some providers charge more at busy hours. Which days are public holidays there is not known here: every
listed weekday counts as busy, so that a cost is rather overstated than understated.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillopt_exp.config.model import PriceConfig


class Tariff(StrEnum):
    """Which of a provider's prices a call is billed at."""

    normal = "normal"
    peak = "peak"


@dataclass(frozen=True, slots=True)
class Rates:
    """The prices of one tariff. None is unknown, which is not free."""

    input: float | None
    cached_input: float | None
    output: float | None

    def cost(self, *, input_tokens: int, cached_tokens: int, output_tokens: int) -> float | None:
        """US dollars, or None where a price that is needed is unknown. ``input_tokens`` include cached."""
        parts = (
            (input_tokens - cached_tokens, self.input),
            (cached_tokens, self.cached_input),
            (output_tokens, self.output),
        )
        cost = 0.0
        for tokens, per_million in parts:
            if tokens == 0:
                continue
            if per_million is None:
                return None
            cost += tokens * per_million / 1e6
        return cost


def tariff_at(price: "PriceConfig", at: float) -> Tariff:
    """The tariff of a call that was sent at ``at``, in seconds since the epoch."""
    moment = datetime.fromtimestamp(at, UTC)
    busy = any(first <= moment.hour < end for first, end in price.peak_hours)
    return Tariff.peak if busy and moment.isoweekday() in price.peak_weekdays else Tariff.normal


def rates(price: "PriceConfig", tariff: Tariff) -> Rates:
    """The prices of ``tariff``."""
    if tariff is Tariff.peak:
        return Rates(price.peak_input, price.peak_cached_input, price.peak_output)
    return Rates(price.input, price.cached_input, price.output)
