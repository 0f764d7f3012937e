"""What paired scores let one say. Items are the unit everywhere; scores are fractions.

scipy is imported where it is used: it takes longer than a small verb may take in all.
"""

import math
from collections.abc import Sequence

from skillopt_exp.records import Evidence, Interval, mean

CONFIDENCE = 0.95
ALPHA = 1 - CONFIDENCE
LARGE_GAIN = 0.10
"""A test split that cannot see a gain of this size is called underpowered."""

_RESAMPLES = 9999
_BOOTSTRAP_SEED = 0
_MIN_DISCORDANT_SHARE = 0.1


def differences(after: Sequence[float], before: Sequence[float]) -> tuple[float, ...]:
    """After minus before, item by item."""
    return tuple(new - old for new, old in zip(after, before, strict=True))


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


def mcnemar(wins: int, losses: int) -> float:
    """Two-sided p of the exact McNemar test: the discordant pairs as fair coin tosses."""
    if wins + losses == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses, 0.5).pvalue)


def detectable_gain(num_items: int, discordant_share: float) -> float:
    """The smallest true gain that a two-sided 5 % test sees in four of five runs.

    Normal approximation: (1.960 + 0.842) * sqrt(share of discordant items / number of items).
    """
    if num_items == 0:
        return math.inf
    return (1.960 + 0.842) * math.sqrt(max(discordant_share, _MIN_DISCORDANT_SHARE) / num_items)


def evidence(deltas: Sequence[float]) -> Evidence:
    """What differences of hard scores (-1, 0, 1 an item) show: a change, noise, or too few items to tell."""
    wins, losses = sum(delta > 0 for delta in deltas), sum(delta < 0 for delta in deltas)
    if mcnemar(wins, losses) < ALPHA:
        return Evidence.clear
    share = (wins + losses) / len(deltas) if deltas else 0.0
    return (
        Evidence.underpowered if detectable_gain(len(deltas), share) > LARGE_GAIN else Evidence.within_noise
    )
