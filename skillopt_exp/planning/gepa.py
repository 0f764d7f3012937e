"""A run of ``optimizer=gepa`` imagined: bounds from its budget of attempts, and an expectation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from skillopt_exp.algorithms.gepa.cost import MinibatchCost
from skillopt_exp.llm.base import Stage
from skillopt_exp.planning.case import Case
from skillopt_exp.planning.counts import KEPT
from skillopt_exp.planning.course import Course, Leg, asked, attempted
from skillopt_exp.planning.ground import Ground
from skillopt_exp.planning.prompts import Size, compact_prompt, propose_prompt, trajectories
from skillopt_exp.planning.spending import Amount
from skillopt_exp.stats.criterion import GateRule

_BYTES_A_TOKEN = 4
"""As the limit on a skill's length counts."""

PerItem = Callable[[Sequence[float]], float]
"""What stands for an item of a minibatch, which chance draws: the mean of all, the least or the most."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Minibatches attempted, proposals, those of them that are scored on val, those sent back as too long."""

    minibatches: int = 0
    proposals: int = 0
    scored: int = 0
    sent_back: int = 0


@dataclass(frozen=True, slots=True)
class Extent:
    """How far a search goes, and how many skills meet the test."""

    counts: Counts
    tested: int

    @property
    def steps(self) -> tuple[Counts, ...]:
        """One step a proposal, with its share of everything in whole numbers, which add up exactly."""
        counts = self.counts
        num_steps = counts.proposals or int(counts.minibatches > 0)

        def share(total: int, step: int) -> int:
            return total * (step + 1) // num_steps - total * step // num_steps

        totals = (counts.minibatches, counts.proposals, counts.scored, counts.sent_back)
        return tuple(Counts(*(share(total, step) for total in totals)) for step in range(num_steps))


def fewest() -> Extent:
    """The seed skill solves all of val, and nothing is searched for."""
    return Extent(Counts(), tested=1)


def most(ground: Ground, budget: int) -> Extent:
    """Each at its most, which they are not at once: proposals that lead to nothing, or all of them scored."""
    cost, limit = _cost(ground), ground.settings.max_skill_tokens
    iterations = cost.most_iterations(budget)
    accepts_worse = ground.settings.gate.criterion.rule is GateRule.accept_all
    counts = Counts(
        # Minibatches under new skills take the place of some under old ones, but for the last iteration's.
        minibatches=iterations + 1,
        proposals=iterations,
        scored=cost.most_candidates(budget),
        sent_back=0 if limit is None else iterations,
    )
    return Extent(counts, tested=3 if accepts_worse and iterations > 1 else 2)


def expected(ground: Ground, budget: int, failure_rate: float) -> Extent:
    """Every minibatch with a failure leads to a new skill, of which some do better on it."""
    cost, size = _cost(ground), ground.settings.minibatch_size
    learns = 1 - (1 - failure_rate) ** size
    iteration = size + learns * (size + KEPT * cost.val)
    iterations = min((budget - cost.val) / iteration, cost.most_iterations(budget))
    proposals = round(iterations * learns)
    counts = Counts(
        minibatches=min(round(iterations) + proposals, cost.most_iterations(budget) + 1),
        proposals=proposals,
        scored=min(round(KEPT * proposals), cost.most_candidates(budget)),
    )
    return Extent(counts, tested=2 if proposals else 1)


async def imagine(ground: Ground, case: Case, extent: Extent, per_item: PerItem) -> Course:
    """The run of this extent."""
    skill = _skill_bytes(ground, case, extent)
    unit = await _unit(ground, case, skill, per_item)
    legs = {counts: _leg(ground, case, counts, unit) for counts in set(extent.steps)}
    val, test, at_once = ground.splits.val, ground.splits.test, ground.at_once.target
    baseline = attempted(case, len(val), ground.asked(val, ground.seed_bytes))
    tested = attempted(case, len(test), ground.asked(test, ground.seed_bytes))
    others = extent.tested - 1
    tested += attempted(case, others * len(test), ground.asked(test, skill).times(others))
    if ground.control:
        tested += attempted(case, len(test), ground.asked(test, 0))
    num_tested = extent.tested + ground.control
    return Course(
        Leg({Stage.selection: baseline}, ceil(baseline.calls / at_once)),
        tuple(legs[counts] for counts in extent.steps),
        Leg({Stage.test: tested}, num_tested * ceil(len(test) / at_once)),
    )


@dataclass(frozen=True, slots=True)
class _Unit:
    """Prompts under a skill of the search: of one attempt at a train item, of all val items, of one proposal,
    of one skill sent back."""

    attempt: Size
    val: Size
    proposal: Size
    sent_back: Size


async def _unit(ground: Ground, case: Case, skill: float, per_item: PerItem) -> _Unit:
    settings, train = ground.settings, ground.splits.train
    sizes = [ground.asked((item,), skill) for item in train]
    shown = per_item([(await trajectories((item,), settings)).bytes for item in train])
    proposal = await propose_prompt(round(skill), settings)
    longest = round(max(skill, case.optimizer_reply or 0))
    limit = settings.max_skill_tokens
    return _Unit(
        attempt=Size(per_item([size.bytes for size in sizes]), per_item([size.messages for size in sizes])),
        val=ground.asked(ground.splits.val, skill),
        proposal=proposal.longer(settings.minibatch_size * (shown + case.shown_bytes)),
        sent_back=Size() if limit is None else await compact_prompt(longest, limit, settings),
    )


def _leg(ground: Ground, case: Case, counts: Counts, unit: _Unit) -> Leg:
    size, num_val, at_once = ground.settings.minibatch_size, len(ground.splits.val), ground.at_once.target
    attempts = counts.minibatches * size
    sent_back = asked(case, counts.sent_back, unit.sent_back.times(counts.sent_back))
    if counts.sent_back and case.optimizer_reply is None:
        # Where nothing limits a reply, nothing limits the prompt that sends it back.
        sent_back = Amount(sent_back.calls, None, sent_back.output_tokens)
    amounts = {
        Stage.rollout: attempted(case, attempts, unit.attempt.times(attempts)),
        Stage.selection: attempted(case, counts.scored * num_val, unit.val.times(counts.scored)),
        Stage.reflect: asked(case, counts.proposals, unit.proposal.times(counts.proposals)),
        Stage.compact: sent_back,
    }
    waves = counts.minibatches * ceil(size / at_once) + counts.scored * ceil(num_val / at_once)
    return Leg(amounts, waves + case.asks * (counts.proposals + counts.sent_back))


def _cost(ground: Ground) -> MinibatchCost:
    return MinibatchCost(ground.settings.minibatch_size, len(ground.splits.val))


def _skill_bytes(ground: Ground, case: Case, extent: Extent) -> float:
    """The length of a skill of the search: none at the cheapest; else half of what it grows to, or the most
    that its limit, or one reply of the optimizer, allows."""
    if case.kept is None:
        return 0
    limit = ground.settings.max_skill_tokens
    if case.always_too_long:
        longest = case.optimizer_reply or 0 if limit is None else limit * _BYTES_A_TOKEN
        return max(longest, ground.seed_bytes)
    grown = ground.seed_bytes + case.kept * extent.counts.proposals * case.text_bytes / 2
    return grown if limit is None else min(grown, max(limit * _BYTES_A_TOKEN, ground.seed_bytes))
