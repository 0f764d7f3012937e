"""When a paired gain is enough. Pure; the gate, its self-test and its power all decide here."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

DEFAULT_ALPHA = 0.05


class GateRule(StrEnum):
    """How large a gain on val must be: any, above a margin, beyond luck, or none at all."""

    strict = "strict"
    margin = "margin"
    significant = "significant"
    accept_all = "accept_all"


class AlphaPer(StrEnum):
    """What ``gate.alpha`` bounds: false accepts among comparisons, or runs with any of them."""

    comparison = "comparison"
    run = "run"


@dataclass(frozen=True, slots=True)
class Criterion:
    """A rule with its number, and the guard that stands beside any rule.

    ``margin`` is a mean difference, as a fraction of the items; ``alpha`` the chance of a false accept
    in one comparison. Each belongs to one rule and means nothing to the others. ``no_regression`` is the
    most items that may be lost (solved before and not now); None is any number.
    """

    rule: GateRule = GateRule.strict
    margin: float = 0.0
    alpha: float = DEFAULT_ALPHA
    no_regression: int | None = None

    def holds(self, total: float, num_items: int, p_value: Callable[[], float]) -> bool:
        """Whether ``total``, the sum of differences over ``num_items``, is enough.

        ``p_value`` is asked by the one rule that needs it.
        """
        match self.rule:
            case GateRule.strict:
                return total > 0
            case GateRule.margin:
                # The number as it was written: 0.1 of 30 items is 3, and 3 is not above 3.
                return total > Fraction(repr(self.margin)) * num_items
            case GateRule.significant:
                return p_value() <= self.alpha
            case GateRule.accept_all:
                return True

    def regresses(self, num_lost: int) -> bool:
        """Whether ``num_lost`` items are more than may be lost."""
        return self.no_regression is not None and num_lost > self.no_regression


STRICT = Criterion()
"""Any gain is enough."""


def alpha_of_one(alpha: float, per: AlphaPer, num_comparisons: int) -> float:
    """The level of one comparison, where a run makes ``num_comparisons``.

    Bonferroni's share: the comparisons of a run have the val items and often the current skill's
    answers in common, and this bound holds whatever hangs together. Sidak's would be 2.5 % wider at
    5 %, for independent comparisons alone.
    """
    return alpha / max(1, num_comparisons) if per is AlphaPer.run else alpha
