"""How two skills differ item by item. Pure.

Scores are fractions; items are the unit of every interval and test.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_exp.records import Gain
from skillopt_exp.runs.rollouts import RolloutLine
from skillopt_exp.stats import averaged, gain


@dataclass(frozen=True, slots=True)
class Difference:
    """One skill minus another on the same items, and which items they are.

    ``won`` are the ids of items that only the first solves, ``lost`` those that only the second does, in the
    order of the items, of several attempts in more than half; the others are tied.
    """

    gain: Gain
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


def difference(
    pair: tuple[str, str], after: Sequence[RolloutLine], before: Sequence[RolloutLine]
) -> Difference:
    """``after`` minus ``before``, item by item; ``pair`` is what their skills are called.

    Raises:
        ValueError: they are not attempts at the same items in the same order, or there are none.
    """
    ids = [each.id for each in after if each.attempt == 1]
    if not ids or [each.id for each in after] != [each.id for each in before]:
        raise ValueError("two skills are compared on the same items in the same order")
    first, second = pair
    won: list[str] = []
    lost: list[str] = []
    solved: list[str] = []
    unsolved: list[str] = []
    for name, new, old in zip(ids, averaged(after), averaged(before), strict=True):
        one, other = new.score.hard, old.score.hard
        if (one > 0.5) is not (other > 0.5):
            (won if one > 0.5 else lost).append(name)
        else:
            (solved if one > 0.5 else unsolved).append(name)
    return Difference(
        gain(first, second, after, before), tuple(won), tuple(lost), tuple(solved), tuple(unsolved)
    )
