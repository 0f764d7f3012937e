"""What a gate can see: exact for hard scores of one attempt, before anything is asked.

The model of answers: item i is solved with a probability of its own whenever it is asked; asked again
under the same skill, its answer is independent. A gain moves every item the same part of its way to
certainty.
"""

from dataclasses import dataclass
from functools import lru_cache

from skillopt_exp.stats.criterion import Criterion
from skillopt_exp.stats.paired import binomial_tail

POWER = 0.8
"""A gain is called visible where the gate accepts it in four of five tries."""

_STEP = 0.001
_NEGLIGIBLE = 1e-12
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Answers:
    """How a target answers: the share of items that it solves, and how often asking again changes that.

    ``churn`` is the share of items on which two askings under one skill differ; None is the most that
    there can be, when all items are alike.

    Raises:
        ValueError: a share that is none, or a churn that ``baseline`` does not allow.
    """

    baseline: float
    churn: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.baseline <= 1:
            raise ValueError(f"the baseline is {self.baseline}; give a share from 0 to 1")
        if self.churn is not None and not 0 <= self.churn <= self.most_churn:
            raise ValueError(
                f"the churn is {self.churn}; where {self.baseline:g} of the items are solved, "
                f"give 0 to {self.most_churn:g}"
            )

    @property
    def most_churn(self) -> float:
        return 2 * self.baseline * (1 - self.baseline)

    @property
    def alike(self) -> float:
        """Churn as a part of the most there can be: 1 where all items are alike, 0 where none varies."""
        if self.churn is None:
            return 1.0
        return self.churn / self.most_churn if self.most_churn else 1.0

    def discordant(self, gain: float) -> tuple[float, float]:
        """The chances that one item is won, and that it is lost, by a skill that is better by ``gain``.

        ``gain`` goes from 0 to 1 - baseline.
        """
        one_way = self.alike * self.most_churn / 2
        unsolved = 1 - self.baseline
        moved = min(1.0, gain / unsolved) if unsolved else 0.0
        return one_way + moved * (unsolved - one_way), one_way * (1 - moved)


def wins_needed(criterion: Criterion, num_items: int, *, losses: int = 0) -> int | None:
    """The smallest number of items won that is enough when ``losses`` are lost; None where none is."""
    for wins in range(num_items - losses + 1):
        if _enough(criterion, num_items, wins, losses):
            return wins
    return None


def accept_probability(criterion: Criterion, num_items: int, answers: Answers, gain: float) -> float:
    """The chance that one comparison accepts a skill that is better by ``gain``. Exact for hard scores."""
    import numpy as np
    from scipy.stats import binom

    win, loss = answers.discordant(gain)
    differing = min(1.0, win + loss)
    if differing < _NEGLIGIBLE:
        return float(_enough(criterion, num_items, 0, 0))
    low = int(binom.ppf(_NEGLIGIBLE, num_items, differing))
    high = int(binom.isf(_NEGLIGIBLE, num_items, differing))
    discordant = np.arange(low, high + 1)
    needed = np.array([_needed_of(criterion, num_items, int(m)) for m in discordant])
    chance = binom.pmf(discordant, num_items, differing)
    return float(np.sum(chance * binom.sf(needed - 1, discordant, win / (win + loss))))


def smallest_gain(criterion: Criterion, num_items: int, answers: Answers) -> float | None:
    """The smallest true gain that one comparison accepts in four of five tries, in steps of 0.001.

    None where not even solving everything is seen so often.
    """
    low, high = 0, int((1 - answers.baseline) / _STEP + _NEGLIGIBLE)
    if accept_probability(criterion, num_items, answers, high * _STEP) < POWER:
        return None
    while low < high:
        middle = (low + high) // 2
        if accept_probability(criterion, num_items, answers, middle * _STEP) >= POWER:
            high = middle
        else:
            low = middle + 1
    return round(low * _STEP, 3)


def _enough(criterion: Criterion, num_items: int, wins: int, losses: int) -> bool:
    gained = criterion.holds(wins - losses, num_items, lambda: binomial_tail(wins, wins + losses))
    return gained and not criterion.regresses(losses)


def _needed_of(criterion: Criterion, num_items: int, discordant: int) -> int:
    """The smallest number of wins among ``discordant`` items that is enough; one more than all: none is."""
    block, place = divmod(discordant, _BLOCK)
    return _needed_in(criterion, num_items, block)[place]


@lru_cache(maxsize=10_000)
def _needed_in(criterion: Criterion, num_items: int, block: int) -> tuple[int, ...]:
    """The same for a block of neighbours: one more discordant item asks for one more win at most."""
    first = block * _BLOCK
    low, high = 0, first + 1
    while low < high:
        middle = (low + high) // 2
        if _enough(criterion, num_items, middle, first - middle):
            high = middle
        else:
            low = middle + 1
    needed = [low]
    for discordant in range(first + 1, first + _BLOCK):
        wins = needed[-1]
        needed.append(wins if _enough(criterion, num_items, wins, discordant - wins) else wins + 1)
    return tuple(needed)
