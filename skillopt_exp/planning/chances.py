"""The one distribution that planning needs. Pure."""

import math


def binomial(trials: int, rate: float) -> tuple[float, ...]:
    """The probability of 0..``trials`` failures, each with ``rate`` in [0, 1]. They add up to 1."""
    if rate in (0.0, 1.0):
        certain = trials if rate else 0
        return tuple(float(failures == certain) for failures in range(trials + 1))
    # By logarithms: the coefficients alone outgrow a float from about a thousand trials on.
    logs = (
        math.lgamma(trials + 1)
        - math.lgamma(failures + 1)
        - math.lgamma(trials - failures + 1)
        + failures * math.log(rate)
        + (trials - failures) * math.log1p(-rate)
        for failures in range(trials + 1)
    )
    weights = [math.exp(each) for each in logs]
    total = math.fsum(weights)
    return tuple(weight / total for weight in weights)
