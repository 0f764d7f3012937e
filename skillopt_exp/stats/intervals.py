"""Intervals: of one rate, and of a mean difference."""

import math
from collections.abc import Sequence
from statistics import NormalDist

from skillopt_exp.records import Interval, mean

CONFIDENCE = 0.95

_RESAMPLES = 9999
_BOOTSTRAP_SEED = 0
_Z = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


def wilson(num_solved: int, num_items: int) -> Interval | None:
    """The share of ``num_items`` that were solved, one attempt each, with its 95 % Wilson score interval.

    It stays inside of [0, 1], and says something of 0 or all of few items, too. None for no items.

    Raises:
        ValueError: more solved than there are, or fewer than none.
    """
    if not 0 <= num_solved <= num_items:
        raise ValueError(f"{num_solved} of {num_items} items cannot be solved")
    if num_items == 0:
        return None
    share, weight = num_solved / num_items, _Z**2 / num_items
    centre = (share + weight / 2) / (1 + weight)
    half = _Z / (1 + weight) * math.sqrt(share * (1 - share) / num_items + _Z**2 / (4 * num_items**2))
    # The ends at none and all are exact; rounding must not leave the value outside of its interval.
    low = 0.0 if num_solved == 0 else centre - half
    high = 1.0 if num_solved == num_items else centre + half
    return Interval(share, low, high)


def paired_interval(deltas: Sequence[float]) -> Interval | None:
    """The mean difference with its 95 % interval by a percentile bootstrap over items (seeded).

    None for fewer than two items: one difference says nothing of its spread.
    """
    average = mean(deltas)
    if average is None or len(deltas) < 2:
        return None
    if len(set(deltas)) == 1:
        return Interval(average, average, average)
    import numpy as np
    from scipy.stats import bootstrap

    result = bootstrap(
        (np.asarray(deltas),),
        np.mean,
        n_resamples=_RESAMPLES,
        batch=1000,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(_BOOTSTRAP_SEED),
    )
    ends = result.confidence_interval
    return Interval(average, float(ends.low), float(ends.high))
