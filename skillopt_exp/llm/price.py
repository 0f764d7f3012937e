"""What tokens cost, by the time of the call. Pure; all prices are US dollars for a million tokens.

Cached input whose price is not given is billed as input: no provider charges more for it, so a cost is then
an upper bound. Any other price that is not given is unknown, and so is what it enters.

Some providers charge more at busy hours. Which days are public holidays there is not known here: every
listed weekday counts as busy, so that a cost is rather overstated than understated.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING

from skillopt_exp.records import Role

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

    def cost(self, *, fresh: float | None, cached: float | None, output: float | None) -> float | None:
        """US dollars for tokens of input that was not cached, of input that was, and of output.

        None where a price that is needed is unknown, or tokens are (None) that are not free.
        """
        cost = 0.0
        for tokens, per_million in ((fresh, self.input), (cached, self.cached_input), (output, self.output)):
            if tokens == 0 or per_million == 0:
                continue  # no tokens cost nothing at any price, and what is free is free without bounds
            if tokens is None or per_million is None:
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
        each = Rates(price.peak_input, price.peak_cached_input, price.peak_output)
    else:
        each = Rates(price.input, price.cached_input, price.output)
    return replace(each, cached_input=each.input) if each.cached_input is None else each


def all_rates(price: "PriceConfig") -> Iterator[Rates]:
    """Those that a call may be billed at, by the hour."""
    yield rates(price, Tariff.normal)
    if price.peak_hours:
        yield rates(price, Tariff.peak)


def overstated(prices: "Mapping[Role, PriceConfig]") -> tuple[str, ...]:
    """What to say of roles whose cached input is billed as input for want of a price, a sentence each."""
    said = []
    for role, price in prices.items():
        pairs = [("cached_input", price.input, price.cached_input)]
        if price.peak_hours:
            pairs.append(("peak_cached_input", price.peak_input, price.peak_cached_input))
        missing = [f"model.{role}.price.{name}" for name, full, cached in pairs if full and cached is None]
        if missing:
            said.append(
                f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not given: cached input "
                "is billed as input, so the cost is an upper bound"
            )
    return tuple(said)
