from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from skillopt_exp.stats import binomial_tail, mcnemar, paired, sign_flip, two_sided, wilson

quarters = st.integers(-4, 4).map(lambda grade: grade / 4)
fractions = st.floats(-1, 1)


@pytest.mark.parametrize(
    ("wins", "tosses", "p"),
    [(0, 0, 1.0), (0, 3, 1.0), (5, 5, 1 / 32), (4, 5, 6 / 32), (6, 6, 1 / 64), (2, 3, 0.5)],
)
def test_a_tail_of_coin_tosses_is_what_one_counts_by_hand(wins: int, tosses: int, p: float) -> None:
    assert binomial_tail(wins, tosses) == p


@given(st.integers(0, 400), st.integers(0, 400))
def test_a_tail_of_coin_tosses_agrees_with_scipy(wins: int, losses: int) -> None:
    expected = float(binom.sf(wins - 1, wins + losses, 0.5))
    assert binomial_tail(wins, wins + losses) == pytest.approx(expected, rel=1e-9, abs=1e-300)


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 20))
def test_on_hard_scores_the_sign_flip_test_is_mcnemars_exact_one(wins: int, losses: int, ties: int) -> None:
    deltas = [1.0] * wins + [-1.0] * losses + [0.0] * ties
    expected = binomtest(wins, wins + losses, 0.5, alternative="greater").pvalue if wins + losses else 1.0
    assert sign_flip(deltas, (0, 1)) == pytest.approx(expected, rel=1e-9)


@given(st.lists(st.one_of(quarters, fractions), max_size=10))
def test_up_to_twenty_differences_every_pattern_of_signs_is_counted(deltas: list[float]) -> None:
    nonzero = [delta for delta in deltas if delta != 0]
    observed = sum(nonzero)
    patterns = [
        sum(sign * abs(delta) for sign, delta in zip(signs, nonzero, strict=True))
        for signs in product((1, -1), repeat=len(nonzero))
    ]
    strictly = sum(total >= observed + 1e-8 for total in patterns) / len(patterns)
    loosely = sum(total >= observed - 1e-8 for total in patterns) / len(patterns)
    assert strictly <= sign_flip(deltas, (0, 1)) <= loosely
    assert sign_flip(deltas, (0, 1)) >= 1 / len(patterns), "the observed pattern is one of them"


def test_a_worked_enumeration() -> None:
    # 3/4 + 1/2 - 1/4 = 1. Of the eight sign patterns, +++ (1.5) and ++- (1.0) reach it.
    assert sign_flip([0.75, 0.5, -0.25, 0.0], (0, 1)) == 2 / 8


def test_rounding_makes_no_tie_into_a_difference() -> None:
    # In floats 0.1 + 0.2 exceeds 0.3; in the mind it does not: three of the eight patterns tie or beat.
    deltas = [0.3, -0.1, 0.2 + 0.1 - 0.3 + 0.2]
    assert sign_flip(deltas, (0, 1)) == sign_flip([0.3, -0.1, 0.2], (0, 1)) == 2 / 8


@settings(max_examples=20)
@given(st.lists(quarters, min_size=30, max_size=80), st.integers(-3, 10), st.integers(1, 9))
def test_beyond_twenty_the_drawn_patterns_come_close_and_depend_on_seed_and_step(
    deltas: list[float], seed: int, step: int
) -> None:
    found = sign_flip(deltas, (seed, step))
    assert found == sign_flip(deltas, (seed, step))
    # Differences in quarters have whole sums: the whole distribution can be added up.
    chances = {0: 1.0}
    for delta in deltas:
        size, spread = round(4 * abs(delta)), dict[int, float]()
        for total, chance in chances.items():
            for end in (total - size, total + size):
                spread[end] = spread.get(end, 0.0) + chance / 2
        chances = spread
    exact = sum(chance for total, chance in chances.items() if total >= round(4 * sum(deltas)))
    assert found == pytest.approx(exact, abs=4.5 * (0.25 / paired.NUM_FLIPS) ** 0.5 + 1e-4)


def test_other_seeds_and_steps_draw_other_patterns() -> None:
    deltas = [(-1) ** (i % 3) * (1 + i % 4) / 4 for i in range(50)]
    drawn = {sign_flip(deltas, (seed, step)) for seed in (1, 2) for step in (1, 2, 3)}
    assert len(drawn) > 3


def test_a_drawn_p_value_is_never_zero() -> None:
    assert sign_flip([(1 + i % 2) / 2 for i in range(100)], (0, 1)) == 1 / (1 + paired.NUM_FLIPS)


@settings(max_examples=60)
@given(st.lists(quarters, min_size=1, max_size=16), st.data())
def test_a_better_item_never_makes_a_gain_look_more_like_luck(
    deltas: list[float], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(deltas) - 1))
    better = list(deltas)
    better[place] = data.draw(st.sampled_from([step / 4 for step in range(round(4 * deltas[place]), 5)]))
    assert sign_flip(better, (0, 1)) <= sign_flip(deltas, (0, 1))


@settings(max_examples=20)
@given(st.lists(quarters.filter(bool), min_size=40, max_size=60), st.data())
def test_a_better_item_never_does_so_among_drawn_patterns(deltas: list[float], data: st.DataObject) -> None:
    mixed = [0.25, 0.5, *deltas]  # sizes that differ, whatever was generated
    place = data.draw(st.integers(2, len(mixed) - 1))
    better = list(mixed)
    better[place] = data.draw(st.sampled_from([step / 4 for step in range(round(4 * mixed[place]), 5)]))
    assert sign_flip(better, (5, 1)) <= sign_flip(mixed, (5, 1))


@given(st.integers(1, 300), st.data())
def test_the_wilson_interval_agrees_with_scipy(num_items: int, data: st.DataObject) -> None:
    solved = data.draw(st.integers(0, num_items))
    expected = binomtest(solved, num_items).proportion_ci(confidence_level=0.95, method="wilson")
    interval = wilson(solved, num_items)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert 0 <= interval.low <= interval.value == solved / num_items <= interval.high <= 1


def test_a_worked_wilson_interval_and_its_borders() -> None:
    interval = wilson(8, 10)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) is None
    with pytest.raises(ValueError, match="3 of 2"):
        wilson(3, 2)


@given(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=60))
def test_differences_of_one_size_are_mcnemar_s_on_both_sides(deltas: list[float]) -> None:
    assert two_sided(deltas) == mcnemar(deltas.count(1.0), deltas.count(-1.0))
    assert two_sided([delta / 3 for delta in deltas]) == two_sided(deltas), "the unit plays no part"


@given(st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), max_size=14))
def test_both_sides_are_twice_the_smaller_one_and_never_above_one(deltas: list[float]) -> None:
    turned = [-delta for delta in deltas]
    assert two_sided(deltas) == two_sided(turned)
    assert 0 < two_sided(deltas) <= 1
    if len({abs(delta) for delta in deltas if delta}) > 1:
        smaller = min(sign_flip(deltas, (0,)), sign_flip(turned, (0,)))
        assert two_sided(deltas) == min(1.0, 2 * smaller)
