"""How skills did on the same items: alone, against each other, by groups of items, and what a call took."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its confidence interval; all in the value's own unit."""

    value: float
    low: float
    high: float


class Evidence(StrEnum):
    """What a paired test lets one say of a difference."""

    clear = "clear"
    within_noise = "within_noise"
    underpowered = "underpowered"


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
    faults: Mapping[str, int] = field(default_factory=dict)

    @property
    def num_faults(self) -> int:
        return sum(self.faults.values())


@dataclass(frozen=True, slots=True)
class Gain:
    """``first`` minus ``second`` on the same items, with paired bootstrap intervals over items.

    ``hard_p`` is the exact two-sided McNemar test's. Items are won where the first's hard score is higher.
    """

    first: str
    second: str
    hard: float
    hard_interval: Interval | None
    hard_p: float
    soft: float
    soft_interval: Interval | None
    evidence: Evidence
    num_won: int
    num_lost: int


@dataclass(frozen=True, slots=True)
class GroupResult:
    """The items of one group: each skill on them by name, and one skill minus another.

    ``small`` marks a group on which only a very large gain can be told from luck.
    """

    num_items: int
    small: bool
    standings: Mapping[str, Standing]
    gain: Gain | None = None


@dataclass(frozen=True, slots=True)
class ACall:
    """What one call took: mean tokens over paid and reused calls alike, median seconds over paid ones.

    None is unknown, which is not zero.
    """

    calls: int
    input: float | None
    output: float | None
    seconds: float | None = None

    def minus(self, other: "ACall") -> "ACall":
        """What a call takes more than one of ``other``; ``calls`` stays this one's."""
        return ACall(
            self.calls,
            _less(self.input, other.input),
            _less(self.output, other.output),
            _less(self.seconds, other.seconds),
        )


NO_CALLS = ACall(0, None, None)


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
