"""The simulation decides as the gate does, row by row."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.records import Metric, Outcome, Score, ScoredSkill, Skill
from skillopt_exp.selftest.answers import EIGHTHS, SCORES, Grades
from skillopt_exp.selftest.deciding import Bench, sums_suffice
from skillopt_exp.stages.gate import GateSettings, gate, p_value
from skillopt_exp.stats.criterion import Criterion, GateRule

criteria = st.one_of(
    st.just(Criterion()),
    st.just(Criterion(GateRule.accept_all)),
    st.floats(0, 0.5).map(lambda margin: Criterion(GateRule.margin, margin=margin)),
    st.floats(0.001, 0.49).map(lambda alpha: Criterion(GateRule.significant, alpha=alpha)),
    st.integers(0, 4).map(lambda most: Criterion(no_regression=most)),
    st.integers(0, 4).map(lambda most: Criterion(GateRule.significant, alpha=0.3, no_regression=most)),
)


def scored(text: str, grades: list[int], step: int) -> ScoredSkill:
    """The skill that a run would have made of these answers: solved, or so many quarters right."""
    scores = [Score(1.0, 1.0) if grade == 4 else Score(0.0, grade / 4) for grade in grades]
    return ScoredSkill(Skill(body=text), tuple(scores), step)


def drawn(seed: int, num_runs: int, num_items: int, metric: Metric) -> tuple[Grades, Grades]:
    generator = np.random.default_rng(seed)
    grades = [0, 4] if metric is Metric.hard else [0, 1, 2, 3, 4]
    candidate, current = generator.choice(np.array(grades, dtype=np.int8), (2, num_runs, num_items))
    return candidate, current


@settings(max_examples=60, deadline=None)
@given(criteria, st.sampled_from(Metric), st.integers(1, 40), st.integers(0, 1000), st.integers(1, 5))
def test_each_row_is_accepted_when_the_gate_accepts_it(
    criterion: Criterion, metric: Metric, num_items: int, seed: int, step: int
) -> None:
    candidate, current = drawn(seed, 25, num_items, metric)
    bench = Bench(GateSettings(metric, criterion))
    for _ in range(2):  # the second time from memory
        accepted = bench.accepted(candidate, current, step=step)
        for row, (new, old) in enumerate(zip(candidate.tolist(), current.tolist(), strict=True)):
            of_this_run = GateSettings(metric, criterion, seed=row)
            verdict = gate(scored("b", new, step), scored("a", old, step), of_this_run)
            assert accepted[row] == (verdict.outcome is Outcome.accepted)


def test_each_run_draws_sign_patterns_of_its_own() -> None:
    candidate, current = drawn(1, 1, 60, Metric.soft)
    settings = GateSettings(Metric.soft)
    new, old = scored("b", candidate[0].tolist(), 1), scored("a", current[0].tolist(), 1)
    p_values = [p_value(new, old, replace(settings, seed=row)) for row in range(12)]
    border = sorted(p_values)[6]  # half of the runs are over it
    bench = Bench(GateSettings(Metric.soft, Criterion(GateRule.significant, alpha=border)))
    accepted = bench.accepted(candidate.repeat(12, axis=0), current.repeat(12, axis=0), step=1)
    assert accepted.tolist() == [p <= border for p in p_values]
    assert not accepted.all()


@pytest.mark.parametrize("metric", list(Metric))
def test_grades_in_eighths_are_the_scores(metric: Metric) -> None:
    assert [eighths / 8 for eighths in EIGHTHS[metric].tolist()] == [score.value(metric) for score in SCORES]


def test_only_the_sign_flip_test_looks_at_each_difference() -> None:
    slow = [
        (metric, rule)
        for metric in Metric
        for rule in GateRule
        if not sums_suffice(GateSettings(metric, Criterion(rule)))
    ]
    assert slow == [(Metric.soft, GateRule.significant), (Metric.mixed, GateRule.significant)]
