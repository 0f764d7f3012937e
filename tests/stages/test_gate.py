from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.records import Metric, Outcome, Score, ScoredSkill, Skill
from skillopt_exp.stages.gate import GateSettings, gate


def scored(text: str, *pairs: tuple[float, float]) -> ScoredSkill:
    return ScoredSkill(Skill(body=text), tuple(Score(hard, soft) for hard, soft in pairs), step=1)


@pytest.mark.parametrize(
    ("metric", "outcome"),
    [(Metric.hard, Outcome.rejected), (Metric.soft, Outcome.accepted), (Metric.mixed, Outcome.accepted)],
)
def test_the_metric_decides(metric: Metric, outcome: Outcome) -> None:
    current, candidate = scored("a", (0, 0.2), (1, 1)), scored("b", (0, 0.6), (1, 1))
    assert gate(candidate, current, GateSettings(metric)).outcome is outcome


def test_a_tie_is_rejected_by_score() -> None:
    verdict = gate(scored("b", (1, 1), (0, 0)), scored("a", (0, 0), (1, 1)), GateSettings(Metric.hard))
    assert str(verdict) == "rejected(by: score)"
    assert verdict.margin == 0


def test_the_same_text_is_unchanged() -> None:
    assert (
        gate(scored("a", (1, 1)), scored("a", (0, 0)), GateSettings(Metric.hard)).outcome is Outcome.unchanged
    )


def test_skills_scored_on_different_items_are_never_compared() -> None:
    with pytest.raises(ValueError, match="zip"):
        gate(scored("b", (1, 1)), scored("a", (1, 1), (0, 0)), GateSettings(Metric.hard))


fractions = st.floats(0, 1)


@given(st.lists(st.tuples(fractions, fractions), min_size=1, max_size=40))
def test_the_sum_is_exact(pairs: list[tuple[float, float]]) -> None:
    candidate = scored("b", *((0, new) for new, _ in pairs))
    current = scored("a", *((0, old) for _, old in pairs))
    exact = sum((Fraction(new) - Fraction(old) for new, old in pairs), Fraction(0))
    accepted = gate(candidate, current, GateSettings(Metric.soft)).outcome is Outcome.accepted
    assert accepted is (exact > 0)
