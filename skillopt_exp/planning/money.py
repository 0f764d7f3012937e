"""What calls cost: at the lowest price that may apply, at the ordinary one, at the highest.

None is a price that is not known, or tokens that nothing bounds.
"""

from collections.abc import Iterator

from skillopt_exp.config.model import PriceConfig
from skillopt_exp.llm.price import Rates, Tariff, rates
from skillopt_exp.planning.spending import Amount


def lowest(amount: Amount, price: PriceConfig) -> float | None:
    """US dollars at the cheapest hours, all input cached."""
    costs = [_cost(each, amount, cached=True) for each in _tariffs(price)]
    costs += [_cost(each, amount, cached=False) for each in _tariffs(price)]
    return min((cost for cost in costs if cost is not None), default=None)


def ordinary(amount: Amount, price: PriceConfig) -> float | None:
    """US dollars outside of busy hours, no input cached."""
    return _cost(rates(price, Tariff.normal), amount, cached=False)


def highest(amount: Amount, price: PriceConfig) -> float | None:
    """US dollars at the dearest hours, no input cached."""
    dearest = 0.0
    for each in _tariffs(price):
        cost = _cost(each, amount, cached=False)
        if cost is None:
            return None
        dearest = max(dearest, cost)
    return dearest


def _tariffs(price: PriceConfig) -> Iterator[Rates]:
    """Those that a call may be billed at."""
    yield rates(price, Tariff.normal)
    if price.peak_hours:
        yield rates(price, Tariff.peak)


def _cost(at: Rates, amount: Amount, *, cached: bool) -> float | None:
    input_price = at.cached_input if cached else at.input
    cost = 0.0
    for tokens, per_million in ((amount.input_tokens, input_price), (amount.output_tokens, at.output)):
        if tokens == 0 or per_million == 0:
            continue  # no tokens cost nothing at any price, and what is free is free without bounds
        if tokens is None or per_million is None:
            return None
        cost += tokens * per_million / 1e6
    return cost
