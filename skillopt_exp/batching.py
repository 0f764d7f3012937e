"""The order in which a run sees its train items. Pure, so that a resumed run can replay it.

Each epoch is one permutation that depends on (seed, epoch) alone, cut into batches; a step takes one
batch, or several with gradient accumulation.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from skillopt_exp.records import Item

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Batch:
    """The items of one step, in ``parts`` that are reflected on apart; ``step`` and ``epoch`` from 1."""

    step: int
    epoch: int
    parts: tuple[tuple[Item, ...], ...]
    last_of_epoch: bool

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for part in self.parts for item in part)


def batches(
    items: tuple[Item, ...], *, batch_size: int, num_epochs: int, seed: int, accumulation: int = 1
) -> Iterator[Batch]:
    """Every step of a run: ``num_epochs * ceil(len(items) / (batch_size * accumulation))`` of them.

    The last batch of an epoch may be short, and its last step may have fewer batches.
    """
    step = 0
    for epoch in range(1, num_epochs + 1):
        parts = cut(permutation(items, seed=seed, epoch=epoch), batch_size)
        for start in range(0, len(parts), accumulation):
            step += 1
            yield Batch(
                step=step,
                epoch=epoch,
                parts=parts[start : start + accumulation],
                last_of_epoch=start + accumulation >= len(parts),
            )


def cut(items: tuple[T, ...], size: int) -> tuple[tuple[T, ...], ...]:
    """Runs of ``size`` neighbours; the last may be short."""
    return tuple(items[start : start + size] for start in range(0, len(items), size))


def permutation(items: tuple[Item, ...], *, seed: int, epoch: int) -> tuple[Item, ...]:
    """The items in the order of ``epoch``."""
    order = list(items)
    random.Random(f"train order, seed {seed}, epoch {epoch}").shuffle(order)
    return tuple(order)


def sample(items: Sequence[Item], size: int, *, seed: int, epoch: int) -> tuple[Item, ...]:
    """``size`` items (or all, where there are no more) on which the end of ``epoch`` looks back."""
    chance = random.Random(f"epoch end, seed {seed}, epoch {epoch}")
    return tuple(chance.sample(list(items), min(size, len(items))))
