"""From attempts to figures: how one skill did, and how two differ item by item. Pure.

Scores are fractions; items are the unit of every interval and test.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from skillopt_exp.llm.ledger import SettledCall
from skillopt_exp.records import Evidence, Interval, mean
from skillopt_exp.runs.rollouts import RolloutLine
from skillopt_exp.stats import differences, evidence, mcnemar, paired_interval, wilson


@dataclass(frozen=True, slots=True)
class Standing:
    """How one skill did on ``num_items`` items (at least one).

    ``hard`` is the share solved, with Wilson's interval; ``soft`` the mean partial credit, with a
    bootstrap interval over items (None for one item: it says nothing of its spread). ``faults`` counts,
    by reason, the replies that could not be used: they score 0 and are part of both means.
    """

    num_items: int
    hard: float
    hard_interval: Interval | None
    soft: float
    soft_interval: Interval | None
    faults: Mapping[str, int]

    @property
    def num_faults(self) -> int:
        return sum(self.faults.values())


@dataclass(frozen=True, slots=True)
class Difference:
    """One skill minus another on the same items.

    ``hard_p`` is the exact two-sided McNemar test's. ``won`` are the ids of items whose hard score is
    higher under the first, ``lost`` under the second, in the order of the items; the others are tied.
    """

    hard: float
    hard_interval: Interval | None
    hard_p: float
    soft: float
    soft_interval: Interval | None
    evidence: Evidence
    won: tuple[str, ...]
    lost: tuple[str, ...]
    tied_solved: tuple[str, ...]
    tied_unsolved: tuple[str, ...]

    @property
    def num_items(self) -> int:
        return len(self.won) + len(self.lost) + self.num_tied

    @property
    def num_tied(self) -> int:
        return len(self.tied_solved) + len(self.tied_unsolved)


@dataclass(frozen=True, slots=True)
class TokensACall:
    """Mean tokens of one call, over paid and reused calls alike; None is unknown, which is not zero."""

    calls: int
    input: float | None
    output: float | None

    def minus(self, other: "TokensACall") -> "TokensACall":
        """What a call takes more than one of ``other``; ``calls`` stays this one's."""
        return TokensACall(self.calls, _less(self.input, other.input), _less(self.output, other.output))


NO_CALLS = TokensACall(0, None, None)


def standing(attempts: Sequence[RolloutLine]) -> Standing:
    """How the skill of ``attempts`` did, one attempt an item.

    Raises:
        ValueError: no attempts.
    """
    hards, softs = [each.hard for each in attempts], [each.soft for each in attempts]
    hard, soft = mean(hards), mean(softs)
    if hard is None or soft is None:
        raise ValueError("a skill that attempted nothing has no standing")
    faults = Counter(str(each.fault) for each in attempts if each.fault is not None)
    return Standing(
        num_items=len(attempts),
        hard=hard,
        hard_interval=_rate_interval(hards),
        soft=soft,
        soft_interval=paired_interval(softs),
        faults=dict(sorted(faults.items())),
    )


def difference(after: Sequence[RolloutLine], before: Sequence[RolloutLine]) -> Difference:
    """``after`` minus ``before``, item by item.

    Raises:
        ValueError: they are not attempts at the same items in the same order, or there are none.
    """
    ids = [each.id for each in after]
    if not ids or ids != [each.id for each in before]:
        raise ValueError("two skills are compared on the same items in the same order")
    hards = differences([each.hard for each in after], [each.hard for each in before])
    softs = differences([each.soft for each in after], [each.soft for each in before])
    hard, soft = mean(hards), mean(softs)
    assert hard is not None
    assert soft is not None
    kinds = dict(zip(ids, hards, strict=True))
    solved = {each.id for each in after if each.hard >= 1.0}
    tied = [item_id for item_id, delta in kinds.items() if delta == 0]
    won = tuple(item_id for item_id, delta in kinds.items() if delta > 0)
    lost = tuple(item_id for item_id, delta in kinds.items() if delta < 0)
    return Difference(
        hard=hard,
        hard_interval=paired_interval(hards),
        hard_p=mcnemar(len(won), len(lost)),
        soft=soft,
        soft_interval=paired_interval(softs),
        evidence=evidence(hards),
        won=won,
        lost=lost,
        tied_solved=tuple(item_id for item_id in tied if item_id in solved),
        tied_unsolved=tuple(item_id for item_id in tied if item_id not in solved),
    )


def _rate_interval(hards: Sequence[float]) -> Interval | None:
    """Wilson's, of items that are solved or not; a task may also give parts of an item."""
    if set(hards) <= {0.0, 1.0}:
        return wilson(hards.count(1.0), len(hards))
    return paired_interval(hards)


def tokens_a_call(calls: Sequence[SettledCall]) -> TokensACall:
    """The means over ``calls``; unknown where one of them did not report its tokens, or there are none."""
    return TokensACall(
        calls=len(calls),
        input=_mean_if_known(call.input_tokens for call in calls),
        output=_mean_if_known(call.output_tokens for call in calls),
    )


def _mean_if_known(counts: Iterable[int | None]) -> float | None:
    known = list(counts)
    return None if None in known else mean(count for count in known if count is not None)


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
