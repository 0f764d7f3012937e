from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.stats import binomial_tail
from skillopt_exp.stats.criterion import AlphaPer, Criterion, GateRule, alpha_of_one
from skillopt_exp.stats.power import POWER, Answers, accept_probability, smallest_gain, wins_needed

STRICT = Criterion()
SIGNIFICANT = Criterion(GateRule.significant, alpha=0.05)

criteria = st.one_of(
    st.just(STRICT),
    st.floats(0, 0.5).map(lambda margin: Criterion(GateRule.margin, margin=margin)),
    st.floats(0.001, 0.49).map(lambda alpha: Criterion(GateRule.significant, alpha=alpha)),
    st.integers(0, 5).map(lambda most: Criterion(no_regression=most)),
    st.just(Criterion(GateRule.accept_all)),
)


def by_hand(criterion: Criterion, num_items: int, win: float, loss: float) -> float:
    """The probability that a comparison is accepted, added up over all counts of wins and losses."""
    total = 0.0
    for wins in range(num_items + 1):
        for losses in range(num_items - wins + 1):
            tail = binomial_tail(wins, wins + losses)
            if criterion.holds(wins - losses, num_items, lambda tail=tail: tail) and not criterion.regresses(
                losses
            ):  # type: ignore[misc]
                ties = num_items - wins - losses
                ways = comb(num_items, wins) * comb(num_items - wins, losses)
                total += ways * win**wins * loss**losses * (1 - win - loss) ** ties
    return total


@settings(max_examples=50, deadline=None)
@given(criteria, st.integers(1, 25), st.floats(0.05, 0.9), st.floats(0, 1), st.floats(0, 1))
def test_the_power_is_the_sum_over_all_counts(
    criterion: Criterion, num_items: int, baseline: float, alike: float, part: float
) -> None:
    answers = Answers(baseline, alike * 2 * baseline * (1 - baseline))
    gain = part * (1 - baseline)
    win, loss = answers.discordant(gain)
    expected = by_hand(criterion, num_items, win, loss)
    assert accept_probability(criterion, num_items, answers, gain) == pytest.approx(expected, abs=1e-9)


@given(st.floats(0.01, 0.99), st.floats(0, 1), st.floats(0, 1))
def test_wins_less_losses_are_the_gain(baseline: float, alike: float, part: float) -> None:
    answers = Answers(baseline, alike * 2 * baseline * (1 - baseline))
    gain = part * (1 - baseline)
    win, loss = answers.discordant(gain)
    assert win - loss == pytest.approx(gain, abs=1e-12)
    assert win >= 0
    assert loss >= -1e-15
    assert win + loss <= 1 + 1e-12
    assert sum(answers.discordant(0)) == pytest.approx(alike * answers.most_churn)


@pytest.mark.parametrize("baseline", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("churn_part", [0.1, 0.5, 1.0])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_significant_keeps_its_level_at_every_size_from_10_to_500(
    baseline: float, churn_part: float, alpha: float
) -> None:
    answers = Answers(baseline, churn_part * 2 * baseline * (1 - baseline))
    criterion = Criterion(GateRule.significant, alpha=alpha)
    for num_items in [*range(10, 60, 7), *range(60, 501, 55), 500]:
        assert accept_probability(criterion, num_items, answers, 0.0) <= alpha


def test_strict_accepts_by_luck_what_is_not_a_tie_half_of_the_time() -> None:
    for num_items in (10, 30, 100):
        tie = sum(
            comb(num_items, k) * comb(num_items - k, k) * 0.25 ** (2 * k) * 0.5 ** (num_items - 2 * k)
            for k in range(num_items // 2 + 1)
        )
        found = accept_probability(STRICT, num_items, Answers(0.5), 0.0)
        assert found == pytest.approx((1 - tie) / 2, abs=1e-9)


@pytest.mark.parametrize(
    ("criterion", "num_items", "losses", "wins"),
    [
        (STRICT, 30, 0, 1),
        (STRICT, 30, 4, 5),
        (SIGNIFICANT, 30, 0, 5),  # 1/32 is under 0.05, 1/16 is not
        (SIGNIFICANT, 30, 1, 7),  # 9/256 is under 0.05; 8/128 is not
        (SIGNIFICANT, 4, 0, None),
        (Criterion(GateRule.significant, alpha=1 / 32), 30, 0, 5),  # equal is enough
        (Criterion(GateRule.margin, margin=0.1), 30, 0, 4),  # 3 of 30 is not above 0.1
        (Criterion(no_regression=2), 30, 3, None),
        (Criterion(GateRule.accept_all), 30, 5, 0),
    ],
)
def test_the_wins_needed_are_those_that_one_finds_by_hand(
    criterion: Criterion, num_items: int, losses: int, wins: int | None
) -> None:
    assert wins_needed(criterion, num_items, losses=losses) == wins


@settings(max_examples=30, deadline=None)
@given(criteria, st.integers(5, 80), st.floats(0.1, 0.9))
def test_the_smallest_gain_is_seen_and_a_smaller_one_is_not(
    criterion: Criterion, num_items: int, baseline: float
) -> None:
    answers = Answers(baseline)
    found = smallest_gain(criterion, num_items, answers)
    if found is None:
        assert accept_probability(criterion, num_items, answers, 1 - baseline - 1e-3) < POWER
    else:
        assert accept_probability(criterion, num_items, answers, found) >= POWER - 1e-9
        if found > 0.001:
            assert accept_probability(criterion, num_items, answers, found - 0.001) < POWER


def test_the_smallest_gain_is_near_the_normal_approximation() -> None:
    # (1.645 + 0.842) * sqrt(d / n), d half of the items where all are alike and half are solved
    found = smallest_gain(SIGNIFICANT, 1000, Answers(0.5))
    assert found == pytest.approx((1.645 + 0.842) * np.sqrt(0.5 / 1000), abs=0.003)


def test_answers_that_never_change_lose_nothing() -> None:
    steady = Answers(0.5, churn=0.0)
    assert steady.discordant(0.2) == (0.2, 0.0)
    assert accept_probability(STRICT, 30, steady, 0.0) == 0.0


def test_a_churn_that_the_baseline_does_not_allow_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"the churn is 0\.4; where 0\.2 of the items are solved, give 0 to 0\.32"
    ):
        Answers(0.2, churn=0.4)
    with pytest.raises(ValueError, match=r"the baseline is 2"):
        Answers(2.0)


def test_a_run_shares_its_alpha_among_its_comparisons() -> None:
    assert alpha_of_one(0.05, AlphaPer.comparison, 45) == 0.05
    assert alpha_of_one(0.05, AlphaPer.run, 45) == pytest.approx(0.05 / 45)
    assert alpha_of_one(0.05, AlphaPer.run, 0) == 0.05, "a run without steps compares nothing"
