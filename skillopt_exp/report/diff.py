"""Two skills line by line, with the lines around what differs."""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import zip_longest

_AROUND = 2
"""Lines that are shown before and after a change."""


class Kind(StrEnum):
    """What became of a line; ``gap`` stands for lines that are not shown."""

    same = "same"
    added = "added"
    removed = "removed"
    gap = "gap"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a diff; of a gap the text says how many lines it stands for."""

    kind: Kind
    text: str


def diff(before: str, after: str) -> tuple[Line, ...]:
    """The lines that were added and removed, in order; nothing where the texts are equal."""
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    lines: list[Line] = []
    at = 0
    for group in matcher.get_grouped_opcodes(_AROUND):
        lines.extend(_gap(group[0][1] - at))
        at = group[-1][2]
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                lines.extend(Line(Kind.same, text) for text in old[old_from:old_to])
                continue
            lines.extend(Line(Kind.removed, text) for text in old[old_from:old_to])
            lines.extend(Line(Kind.added, text) for text in new[new_from:new_to])
    return (*lines, *_gap(len(old) - at)) if lines else ()


def _gap(count: int) -> Iterator[Line]:
    if count > 0:
        yield Line(Kind.gap, f"{count} more {'line' if count == 1 else 'lines'}")


@dataclass(frozen=True, slots=True)
class Pair:
    """A line of each of two texts that stand beside each other; None where one has no line there."""

    before: str | None
    after: str | None

    @property
    def same(self) -> bool:
        return self.before == self.after


def side_by_side(before: str, after: str) -> tuple[Pair, ...]:
    """Both texts whole, line by line, what is the same in one row."""
    old, new = before.split("\n") if before else [], after.split("\n") if after else []
    pairs: list[Pair] = []
    for _, old_from, old_to, new_from, new_to in SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        beside = zip_longest(old[old_from:old_to], new[new_from:new_to])
        pairs.extend(Pair(*lines) for lines in beside)
    return tuple(pairs)
