"""What a paired difference on held-out items shows."""

import math
from collections.abc import Sequence

from skillopt_exp.records import Evidence
from skillopt_exp.stats.intervals import CONFIDENCE
from skillopt_exp.stats.paired import two_sided

ALPHA = 1 - CONFIDENCE
LARGE_GAIN = 0.10
"""A test split that cannot see a gain of this size is called underpowered."""

_MIN_DISCORDANT_SHARE = 0.1


def detectable_gain(num_items: int, discordant_share: float) -> float:
    """The smallest true gain that a two-sided 5 % test sees in four of five runs.

    Normal approximation: (1.960 + 0.842) * sqrt(share of discordant items / number of items).
    """
    if num_items == 0:
        return math.inf
    return (1.960 + 0.842) * math.sqrt(max(discordant_share, _MIN_DISCORDANT_SHARE) / num_items)


def evidence(deltas: Sequence[float]) -> Evidence:
    """What differences of hard scores (-1 to 1 an item) show: a change, noise, or too few items to tell."""
    if two_sided(deltas) < ALPHA:
        return Evidence.clear
    # Of one attempt an item this is the share of items that differ; averages of several vary less.
    share = math.fsum(delta * delta for delta in deltas) / len(deltas) if deltas else 0.0
    return (
        Evidence.underpowered if detectable_gain(len(deltas), share) > LARGE_GAIN else Evidence.within_noise
    )
