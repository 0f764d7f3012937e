"""Several candidates of one step, all judged against the same skill: the gate takes the best."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillopt_exp.records import Judged, Outcome, Patch
from skillopt_exp.stages.update import Updated


@dataclass(frozen=True, slots=True)
class Tried:
    """How a candidate was made, and what became of it."""

    updated: Updated
    judged: Judged


@dataclass(frozen=True, slots=True)
class Contest:
    """The candidate that a step ends with, and the ``others`` that it was tried beside."""

    best: Tried
    others: tuple[Judged, ...]
    selected: Patch
    """Of the best one, with the replies that making all of them took."""


def distinct(made: Sequence[Updated]) -> tuple[Updated, ...]:
    """One of each text, the first; what is left out was not worth a second look."""
    return tuple({updated.skill.digest: updated for updated in reversed(made)}.values())[::-1]


def decided(tried: Sequence[Tried], selected: Patch, made: Sequence[Updated]) -> Contest:
    """The accepted candidate that gained most, the first of equals; else the first.

    ``made`` are all that were made of ``selected`` and its variants, for the replies that it took.
    """
    accepted = [each for each in tried if each.judged.verdict.outcome is Outcome.accepted]
    best = max(accepted, key=lambda each: each.judged.verdict.margin) if accepted else tried[0]
    before = len(selected.replies)
    took = tuple(reply for each in made for reply in each.selected.replies[before:])
    return Contest(
        best,
        others=tuple(each.judged for each in tried if each is not best),
        selected=replace(best.updated.selected, replies=selected.replies + took),
    )
