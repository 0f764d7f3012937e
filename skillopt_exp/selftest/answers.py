"""Answers drawn from the model that ``stats.power`` reckons with, many runs at once.

A graded answer is a whole number of quarters: 4 is solved, 0 to 3 is the partial credit of a failed one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skillopt_exp.records import Metric, Score
from skillopt_exp.stats.power import Answers

Chances = NDArray[np.float64]
"""Runs by items: how likely each is to be solved when asked."""
Grades = NDArray[np.int8]
"""Runs by items: the graded answers."""

SOLVED = 4
SCORES = tuple(Score(hard=float(grade == SOLVED), soft=grade / SOLVED) for grade in range(SOLVED + 1))
"""The score of each grade."""
EIGHTHS = {metric: np.array([round(8 * score.value(metric)) for score in SCORES]) for metric in Metric}
"""Each grade's value in eighths, so that sums over items are whole numbers, under any metric."""


@dataclass(frozen=True)
class Target:
    """A simulated target that answers as ``answers`` says; partial credit is spread evenly."""

    answers: Answers
    generator: np.random.Generator

    def chances(self, num_runs: int, num_items: int) -> Chances:
        """Items of their own for every run: drawn, as a data set's are, from all that there are."""
        baseline, alike = self.answers.baseline, self.answers.alike
        shape = (num_runs, num_items)
        if alike >= 1:
            return np.full(shape, baseline)
        if alike <= 0:
            return (self.generator.random(shape) < baseline).astype(np.float64)
        # The churn of a beta distribution is the most there can be times s / (s + 1).
        s = alike / (1 - alike)
        return self.generator.beta(s * baseline, s * (1 - baseline), shape)

    def better(self, chances: Chances, gain: float) -> Chances:
        """The same items under a skill that is better by ``gain`` (0 to 1 - baseline) on the average."""
        unsolved = 1 - self.answers.baseline
        return chances + (min(1.0, gain / unsolved) if unsolved else 0.0) * (1 - chances)

    def ask(self, chances: Chances, *, partial_credit: bool) -> Grades:
        """Every item answered once."""
        solved = self.generator.random(chances.shape) < chances
        failed: Grades = np.zeros(chances.shape, dtype=np.int8)
        if partial_credit:
            failed = self.generator.integers(0, SOLVED, chances.shape, dtype=np.int8)
        return np.where(solved, np.int8(SOLVED), failed)
