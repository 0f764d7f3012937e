"""What calls cost: at the lowest price that may apply, at the ordinary one, at the highest.

None is a price that is not known, or tokens that nothing bounds.
"""

from skillopt_exp.config.model import PriceConfig
from skillopt_exp.llm.price import Rates, Tariff, all_rates, rates
from skillopt_exp.planning.spending import Amount


def lowest(amount: Amount, price: PriceConfig) -> float | None:
    """US dollars at the cheapest hours, all input cached."""
    costs = [_all_cached(each, amount) for each in all_rates(price)]
    costs += [_none_cached(each, amount) for each in all_rates(price)]
    return min((cost for cost in costs if cost is not None), default=None)


def ordinary(amount: Amount, price: PriceConfig) -> float | None:
    """US dollars outside of busy hours, no input cached."""
    return _none_cached(rates(price, Tariff.normal), amount)


def highest(amount: Amount, price: PriceConfig) -> float | None:
    """US dollars at the dearest hours, no input cached."""
    dearest = 0.0
    for each in all_rates(price):
        cost = _none_cached(each, amount)
        if cost is None:
            return None
        dearest = max(dearest, cost)
    return dearest


def _all_cached(at: Rates, amount: Amount) -> float | None:
    return at.cost(fresh=0, cached=amount.input_tokens, output=amount.output_tokens)


def _none_cached(at: Rates, amount: Amount) -> float | None:
    return at.cost(fresh=amount.input_tokens, cached=0, output=amount.output_tokens)
