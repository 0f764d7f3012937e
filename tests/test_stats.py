import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from skillopt_exp.records import Evidence
from skillopt_exp.stats import detectable_gain, differences, evidence, mcnemar, paired_interval


@pytest.mark.parametrize(("wins", "losses", "p"), [(0, 0, 1.0), (5, 0, 0.0625), (6, 0, 0.03125), (3, 3, 1.0)])
def test_mcnemar_is_a_fair_coin_on_the_discordant_items(wins: int, losses: int, p: float) -> None:
    assert mcnemar(wins, losses) == pytest.approx(p)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_agrees_with_scipy_and_is_symmetric(wins: int, losses: int) -> None:
    if wins + losses:
        assert mcnemar(wins, losses) == binomtest(wins, wins + losses, 0.5).pvalue
    assert mcnemar(wins, losses) == mcnemar(losses, wins)


def test_an_interval_needs_two_items() -> None:
    assert paired_interval([]) is None
    assert paired_interval([1.0]) is None


def test_equal_differences_have_no_spread() -> None:
    interval = paired_interval([0.0] * 10)
    assert interval is not None
    assert (interval.low, interval.value, interval.high) == (0.0, 0.0, 0.0)


def test_the_interval_is_close_to_the_normal_one_and_repeats() -> None:
    deltas = [1.0] * 60 + [-1.0] * 20 + [0.0] * 320
    interval = paired_interval(deltas)
    assert interval is not None
    assert interval == paired_interval(deltas)
    assert interval.value == pytest.approx(0.1)
    half = 1.96 * (0.19 / 400) ** 0.5  # variance of the differences: 80/400 - 0.1 ** 2
    assert interval.low == pytest.approx(0.1 - half, abs=0.005)
    assert interval.high == pytest.approx(0.1 + half, abs=0.005)


@pytest.mark.parametrize(
    ("wins", "losses", "ties", "expected"),
    [
        (50, 5, 645, Evidence.clear),
        (5, 50, 645, Evidence.clear),
        (20, 18, 662, Evidence.within_noise),
        (3, 1, 26, Evidence.underpowered),
        (0, 0, 3, Evidence.underpowered),
        (0, 0, 700, Evidence.within_noise),
    ],
)
def test_evidence_tells_noise_from_too_few_items(
    wins: int, losses: int, ties: int, expected: Evidence
) -> None:
    assert evidence([1.0] * wins + [-1.0] * losses + [0.0] * ties) is expected


def test_the_detectable_gain_shrinks_with_the_root_of_the_items() -> None:
    assert detectable_gain(400, 0.2) == pytest.approx(detectable_gain(100, 0.2) / 2)
    assert detectable_gain(100, 0.2) == pytest.approx(2.802 * 0.2**0.5 / 10)


def test_differences_of_unequal_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="zip"):
        differences([1.0], [1.0, 0.0])
