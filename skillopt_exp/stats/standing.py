"""From attempts to figures: how one skill did, and how two differ item by item."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from skillopt_exp.records import Fault, Gain, Interval, Score, Standing, mean
from skillopt_exp.stats.evidence import evidence
from skillopt_exp.stats.intervals import paired_interval, wilson
from skillopt_exp.stats.paired import differences, two_sided


class Attempt(Protocol):
    """One attempt at an item, as far as figures are made of it."""

    @property
    def score(self) -> Score: ...

    @property
    def fault(self) -> Fault | None: ...

    @property
    def attempt(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Averaged:
    """All attempts at one item as one: the mean of their scores, and the first fault."""

    score: Score
    fault: Fault | None
    attempt: int = 1


def averaged(attempts: Sequence[Attempt]) -> tuple[Averaged, ...]:
    """One for each item. The attempts at an item stand side by side, number 1 first."""
    starts = [place for place, each in enumerate(attempts) if each.attempt == 1]
    bounds = pairwise([*starts, len(attempts)])
    return tuple(_average(attempts[start:end]) for start, end in bounds)


def _average(attempts: Sequence[Attempt]) -> Averaged:
    hard, soft = (
        math.fsum(values) / len(attempts)
        for values in ([each.score.hard for each in attempts], [each.score.soft for each in attempts])
    )
    fault = next((each.fault for each in attempts if each.fault is not None), None)
    return Averaged(Score(hard, soft), fault)


def standing(attempts: Sequence[Attempt]) -> Standing:
    """How the skill of ``attempts`` did; several at an item count as one.

    Raises:
        ValueError: no attempts.
    """
    items = averaged(attempts)
    hards, softs = [each.score.hard for each in items], [each.score.soft for each in items]
    hard, soft = mean(hards), mean(softs)
    if hard is None or soft is None:
        raise ValueError("a skill that attempted nothing has no standing")
    faults = Counter(str(each.fault) for each in attempts if each.fault is not None)
    return Standing(
        num_items=len(items),
        hard=hard,
        hard_interval=rate_interval(hards),
        soft=soft,
        soft_interval=paired_interval(softs),
        faults=dict(sorted(faults.items())),
    )


def gain(first: str, second: str, after: Sequence[Attempt], before: Sequence[Attempt]) -> Gain:
    """The skill called ``first``, which made ``after``, minus ``second``, which made ``before``.

    Raises:
        ValueError: they are not as many, or none.
    """
    new, old = averaged(after), averaged(before)
    hards = differences([each.score.hard for each in new], [each.score.hard for each in old])
    softs = differences([each.score.soft for each in new], [each.score.soft for each in old])
    hard, soft = mean(hards), mean(softs)
    if hard is None or soft is None:
        raise ValueError("two skills that attempted nothing do not differ")
    # Of several attempts more than half must solve, as for the gate.
    pairs = [(one.score.hard, other.score.hard) for one, other in zip(new, old, strict=True)]
    won = sum(after > 0.5 >= before for after, before in pairs)
    lost = sum(before > 0.5 >= after for after, before in pairs)
    return Gain(
        first=first,
        second=second,
        hard=hard,
        hard_interval=paired_interval(hards),
        hard_p=two_sided(hards),
        soft=soft,
        soft_interval=paired_interval(softs),
        evidence=evidence(hards),
        num_won=won,
        num_lost=lost,
    )


def rate_interval(hards: Sequence[float]) -> Interval | None:
    """Wilson's, of items that are solved or not; a task may also give parts of an item."""
    if set(hards) <= {0.0, 1.0}:
        return wilson(hards.count(1.0), len(hards))
    return paired_interval(hards)
