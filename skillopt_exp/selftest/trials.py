"""Runs whose edits do nothing, and comparisons with skills that are better: what the gate makes of them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skillopt_exp.records import Metric
from skillopt_exp.selftest.answers import EIGHTHS, SOLVED, Chances, Target
from skillopt_exp.selftest.deciding import Bench
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.stats.power import Answers
from skillopt_exp.summary import SEED_RULE_ACCEPTS, SEED_RULE_DELTA


@dataclass(frozen=True, slots=True)
class Plan:
    """What to simulate. ``num_test`` are the items on which baseline and best are compared at the end."""

    settings: GateSettings
    answers: Answers
    num_steps: int
    gains: tuple[float, ...]
    num_test: int
    num_runs: int
    seed: int


@dataclass(frozen=True, slots=True)
class Findings:
    """What was measured at one size of val. Rates are fractions of comparisons or of runs.

    ``optimism`` is how far the recorded val score of the last skill lies above its true one, on the
    average, as a fraction; ``power`` has one rate for each of the plan's gains.
    """

    num_val: int
    num_runs: int
    false_accept: float
    runs_with_one: float
    runs_with_two: float
    accepts: float
    optimism: float
    seed_rule: float
    power: tuple[float, ...]


def measure(plan: Plan, num_val: int) -> Findings:
    """Simulate at one size of val; equal plans give equal findings."""
    generator = np.random.default_rng([plan.seed, num_val])
    target, bench = Target(plan.answers, generator), Bench(plan.settings)
    accepts, optimism = _useless_runs(plan, target, bench, num_val)
    return Findings(
        num_val=num_val,
        num_runs=plan.num_runs,
        false_accept=_accept_rate(plan, target, bench, num_val, gain=0.0),
        runs_with_one=float(np.mean(accepts >= 1)),
        runs_with_two=float(np.mean(accepts >= 2)),
        accepts=float(np.mean(accepts)),
        optimism=optimism,
        seed_rule=float(np.mean(_meets_seed_rule(plan, target, accepts))),
        power=tuple(_accept_rate(plan, target, bench, num_val, gain=gain) for gain in plan.gains),
    )


def _accept_rate(plan: Plan, target: Target, bench: Bench, num_val: int, *, gain: float) -> float:
    """How often a skill that is better by ``gain`` is accepted in a first comparison."""
    partial = plan.settings.metric is not Metric.hard
    chances = target.chances(plan.num_runs, num_val)
    current = target.ask(chances, partial_credit=partial)
    candidate = target.ask(target.better(chances, gain), partial_credit=partial)
    return float(np.mean(bench.accepted(candidate, current, step=1)))


def _useless_runs(plan: Plan, target: Target, bench: Bench, num_val: int) -> tuple[NDArray[np.int64], float]:
    """Runs in which every candidate is as good as the seed: accepted steps of each, and the mean optimism."""
    partial = plan.settings.metric is not Metric.hard
    chances = target.chances(plan.num_runs, num_val)
    current = target.ask(chances, partial_credit=partial)
    accepts = np.zeros(plan.num_runs, dtype=np.int64)
    for step in range(1, plan.num_steps + 1):
        candidate = target.ask(chances, partial_credit=partial)
        accepted = bench.accepted(candidate, current, step=step)
        # The scores of an accepted candidate are what the next one is compared with, lucky as they are.
        current[accepted] = candidate[accepted]
        accepts += accepted
    recorded = EIGHTHS[plan.settings.metric][current].mean() / 8
    return accepts, float(recorded - _true_score(plan.settings.metric, chances))


def _true_score(metric: Metric, chances: Chances) -> float:
    """The mean score that these items have in the long run, under any skill that does nothing."""
    values = EIGHTHS[metric]
    solved, failed = values[SOLVED] / 8, values[:SOLVED].mean() / 8
    if metric is Metric.hard:
        failed = 0.0
    return float(np.mean(chances * solved + (1 - chances) * failed))


def _meets_seed_rule(plan: Plan, target: Target, accepts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Of each run whether the rule of thumb calls it a success: test delta and accepted steps."""
    chances = target.chances(plan.num_runs, plan.num_test)
    baseline, best = (target.ask(chances, partial_credit=False) == SOLVED for _ in range(2))
    delta = best.mean(axis=1) - baseline.mean(axis=1)
    meets: NDArray[np.bool_] = (delta > SEED_RULE_DELTA) & (accepts >= SEED_RULE_ACCEPTS)
    return meets
