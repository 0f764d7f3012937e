"""The order in which a run sees its train items. Pure, so that a resumed run can replay it.

Each epoch is one permutation that depends on (seed, epoch) alone, cut into batches.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from skillopt_exp.records import Item


@dataclass(frozen=True, slots=True)
class Batch:
    """The items of one step. ``step`` and ``epoch`` count from 1."""

    step: int
    epoch: int
    items: tuple[Item, ...]
    last_of_epoch: bool


def batches(items: tuple[Item, ...], *, batch_size: int, num_epochs: int, seed: int) -> Iterator[Batch]:
    """Every step of a run: ``num_epochs * ceil(len(items) / batch_size)`` batches.

    The last batch of an epoch may be short.
    """
    step = 0
    for epoch in range(1, num_epochs + 1):
        order = permutation(items, seed=seed, epoch=epoch)
        for start in range(0, len(order), batch_size):
            step += 1
            yield Batch(
                step=step,
                epoch=epoch,
                items=order[start : start + batch_size],
                last_of_epoch=start + batch_size >= len(order),
            )


def permutation(items: tuple[Item, ...], *, seed: int, epoch: int) -> tuple[Item, ...]:
    """The items in the order of ``epoch``."""
    order = list(items)
    random.Random(f"train order, seed {seed}, epoch {epoch}").shuffle(order)
    return tuple(order)
