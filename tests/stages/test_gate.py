from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.records import Metric, Outcome, Score, ScoredSkill, Skill
from skillopt_exp.stages.gate import GateSettings, gain, gate, num_lost, p_value
from skillopt_exp.stats.criterion import Criterion, GateRule


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


def hard(text: str, solved: str) -> ScoredSkill:
    """A skill with one digit an item: 1 is solved."""
    return scored(text, *((float(digit), float(digit)) for digit in solved))


def verdict_of(before: str, after: str, criterion: Criterion) -> str:
    return str(gate(hard("b", after), hard("a", before), GateSettings(Metric.hard, criterion)))


@pytest.mark.parametrize(
    ("rule", "before", "after", "verdict"),
    [
        (Criterion(), "0000000000", "1000000000", "accepted"),
        (Criterion(), "0000000001", "1000000000", "rejected(by: score)"),
        # 0.1 of ten items is one item, and one is not above one
        (Criterion(GateRule.margin, margin=0.1), "0000000000", "1000000000", "rejected(by: score)"),
        (Criterion(GateRule.margin, margin=0.1), "0000000000", "1100000000", "accepted"),
        # one-sided McNemar: 5 won of 5 is 1/32, 4 of 4 is 1/16, 5 of 6 is 7/64
        (Criterion(GateRule.significant), "0000000000", "1111100000", "accepted"),
        (Criterion(GateRule.significant), "0000000000", "1111000000", "rejected(by: score)"),
        (Criterion(GateRule.significant), "0000000001", "1111100000", "rejected(by: score)"),
        (Criterion(GateRule.significant, alpha=0.2), "0000000001", "1111100000", "accepted"),
        (Criterion(GateRule.accept_all), "1111111111", "0000000000", "accepted"),
    ],
)
def test_the_rule_says_how_large_a_gain_must_be(
    rule: Criterion, before: str, after: str, verdict: str
) -> None:
    assert verdict_of(before, after, rule) == verdict


@pytest.mark.parametrize("margin", [0.1, 0.2, 0.3, 0.7, 0.29, 0.58])
def test_a_margin_is_the_number_that_was_written(margin: float) -> None:
    at_margin = round(100 * margin)  # 0.58 * 100 is 57.99999999999999 in floats: 58 would pass as above it
    rule = Criterion(GateRule.margin, margin=margin)
    assert verdict_of("0" * 100, "1" * at_margin + "0" * (100 - at_margin), rule) == "rejected(by: score)"
    assert verdict_of("0" * 100, "1" * (at_margin + 1) + "0" * (99 - at_margin), rule) == "accepted"


@pytest.mark.parametrize(
    ("allowed", "verdict"), [(0, "rejected(by: regression)"), (1, "accepted"), (2, "accepted")]
)
def test_a_rise_of_the_mean_can_be_refused_for_items_it_breaks(allowed: int, verdict: str) -> None:
    assert verdict_of("10000", "01110", Criterion(no_regression=allowed)) == verdict


def test_too_little_a_gain_is_named_before_a_regression() -> None:
    assert verdict_of("11000", "00100", Criterion(no_regression=0)) == "rejected(by: score)"


def test_of_several_attempts_an_item_is_lost_when_most_no_longer_solve_it() -> None:
    for before, after, lost in [("111", "110", 0), ("111", "100", 1), ("110", "100", 1), ("100", "000", 0)]:
        assert num_lost(attempted("b", after, 3), attempted("a", before, 3)) == lost
    assert num_lost(attempted("b", "10", 2), attempted("a", "11", 2)) == 1, "half is not most"


def attempted(text: str, solved: str, repeats: int) -> ScoredSkill:
    """A skill with one digit an attempt, ``repeats`` side by side for each item."""
    return replace(hard(text, solved), repeats=repeats)


@given(st.integers(1, 7), st.integers(1, 12), st.randoms(use_true_random=False))
def test_attempts_are_averaged_within_the_item_and_a_tie_is_a_tie(
    repeats: int, num_items: int, random: Random
) -> None:
    digits = [random.choice("01") for _ in range(repeats * num_items)]
    shuffled = random.sample(digits, len(digits))
    after, before = attempted("b", "".join(shuffled), repeats), attempted("a", "".join(digits), repeats)
    assert gain(after, before, Metric.hard) == 0, "thirds that add up to a whole are no gain"
    assert after.num_items == num_items
    assert after.mean(Metric.hard) == before.mean(Metric.hard) == digits.count("1") / len(digits)


def test_the_margin_counts_items_however_often_each_is_attempted() -> None:
    verdict = gate(attempted("b", "111100", 2), attempted("a", "100100", 2), GateSettings(Metric.hard))
    assert (verdict.margin, verdict.num_won, verdict.num_lost) == (1.0, 2, 0)


@given(st.integers(1, 3), st.lists(st.booleans(), min_size=1, max_size=12), st.data())
def test_with_several_attempts_the_item_is_the_unit_of_the_test(
    repeats: int, won: list[bool], data: st.DataObject
) -> None:
    """All attempts of an item agree, so more of them tell nothing new."""
    digits = "".join("1" if each else "0" for each in won)
    before = "".join(data.draw(st.sampled_from("01")) for _ in won)
    many, one = (
        p_value(
            attempted("b", "".join(digit * times for digit in digits), times),
            attempted("a", "".join(digit * times for digit in before), times),
            GateSettings(Metric.hard),
        )
        for times in (repeats, 1)
    )
    assert many == one


def test_partial_credit_is_no_whole_number() -> None:
    current, candidate = scored("a", (0, 0.5), (0, 0.5)), scored("b", (0, 0.75), (0, 0.5))
    verdict = gate(candidate, current, GateSettings(Metric.soft))
    assert verdict.outcome is Outcome.accepted
    assert verdict.margin == 0.25


def test_a_soft_gate_sees_on_six_items_what_a_hard_one_cannot() -> None:
    current, candidate = scored("a", *[(0, 0.2)] * 6), scored("b", *[(0, 0.8)] * 6)
    assert gate(candidate, current, GateSettings(Metric.hard)).outcome is Outcome.rejected
    for metric in (Metric.soft, Metric.mixed):
        significant = GateSettings(metric, Criterion(GateRule.significant))
        assert gate(candidate, current, significant).outcome is Outcome.accepted
        assert p_value(candidate, current, significant) == 1 / 64


@pytest.mark.parametrize("rule", list(GateRule))
def test_a_copy_is_unchanged_under_any_rule_however_its_answers_fell_out(rule: GateRule) -> None:
    settings = GateSettings(Metric.hard, Criterion(rule, no_regression=0))
    for scores in ("1111111111", "0000000000"):
        assert str(gate(hard("a", scores), hard("a", "0101010101"), settings)) == "unchanged"


def test_the_step_and_the_seed_choose_the_drawn_sign_patterns() -> None:
    grades = [(0.0, (i % 4) / 4) for i in range(60)]
    current, candidate = scored("a", *grades), scored("b", *grades[1:], grades[0])
    found = {
        p_value(replace(candidate, step=step), current, GateSettings(Metric.soft, seed=seed))
        for seed in (1, 2)
        for step in (1, 2)
    }
    assert len(found) > 1


def test_the_gate_draws_by_the_step_of_its_candidate() -> None:
    grades = [(0.0, (i % 4) / 4) for i in range(60)]
    current, candidate = scored("a", *grades), scored("b", *grades[1:], (0.0, 1.0))
    settings = GateSettings(Metric.soft)
    drawn = [p_value(replace(candidate, step=step), current, settings) for step in range(1, 9)]
    border = GateSettings(Metric.soft, Criterion(GateRule.significant, alpha=sorted(drawn)[3]))
    verdicts = [gate(replace(candidate, step=step), current, border).outcome for step in range(1, 9)]
    assert [outcome is Outcome.accepted for outcome in verdicts] == [p <= sorted(drawn)[3] for p in drawn]
    assert len(set(verdicts)) == 2


criteria = st.one_of(
    st.just(Criterion()),
    st.floats(0, 0.5).map(lambda margin: Criterion(GateRule.margin, margin=margin)),
    st.floats(0.001, 0.49).map(lambda alpha: Criterion(GateRule.significant, alpha=alpha)),
    st.integers(0, 3).map(lambda most: Criterion(no_regression=most)),
)
graded = st.sampled_from([(0.0, 0.0), (0.0, 0.25), (0.0, 0.5), (0.0, 0.75), (1.0, 1.0)])


@given(
    criteria, st.sampled_from(Metric), st.lists(st.tuples(graded, graded), min_size=1, max_size=15), st.data()
)
def test_an_item_that_goes_better_never_turns_an_acceptance_into_a_rejection(
    criterion: Criterion, metric: Metric, pairs: list[tuple[tuple[float, float], ...]], data: st.DataObject
) -> None:
    settings = GateSettings(metric, criterion)
    current, candidate = scored("a", *(old for old, _ in pairs)), scored("b", *(new for _, new in pairs))
    place = data.draw(st.integers(0, len(pairs) - 1))
    raised = [new for _, new in pairs]
    raised[place] = data.draw(graded.filter(lambda grade: grade >= raised[place]))
    if gate(candidate, current, settings).outcome is Outcome.accepted:
        assert gate(scored("b", *raised), current, settings).outcome is Outcome.accepted


@given(criteria, st.sampled_from(Metric), st.lists(st.tuples(graded, graded), min_size=1, max_size=60))
def test_what_is_accepted_has_gained(
    criterion: Criterion, metric: Metric, pairs: list[tuple[tuple[float, float], ...]]
) -> None:
    current, candidate = scored("a", *(old for old, _ in pairs)), scored("b", *(new for _, new in pairs))
    verdict = gate(candidate, current, GateSettings(metric, criterion))
    assert verdict.margin == gain(candidate, current, metric)
    if verdict.outcome is Outcome.accepted:
        assert verdict.margin > 0, "only accept_all keeps what did not gain"


def test_a_gate_says_in_words_what_it_lets_through() -> None:
    words = {
        rule: str(GateSettings(Metric.soft, Criterion(rule, margin=0.02, alpha=0.05))) for rule in GateRule
    }
    assert (
        words[GateRule.strict] == "any gain on val in soft scores is accepted; it steers, it claims nothing"
    )
    assert "more than 2 points in soft scores" in words[GateRule.margin]
    assert "at most 5 % of comparisons" in words[GateRule.significant]
    assert "every candidate is accepted" in words[GateRule.accept_all]
    assert str(GateSettings(Metric.hard, Criterion(no_regression=3))).endswith(
        "at most 3 val items that were solved may be lost"
    )
