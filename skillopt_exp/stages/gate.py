"""Stage 6: keep the candidate, or not. Pure; the loop owns what follows from it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_exp.records import Metric, Outcome, Score, ScoredSkill, Verdict
from skillopt_exp.stats.criterion import STRICT, Criterion, GateRule
from skillopt_exp.stats.paired import differences, sign_flip


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

    The sum of differences is exact (one ``fsum``), so a tie is a tie. Where the gain would do but more
    items were lost than ``no_regression`` allows, the candidate is rejected for that.

    Raises:
        ValueError: the two were not scored on the same number of items.
    """
    if candidate.skill.text == current.skill.text:
        return Verdict(Outcome.unchanged)
    new, old = candidate.scores, current.scores
    margin = gain(new, old, settings.metric)
    if not settings.criterion.holds(
        margin, len(new), lambda: p_value(new, old, settings, step=candidate.step)
    ):
        return Verdict(Outcome.rejected, by="score", margin=margin)
    if settings.criterion.regresses(num_lost(new, old)):
        return Verdict(Outcome.rejected, by="regression", margin=margin)
    return Verdict(Outcome.accepted, margin=margin)


def gain(new: Sequence[Score], old: Sequence[Score], metric: Metric) -> float:
    """The sum of differences, in items. Exact but for one rounding at the end."""
    # Two terms an item instead of their difference: a difference of floats would be rounded.
    pairs = zip(new, old, strict=True)
    return math.fsum(
        value for after, before in pairs for value in (after.value(metric), -before.value(metric))
    )


def p_value(new: Sequence[Score], old: Sequence[Score], settings: GateSettings, *, step: int) -> float:
    """How often luck alone would gain as much: the one-sided sign-flip test over items.

    For hard scores of one attempt an item it is McNemar's exact test.
    """
    metric = settings.metric
    deltas = differences([score.value(metric) for score in new], [score.value(metric) for score in old])
    return sign_flip(deltas, (settings.seed, step))


def num_lost(new: Sequence[Score], old: Sequence[Score]) -> int:
    """Items that were solved before and are not now. Of several attempts, more than half must solve."""
    return sum(before.hard > 0.5 >= after.hard for after, before in zip(new, old, strict=True))


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
        case GateRule.accept_all:
            text = "every candidate is accepted, whatever it scores on val: no gate was passed"
    if criterion.no_regression is not None:
        text += f"; at most {criterion.no_regression} val items that were solved may be lost"
    return text
