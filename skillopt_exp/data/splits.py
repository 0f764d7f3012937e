"""Items to train, val and test. Pure: the same items and seed give the same splits everywhere."""

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from skillopt_exp.records import Item

T = TypeVar("T")


def sample(items: Sequence[T], *, limit: int, seed: int) -> tuple[T, ...]:
    """``limit`` of the items (all, where there are fewer), picked by seed, in their own order."""
    picked = sorted(_permutation(len(items), f"limit:{seed}")[:limit])
    return tuple(items[index] for index in picked)


def partition(items: Sequence[T], sizes: Sequence[int], *, seed: int) -> tuple[tuple[T, ...], ...]:
    """Disjoint parts of the given sizes from a seeded shuffle; what the sizes leave over is left out.

    Only positions are shuffled: what an item says has no influence on where it goes.
    """
    order = _permutation(len(items), f"split:{seed}")
    ends = [sum(sizes[: index + 1]) for index in range(len(sizes))]
    return tuple(
        tuple(items[index] for index in order[end - size : end])
        for size, end in zip(sizes, ends, strict=True)
    )


def apportion(total: int, ratio: Sequence[float]) -> tuple[int, ...]:
    """``total`` items by ``ratio``: largest remainders (the earlier part wins a tie), at least 1 each.

    ``total`` must be at least the number of parts. Exact: 0.1 counts as one tenth.
    """
    weights = [Fraction(str(part)) for part in ratio]
    exact = [total * weight / sum(weights) for weight in weights]
    sizes = [int(share) for share in exact]
    by_remainder = sorted(range(len(sizes)), key=lambda index: sizes[index] - exact[index])
    for index in by_remainder[: total - sum(sizes)]:
        sizes[index] += 1
    while min(sizes) == 0:
        sizes[sizes.index(max(sizes))] -= 1
        sizes[sizes.index(0)] += 1
    return tuple(sizes)


def deal_answers(items: Sequence[Item], *, seed: int, split: str) -> tuple[Item, ...]:
    """Every item with the answers of another one (a lone item keeps its own): one cycle through all."""
    order = _permutation(len(items), f"answers:{split}:{seed}")
    giver = dict(zip(order, order[1:] + order[:1], strict=True))
    return tuple(replace(item, answers=items[giver[index]].answers) for index, item in enumerate(items))


def _permutation(size: int, label: str) -> list[int]:
    """A seeded order of ``range(size)``.

    It rests on ``Random.random`` alone, the one method whose sequence Python promises to keep.
    """
    generator = random.Random(label)
    keys = [generator.random() for _ in range(size)]
    return sorted(range(size), key=keys.__getitem__)
