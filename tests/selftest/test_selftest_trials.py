"""What the simulation measures is what can be computed, where it can."""

from dataclasses import replace

import numpy as np
import pytest

from skillopt_exp.records import Metric
from skillopt_exp.selftest import Findings, Plan, measure
from skillopt_exp.selftest.answers import SOLVED, Target
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.stats.criterion import Criterion, GateRule
from skillopt_exp.stats.power import Answers, accept_probability

STRICT = GateSettings(Metric.hard)
SIGNIFICANT = GateSettings(Metric.hard, Criterion(GateRule.significant))


def planned(settings: GateSettings, answers: Answers, **changes: object) -> Plan:
    plan = Plan(settings, answers, num_steps=10, gains=(0.1,), num_test=200, num_runs=1000, seed=1)
    return replace(plan, **changes)  # type: ignore[arg-type]


def near(found: float, expected: float, num_runs: int) -> bool:
    """Whether luck can explain the distance: four and a half standard errors."""
    return abs(found - expected) <= 4.5 * np.sqrt(max(expected * (1 - expected), 1 / num_runs) / num_runs)


@pytest.mark.parametrize(
    "settings",
    [
        STRICT,
        SIGNIFICANT,
        GateSettings(Metric.hard, Criterion(GateRule.margin, margin=0.05)),
        GateSettings(Metric.hard, Criterion(no_regression=3)),
    ],
)
@pytest.mark.parametrize("answers", [Answers(0.5), Answers(0.6, 0.2), Answers(0.3, 0.0)])
def test_one_comparison_accepts_as_often_as_the_closed_form_says(
    settings: GateSettings, answers: Answers
) -> None:
    for num_val in (12, 60):
        found = measure(planned(settings, answers, num_steps=1), num_val)
        for rate, gain in ((found.false_accept, 0.0), (found.power[0], 0.1)):
            expected = accept_probability(settings.criterion, num_val, answers, gain)
            assert near(rate, expected, 1000), (num_val, gain, rate, expected)
        assert near(found.runs_with_one, accept_probability(settings.criterion, num_val, answers, 0.0), 1000)


@pytest.mark.parametrize("num_val", [10, 40, 150, 500])
def test_significant_keeps_its_level_in_simulation(num_val: int) -> None:
    found = measure(planned(SIGNIFICANT, Answers(0.5), num_steps=1, num_runs=4000), num_val)
    assert found.false_accept <= 0.05 + 4.5 * np.sqrt(0.05 * 0.95 / 4000)


@pytest.mark.parametrize("num_val", [10, 60])
def test_significant_keeps_its_level_on_partial_credit(num_val: int) -> None:
    settings = GateSettings(Metric.soft, Criterion(GateRule.significant, alpha=0.1))
    found = measure(planned(settings, Answers(0.5), num_steps=1, num_runs=800), num_val)
    assert 0.02 < found.false_accept <= 0.1 + 4.5 * np.sqrt(0.1 * 0.9 / 800)


def test_a_level_for_the_run_bounds_the_runs_that_accept_anything() -> None:
    steps = 20
    per_run = GateSettings(Metric.hard, Criterion(GateRule.significant, alpha=0.1 / steps))
    found = measure(planned(per_run, Answers(0.5), num_steps=steps, num_runs=2000), 60)
    assert found.runs_with_one <= 0.1 + 4.5 * np.sqrt(0.1 * 0.9 / 2000)
    per_comparison = GateSettings(Metric.hard, Criterion(GateRule.significant, alpha=0.1))
    assert measure(planned(per_comparison, Answers(0.5), num_steps=steps), 60).runs_with_one > 0.3


def test_a_strict_gate_accepts_twice_in_most_runs_and_flatters_itself() -> None:
    found = measure(planned(STRICT, Answers(0.5), num_steps=45), 30)
    assert 0.63 <= found.runs_with_two <= 0.9
    assert found.optimism > 0.1
    assert found.seed_rule > 0.15


def test_accepting_everything_flatters_nobody() -> None:
    found = measure(planned(GateSettings(Metric.mixed, Criterion(GateRule.accept_all)), Answers(0.4)), 50)
    assert (found.false_accept, found.runs_with_one, found.accepts) == (1.0, 1.0, 10.0)
    assert abs(found.optimism) < 0.01
    half_of_the_runs_gain = 0.25 < found.seed_rule < 0.5
    assert half_of_the_runs_gain


def test_answers_that_never_change_are_accepted_for_nothing() -> None:
    found = measure(planned(STRICT, Answers(0.5, churn=0.0)), 40)
    assert (found.false_accept, found.runs_with_one, found.optimism, found.seed_rule) == (0, 0, 0, 0)


def test_the_target_answers_as_it_is_told_to() -> None:
    answers = Answers(0.6, churn=0.2)
    target = Target(answers, np.random.default_rng(3))
    chances = target.chances(400, 500)
    first, second = (target.ask(chances, partial_credit=False) == SOLVED for _ in range(2))
    assert first.mean() == pytest.approx(0.6, abs=0.006)
    assert (first != second).mean() == pytest.approx(0.2, abs=0.005)
    better = target.ask(target.better(chances, 0.1), partial_credit=True)
    assert (better == SOLVED).mean() == pytest.approx(0.7, abs=0.006)
    assert np.bincount(better[better != SOLVED].reshape(-1), minlength=4) / (better != SOLVED).sum() == (
        pytest.approx([0.25] * 4, abs=0.01)
    )


def test_equal_plans_find_the_same_and_other_seeds_do_not() -> None:
    plan = planned(STRICT, Answers(0.5), num_runs=200)
    first = measure(plan, 20)
    assert isinstance(first, Findings)
    assert first == measure(plan, 20)
    assert first != measure(replace(plan, seed=2), 20)
