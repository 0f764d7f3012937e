"""Scores of items under the skills of a run, and what follows for each item. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from skillopt_exp.records import Item

SEED = "seed"


def change_name(step: int, *, epoch_end: bool = False) -> str:
    """What a change is called: as the file of the skill that it made."""
    return f"step_{step:04d}{'_epoch_end' if epoch_end else ''}"


@dataclass(frozen=True, slots=True)
class Column:
    """One skill on val: hard scores in [0, 1] by item id. An item that was not scored is absent.

    ``name`` is the seed's or a change's, ``accepted`` whether the skill became the current one.
    """

    name: str
    accepted: bool
    scores: Mapping[str, float]

    @property
    def share_solved(self) -> float | None:
        """Of the items that were scored; None where none was."""
        if not self.scores:
            return None
        return sum(score >= 1.0 for score in self.scores.values()) / len(self.scores)


class Fate(StrEnum):
    """What became of an item from the seed to the last accepted skill."""

    stays_solved = "solved before and after"
    fixed = "fixed"
    broken = "broken"
    unsolved = "solved neither before nor after"


@dataclass(frozen=True, slots=True)
class Row:
    """One item. ``fixed_by`` and ``broken_by`` are names of changes, in order: an item may change often."""

    item: Item
    fixed_by: tuple[str, ...]
    broken_by: tuple[str, ...]
    fate: Fate


@dataclass(frozen=True, slots=True)
class Ledger:
    """All items under all scored candidates, the seed first and then step by step."""

    items: tuple[Item, ...]
    columns: tuple[Column, ...]

    @property
    def accepted(self) -> tuple[Column, ...]:
        """The seed, and the skills that became current."""
        return tuple(column for column in self.columns if column.accepted)

    @property
    def rows(self) -> tuple[Row, ...]:
        """One row an item, in the split's order."""
        accepted = self.accepted
        return tuple(_row(item, accepted) for item in self.items)


def _row(item: Item, accepted: Sequence[Column]) -> Row:
    known = [(column.name, column.scores[item.id] >= 1.0) for column in accepted if item.id in column.scores]
    changes = [(name, now) for (_, before), (name, now) in pairwise(known) if now is not before]
    return Row(
        item=item,
        fixed_by=tuple(name for name, solved in changes if solved),
        broken_by=tuple(name for name, solved in changes if not solved),
        fate=_fate([solved for _, solved in known]),
    )


def _fate(solved: Sequence[bool]) -> Fate:
    match (solved[0], solved[-1]) if solved else (False, False):
        case (True, True):
            return Fate.stays_solved
        case (False, True):
            return Fate.fixed
        case (True, False):
            return Fate.broken
        case _:
            return Fate.unsolved


def by_fate(rows: Sequence[Row]) -> Iterator[tuple[Fate, list[Row]]]:
    """The rows of each fate that occurs, sorted by what changed them and when."""
    for fate in Fate:
        mine = [row for row in rows if row.fate is fate]
        if mine:
            yield fate, sorted(mine, key=lambda row: (row.fixed_by, row.broken_by))
