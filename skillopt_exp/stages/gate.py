"""Stage 6: keep the candidate, or not. Pure; the loop owns what follows from it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from skillopt_exp.records import Metric, Outcome, Score, ScoredSkill, Verdict
from skillopt_exp.stats.criterion import STRICT, Criterion, GateRule
from skillopt_exp.stats.paired import sign_flip


@dataclass(frozen=True, slots=True)
class GateSettings:
    """What the gate compares, and when a difference is enough.

    ``seed`` and the candidate's step choose the sign patterns of a sampled test.
    """

    metric: Metric
    criterion: Criterion = STRICT
    seed: int = 0

    def __str__(self) -> str:
        """What the gate lets through, in words that can stand beside a result."""
        return _in_words(self)


def gate(candidate: ScoredSkill, current: ScoredSkill, settings: GateSettings) -> Verdict:
    """Accepted when the paired gain over the val items, in their fixed order, is enough for the rule.

    Where the gain would do but more items were lost than ``no_regression`` allows, the candidate is
    rejected for that.

    Raises:
        ValueError: the two were not scored on the same items.
    """
    if candidate.skill.text == current.skill.text:
        return Verdict(Outcome.unchanged)
    refused = objection(candidate, current, settings)
    return Verdict(
        Outcome.rejected if refused else Outcome.accepted,
        by=refused,
        margin=gain(candidate, current, settings.metric),
        num_won=num_lost(current, candidate),
        num_lost=num_lost(candidate, current),
        p_value=p_value(candidate, current, settings),
    )


def objection(candidate: ScoredSkill, current: ScoredSkill, settings: GateSettings) -> str:
    """By what the candidate is rejected; empty where it passes.

    The sum of differences is exact (one ``fsum``), so a tie is a tie.
    """
    criterion = settings.criterion
    margin = gain(candidate, current, settings.metric)
    if not criterion.holds(margin, current.num_items, lambda: p_value(candidate, current, settings)):
        return "score"
    return "regression" if criterion.regresses(num_lost(candidate, current)) else ""


def at_best(bare: ScoredSkill, seen: Mapping[int, Sequence[Score]], current: ScoredSkill) -> ScoredSkill:
    """``bare`` as if each item that is not among the ``seen`` ones (by position) were solved at every try."""
    perfect = (Score(hard=1.0, soft=1.0),) * current.repeats
    scores = tuple(score for i in range(current.num_items) for score in seen.get(i, perfect))
    return replace(bare, scores=scores, repeats=current.repeats)


def hopeless(current: ScoredSkill, settings: GateSettings) -> bool:
    """Whether no candidate whatever can pass any more: not even one that solves every item."""
    best = at_best(replace(current, step=0), {}, current)
    return objection(best, current, settings) == "score"


def can_end_early(settings: GateSettings, repeats: int) -> bool:
    """Whether what is still to come can be bounded: a sampled test has no bound, and no gate asks none."""
    match settings.criterion.rule:
        case GateRule.strict | GateRule.margin:
            return True
        case GateRule.significant:
            # McNemar's p only falls with each item won. Unequal differences may make it rise.
            return settings.metric is Metric.hard and repeats == 1
        case GateRule.accept_all:
            return False


def gain(new: ScoredSkill, old: ScoredSkill, metric: Metric) -> float:
    """The sum of differences, in items. Exact but for one rounding at the end, so that a tie is 0."""
    # Two terms an attempt instead of their difference: a difference of floats would be rounded.
    return _sum_of_differences(new.scores, old.scores, metric) / old.repeats


def p_value(new: ScoredSkill, old: ScoredSkill, settings: GateSettings) -> float:
    """How often luck alone would gain as much: the one-sided sign-flip test over items.

    For hard scores of one attempt an item it is McNemar's exact test.
    """
    pairs = zip(new.by_item(), old.by_item(), strict=True)
    deltas = [_sum_of_differences(after, before, settings.metric) for after, before in pairs]
    return sign_flip(deltas, (settings.seed, new.step))


def num_lost(new: ScoredSkill, old: ScoredSkill) -> int:
    """Items that were solved before and are not now. Of several attempts, more than half must solve."""
    pairs = zip(new.by_item(), old.by_item(), strict=True)
    return sum(solved(before) and not solved(after) for after, before in pairs)


def solved(attempts: Sequence[Score]) -> bool:
    """Whether more than half of the attempts at one item solve it."""
    return 2 * sum(score.hard for score in attempts) > len(attempts)


def _sum_of_differences(new: Sequence[Score], old: Sequence[Score], metric: Metric) -> float:
    pairs = zip(new, old, strict=True)
    return math.fsum(
        value for after, before in pairs for value in (after.value(metric), -before.value(metric))
    )


def _in_words(settings: GateSettings) -> str:
    criterion, scores = settings.criterion, f"{settings.metric} scores"
    match criterion.rule:
        case GateRule.strict:
            text = f"any gain on val in {scores} is accepted; it steers, it claims nothing"
        case GateRule.margin:
            points = f"{100 * criterion.margin:g} points"
            text = f"a gain on val of more than {points} in {scores} is accepted; luck is not ruled out"
        case GateRule.significant:
            level = f"{100 * criterion.alpha:.3g} % of comparisons"
            text = f"a gain on val in {scores} is accepted if luck shows one as large in at most {level}"
        case GateRule.accept_all if criterion.no_regression is None:
            return "every candidate is accepted, whatever it scores on val: no gate was passed"
        case GateRule.accept_all:
            text = "whatever a candidate scores on val, it is accepted"
    if criterion.no_regression is not None:
        text += f"; at most {criterion.no_regression} val items that were solved may be lost"
    return text
