"""Stage 6: keep the candidate, or not. Pure; the loop owns what follows from it."""

import math
from dataclasses import dataclass

from skillopt_exp.records import Metric, Outcome, ScoredSkill, Verdict


@dataclass(frozen=True, slots=True)
class GateSettings:
    """What the gate compares, and when a difference is enough."""

    metric: Metric


def gate(candidate: ScoredSkill, current: ScoredSkill, settings: GateSettings) -> Verdict:
    """Accepted when the paired sum of differences over the val items, in their fixed order, is above zero.

    The sum is exact (one ``fsum``), so a tie is a tie. It steers the search and claims nothing
    about significance.

    Raises:
        ValueError: the two were not scored on the same number of items.
    """
    if candidate.skill.text == current.skill.text:
        return Verdict(Outcome.unchanged)
    pairs = zip(candidate.scores, current.scores, strict=True)
    # Two terms an item instead of their difference: a difference of floats would be rounded.
    metric = settings.metric
    terms = (value for new, old in pairs for value in (new.value(metric), -old.value(metric)))
    margin = math.fsum(terms)
    if margin > 0:
        return Verdict(Outcome.accepted, margin=margin)
    return Verdict(Outcome.rejected, by="score", margin=margin)
