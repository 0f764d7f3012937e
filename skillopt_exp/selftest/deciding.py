"""The gate's decisions for many comparisons at once. The gate decides; here is only who need not ask."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from skillopt_exp.records import Metric, ScoredSkill, Skill
from skillopt_exp.selftest.answers import EIGHTHS, SCORES, SOLVED, Grades
from skillopt_exp.stages.gate import GateSettings, objection
from skillopt_exp.stats.criterion import GateRule

_CURRENT, _CANDIDATE = Skill(body="current"), Skill(body="candidate")


@dataclass(frozen=True)
class Bench:
    """One gate on val splits of one size. Decisions are remembered where they follow from two sums."""

    settings: GateSettings
    known: dict[tuple[int, int], bool] = field(default_factory=dict)

    @property
    def follows_from_sums(self) -> bool:
        """Whether the gain and the items lost say all; else every difference counts by itself."""
        return sums_suffice(self.settings)

    def accepted(self, candidate: Grades, current: Grades, *, step: int) -> NDArray[np.bool_]:
        """Of each run (a row) whether the gate accepts. A sampled test has a seed of its own in each."""
        if not self.follows_from_sums:
            rows = range(len(candidate))
            return np.array(
                [self.asked(candidate[i], current[i], step=step, seed=i) for i in rows], dtype=np.bool_
            )
        values = EIGHTHS[self.settings.metric]
        gains = values[candidate].sum(axis=1) - values[current].sum(axis=1)
        lost = ((current == SOLVED) & (candidate != SOLVED)).sum(axis=1)
        pairs, first, which = np.unique(
            np.stack([gains, lost], axis=1), axis=0, return_index=True, return_inverse=True
        )
        decided = np.empty(len(pairs), dtype=np.bool_)
        for i, row in enumerate(first):
            key = (int(pairs[i, 0]), int(pairs[i, 1]))
            if key not in self.known:
                self.known[key] = self.asked(candidate[row], current[row], step=step, seed=0)
            decided[i] = self.known[key]
        return decided[which.reshape(-1)]

    def asked(self, candidate: Grades, current: Grades, *, step: int, seed: int) -> bool:
        """What the gate itself says of one comparison."""
        new, old = (
            ScoredSkill(skill, tuple(SCORES[grade] for grade in grades.tolist()), step)
            for skill, grades in ((_CANDIDATE, candidate), (_CURRENT, current))
        )
        return not objection(new, old, replace(self.settings, seed=seed))


def sums_suffice(settings: GateSettings) -> bool:
    """Whether the gain and the number of items lost decide: in all but the test of unequal differences."""
    return settings.metric is Metric.hard or settings.criterion.rule is not GateRule.significant
