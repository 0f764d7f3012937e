"""Tests on paired items. Under 'no difference' each item's difference is as likely to point either way."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_ENUMERATED = 20
"""Non-zero differences up to which every pattern of signs is counted."""
NUM_FLIPS = 20_000
"""Random patterns of signs where there are more."""

_TIE = 1e-9
"""Sums closer than this, in items, count as equal: rounding may only make a p-value larger."""
_SEED_SPACE = 2**64


def differences(after: Sequence[float], before: Sequence[float]) -> tuple[float, ...]:
    """After minus before, item by item."""
    return tuple(new - old for new, old in zip(after, before, strict=True))


def mcnemar(wins: int, losses: int) -> float:
    """Two-sided p of the exact McNemar test: the discordant pairs as fair coin tosses."""
    if wins + losses == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(wins, wins + losses, 0.5).pvalue)


def binomial_tail(wins: int, tosses: int) -> float:
    """The chance of ``wins`` or more heads in ``tosses`` of a fair coin: McNemar's exact one-sided p.

    Summed in whole numbers, so that a p-value that equals alpha is seen to equal it.
    """
    count, ways = 0, math.comb(tosses, wins)
    for heads in range(wins, tosses + 1):
        count += ways
        ways = ways * (tosses - heads) // (heads + 1)
    return float(count / 2**tosses)


def sign_flip(deltas: Sequence[float], seed: Sequence[int]) -> float:
    """One-sided p of a gain: how often random signs make the sum of ``deltas`` at least as large.

    Differences of one size are fair coin tosses (for hard scores of one attempt that is McNemar's exact
    test). Others are enumerated up to ``MOST_ENUMERATED`` non-zero ones; beyond, ``NUM_FLIPS`` patterns
    are drawn from ``seed`` (the observed one counts among them, so p is never 0 and the test keeps its
    level). Item i has the same signs in every comparison with that seed.
    """
    sizes = [abs(delta) for delta in deltas if delta != 0]
    wins = sum(delta > 0 for delta in deltas)
    if len(set(sizes)) <= 1:
        return binomial_tail(wins, len(sizes))
    # A pattern's sum is twice what its positive signs add up to, less a constant.
    observed = math.fsum(delta for delta in deltas if delta > 0)
    if len(sizes) <= MOST_ENUMERATED:
        return _enumerated(sizes, observed)
    return _sampled(deltas, observed, seed)


def two_sided(deltas: Sequence[float]) -> float:
    """Two-sided p of 'no difference'. For hard scores of one attempt an item it is McNemar's exact test.

    Else twice the smaller of both one-sided sign-flip tests, at most 1.
    """
    sizes = {abs(delta) for delta in deltas if delta != 0}
    if len(sizes) <= 1:
        return mcnemar(sum(delta > 0 for delta in deltas), sum(delta < 0 for delta in deltas))
    turned = [-delta for delta in deltas]
    return min(1.0, 2 * min(sign_flip(each, (0,)) for each in (deltas, turned)))


def _enumerated(sizes: Sequence[float], observed: float) -> float:
    import numpy as np

    half = len(sizes) // 2
    first, second = _subset_sums(sizes[:half]), np.sort(_subset_sums(sizes[half:]))
    too_small = np.searchsorted(second, observed - _TIE - first, side="left")
    return float(1 - too_small.sum() / 2 ** len(sizes))


def _subset_sums(sizes: Sequence[float]) -> "NDArray[np.float64]":
    """The sum of every subset; bit i of a sum's place says whether ``sizes[i]`` is in it."""
    import numpy as np

    sums = np.zeros(1)
    for size in sizes:
        sums = np.concatenate([sums, sums + size])
    return sums


def _sampled(deltas: Sequence[float], observed: float, seed: Sequence[int]) -> float:
    import numpy as np

    generator = np.random.default_rng([part % _SEED_SPACE for part in seed])
    sums = np.zeros(NUM_FLIPS)
    for start in range(0, len(deltas), 8):
        # One byte a pattern for eight items: its bits say whose sign is positive.
        signs = np.frombuffer(generator.bytes(NUM_FLIPS), dtype=np.uint8)
        sizes = [abs(delta) for delta in deltas[start : start + 8]]
        if any(sizes):
            sums += np.resize(_subset_sums(sizes), 256).take(signs)
    return float(1 + np.count_nonzero(sums >= observed - _TIE)) / (1 + NUM_FLIPS)
