"""How many questions a step, and the end of an epoch, have for the models; from sizes alone. Pure.

A question is one prompt. How often it has to be sent until its reply can be used is counted elsewhere.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest

from skillopt_exp.epoch import EpochSettings
from skillopt_exp.loop import Settings
from skillopt_exp.planning.chances import binomial
from skillopt_exp.records import PairPolicy, RateControl
from skillopt_exp.stages.gate import can_end_early

KEPT = 0.25
"""The share of candidates that are expected to be accepted, so that their edits stay in the skill."""

Sizes = tuple[int, ...]
"""Items of each part of a batch: one part, or several with gradient accumulation."""


@dataclass(frozen=True, slots=True)
class Patches:
    """What a step's attempts were cut into: minibatches of failures, and of successes."""

    failures: int = 0
    successes: int = 0

    def __add__(self, other: "Patches") -> "Patches":
        return Patches(self.failures + other.failures, self.successes + other.successes)

    @property
    def total(self) -> int:
        return self.failures + self.successes


@dataclass(frozen=True, slots=True)
class Asked:
    """What one step asks of the optimizer when every reply holds edits.

    ``merges`` are counted level by level. ``selects`` ask one after the other: how many edits, and which.
    ``rewrites`` make the ``candidates`` where edits do not. ``failures`` are the reflections on failures.
    """

    reflect: int
    failures: int
    merges: tuple[int, ...]
    selects: int
    rewrites: int
    candidates: int

    @property
    def aggregate(self) -> int:
        return sum(self.merges)

    def waves(self, at_once: int) -> int:
        """Rounds after reflection, which wait for each other, with ``at_once`` calls under way."""
        return sum(math.ceil(calls / at_once) for calls in self.merges) + self.selects + (self.rewrites > 0)


@dataclass(frozen=True, slots=True)
class StepCounts:
    """Of one step: trajectories shown, questions by stage, levels of merging, candidates to be scored.

    ``failures`` are the reflections on failures among ``reflect``. ``waves`` are rounds of questions to
    the optimizer that wait for each other.
    """

    shown: float
    reflect: float
    failures: float
    aggregate: float
    levels: float
    select: float
    rewrite: float
    candidates: float
    waves: float


@dataclass(frozen=True, slots=True)
class EndCounts:
    """Of the end of an epoch: how often its sample is attempted, questions for guidance and for advice,
    candidates to be scored."""

    attempts: float
    slow_updates: float
    meta_skills: float
    candidates: float

    @property
    def questions(self) -> float:
        return self.slow_updates + self.meta_skills


def merges(num_patches: int, group_size: int) -> tuple[int, ...]:
    """Merges of each level until one patch is left; a group of one goes up as it is.

    >>> merges(9, 4), merges(5, 4), merges(1, 4)
    ((2, 1), (1, 1), ())
    """
    levels = []
    while num_patches > 1:
        alone = num_patches % group_size == 1
        num_patches = math.ceil(num_patches / group_size)
        levels.append(num_patches - alone)
    return tuple(levels)


def cut(num_items: int, num_failures: int, settings: Settings) -> Patches:
    """The minibatches of a part of ``num_items`` of which ``num_failures`` failed."""
    num_successes = 0 if settings.failure_only else num_items - num_failures
    size = settings.minibatch_size
    return Patches(math.ceil(num_failures / size), math.ceil(num_successes / size))


def asked(patches: Patches, settings: Settings) -> Asked:
    """What a step with these patches asks."""
    apart = zip_longest(
        merges(patches.failures, settings.merge_batch_size),
        merges(patches.successes, settings.merge_batch_size),
        fillvalue=0,
    )
    together = (1,) if patches.failures and patches.successes else ()
    candidates = settings.candidates if patches.total else 0
    return Asked(
        reflect=patches.total,
        failures=patches.failures,
        merges=(*(sum(level) for level in apart), *together),
        selects=_selects(patches, settings.rate_control),
        rewrites=candidates if settings.mode.rewrites else 0,
        candidates=candidates,
    )


def _selects(patches: Patches, control: RateControl) -> int:
    match control:
        case RateControl.fixed:
            # One patch alone keeps to the edit budget; several together may not, and are ranked.
            return int(patches.total > 1)
        case RateControl.autonomous:
            return 2 if patches.total else 0
        case RateControl.none:
            return 0


def chances(sizes: Sizes, settings: Settings, failure_rate: float) -> Mapping[Patches, float]:
    """How likely a step ends in which patches, when each attempt fails with ``failure_rate``, independently.

    All that are possible are there, some of them maybe with chance 0.
    """
    so_far: Mapping[Patches, float] = {Patches(): 1.0}
    for size in sizes:
        further: dict[Patches, float] = defaultdict(float)
        for failures, chance in enumerate(binomial(size, failure_rate)):
            part = cut(size, failures, settings)
            for patches, before in so_far.items():
                further[patches + part] += before * chance
        so_far = further
    return so_far


def fewest(sizes: Sizes, settings: Settings, *, at_once: int) -> StepCounts:
    """The cheapest outcome: as few minibatches as can be, and not one edit in any reply."""
    reflect = [min(_totals(size, settings)) for size in sizes]
    return StepCounts(
        shown=0 if settings.failure_only else sum(sizes),
        reflect=sum(reflect),
        failures=0,
        aggregate=0,
        levels=0,
        select=0,
        rewrite=0,
        candidates=0,
        waves=sum(math.ceil(calls / at_once) for calls in reflect),
    )


def most(sizes: Sizes, settings: Settings, *, at_once: int) -> StepCounts:
    """The dearest outcome: failures and successes fill as many minibatches as can be, all replies hold edits.

    One outcome is the dearest in every stage, so the sum over stages can be reached, too.
    """
    outcomes = [asked(patches, settings) for patches in chances(sizes, settings, 0.5)]
    reflect = [max(_totals(size, settings)) for size in sizes]
    return StepCounts(
        shown=sum(sizes),
        reflect=sum(reflect),
        failures=max(outcome.failures for outcome in outcomes),
        aggregate=max(outcome.aggregate for outcome in outcomes),
        levels=max(len(outcome.merges) for outcome in outcomes),
        select=max(outcome.selects for outcome in outcomes),
        rewrite=max(outcome.rewrites for outcome in outcomes),
        candidates=settings.candidates,
        waves=sum(math.ceil(calls / at_once) for calls in reflect)
        + max(outcome.waves(at_once) for outcome in outcomes),
    )


def expected(sizes: Sizes, settings: Settings, *, at_once: int, failure_rate: float) -> StepCounts:
    """The mean over all that chance may bring.

    Every reply holds edits, several patches are ranked, and each step that proposes edits makes a
    candidate that was never scored before.
    """
    weights = chances(sizes, settings, failure_rate)
    outcomes = {asked(patches, settings): 0.0 for patches in weights}
    for patches, weight in weights.items():
        outcomes[asked(patches, settings)] += weight

    def average(measure: Callable[[Asked], int]) -> float:
        mean = math.fsum(weight * measure(outcome) for outcome, weight in outcomes.items())
        # Rounding may have left the range.
        return min(max(mean, min(map(measure, outcomes))), max(map(measure, outcomes)))

    reflect_waves = sum(
        math.fsum(
            weight * math.ceil(total / at_once)
            for total, weight in zip(_totals(size, settings), binomial(size, failure_rate), strict=True)
        )
        for size in sizes
    )
    return StepCounts(
        shown=sum(sizes) * (failure_rate if settings.failure_only else 1),
        reflect=average(lambda outcome: outcome.reflect),
        failures=average(lambda outcome: outcome.failures),
        aggregate=average(lambda outcome: outcome.aggregate),
        levels=average(lambda outcome: len(outcome.merges)),
        select=average(lambda outcome: outcome.selects),
        rewrite=average(lambda outcome: outcome.rewrites),
        candidates=average(lambda outcome: outcome.candidates),
        waves=reflect_waves + average(lambda outcome: outcome.waves(at_once)),
    )


def expected_share(settings: Settings, num_val: int) -> float:
    """The part of val that a candidate is asked, from 0 to 1.

    One that is not accepted is expected to be seen through half way; what the target takes at once is asked
    ahead of that.
    """
    scoring = settings.scoring
    if scoring.block is None or not can_end_early(settings.gate, scoring.repeats):
        return 1.0
    asked = max(scoring.block, num_val / 2) + scoring.at_once / scoring.repeats
    return KEPT + (1 - KEPT) * min(1.0, asked / num_val)


def _totals(size: int, settings: Settings) -> list[int]:
    """The minibatches of a part by its number of failures, from none to all."""
    return [cut(size, failures, settings).total for failures in range(size + 1)]


def end_most(settings: EpochSettings, *, last: bool) -> EndCounts:
    """Two skills are compared, and the guidance is new; this is expected, too. The last end of a run needs
    no advice."""
    slow, meta = int(settings.slow_update), int(settings.meta_skill and not last)
    return EndCounts(2 * int(slow + meta > 0), slow, meta, slow)


def end_fewest(settings: EpochSettings, *, last: bool) -> EndCounts:
    """The skill is what it was an epoch ago, or no pair of attempts is of the wanted kind."""
    most = end_most(settings, last=last)
    if settings.pair_policy is PairPolicy.mixed:
        return replace(most, attempts=int(most.attempts > 0), candidates=0)
    return EndCounts(int(most.attempts > 0), 0, 0, 0)
