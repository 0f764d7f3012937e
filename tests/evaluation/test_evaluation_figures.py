"""Figures on small data, worked by hand, and what must hold for all."""

import pytest
from evaluation.benches import attempts, faulty
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.evaluation.figures import difference
from skillopt_exp.evaluation.table import conclusion
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.ledger import SettledCall
from skillopt_exp.llm.listening import a_call
from skillopt_exp.records import ACall, Evidence, Fault, Role
from skillopt_exp.stats import standing

PAIR = ("b", "a")

pairs = st.lists(
    st.tuples(
        st.sampled_from([0.0, 1.0]),
        st.sampled_from([0.0, 1.0]),
        st.floats(0, 1).map(lambda part: round(part, 3)),
        st.floats(0, 1).map(lambda part: round(part, 3)),
    ),
    min_size=1,
    max_size=12,
)


def test_seven_of_ten_solved_has_the_interval_of_the_textbook() -> None:
    found = standing(attempts([1.0] * 7 + [0.0] * 3, [1.0] * 7 + [0.5] * 3))
    assert (found.num_items, found.hard) == (10, 0.7)
    assert found.soft == pytest.approx(0.85)
    assert found.hard_interval is not None
    assert found.hard_interval.low == pytest.approx(0.3968, abs=1e-4)
    assert found.hard_interval.high == pytest.approx(0.8922, abs=1e-4)
    assert found.soft_interval is not None
    assert 0.7 <= found.soft_interval.low < 0.85 < found.soft_interval.high <= 1.0


def test_one_item_has_an_interval_for_its_rate_and_none_for_its_mean() -> None:
    found = standing(attempts([1.0]))
    assert found.hard_interval is not None
    assert found.hard_interval.low == pytest.approx(0.2065, abs=1e-4)
    assert found.soft_interval is None


def test_parts_of_an_item_are_no_rate() -> None:
    found = standing(attempts([0.5, 1.0, 0.0, 0.5]))
    assert found.hard == 0.5
    assert found.hard_interval is not None
    assert found.hard_interval.low < 0.5 < found.hard_interval.high


def test_faults_are_counted_apart_and_score_nothing() -> None:
    lines = (*attempts([1.0]), faulty(1, Fault.truncated), faulty(2, Fault.empty), faulty(3, Fault.truncated))
    found = standing(lines)
    assert found.hard == 0.25
    assert found.faults == {"empty": 1, "truncated": 2}
    assert found.num_faults == 3


def test_a_skill_without_attempts_has_no_standing() -> None:
    with pytest.raises(ValueError, match="no standing"):
        standing(())


def test_a_difference_names_the_items_that_make_it() -> None:
    #                 both  won  won  lost neither
    after = attempts([1.0, 1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0, 0.5])
    before = attempts([1.0, 0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.5, 1.0, 0.0])
    found = difference(PAIR, after, before)
    assert (found.won, found.lost) == (("i1", "i2"), ("i3",))
    assert (found.tied_solved, found.tied_unsolved) == (("i0",), ("i4",))
    assert found.gain.hard == pytest.approx(0.2)
    assert found.gain.soft == pytest.approx((1.0 + 0.5 - 1.0 + 0.5) / 5)
    assert found.gain.hard_p == 1.0, "two of three tosses, or one, is what a fair coin does"
    assert found.gain.evidence is Evidence.underpowered
    assert (found.num_items, found.num_tied) == (5, 2)


def test_six_won_and_none_lost_is_clear() -> None:
    found = difference(PAIR, attempts([1.0] * 8), attempts([0.0] * 6 + [1.0] * 2))
    assert found.gain.hard_p == pytest.approx(2 / 2**6)
    assert found.gain.evidence is Evidence.clear
    assert conclusion(found.gain) == "b is clearly better than a"
    back = difference(PAIR, attempts([0.0] * 6 + [1.0] * 2), attempts([1.0] * 8))
    assert conclusion(back.gain) == "a is clearly better than b"


def test_many_items_without_a_difference_are_noise_and_few_are_too_few() -> None:
    many = difference(PAIR, attempts([1.0] * 100), attempts([1.0] * 100))
    assert conclusion(many.gain) == "no clear difference: within noise"
    few = difference(PAIR, attempts([1.0] * 20), attempts([1.0] * 20))
    assert conclusion(few.gain) == "no clear difference: too few items to tell"


@pytest.mark.parametrize("before", [(), attempts([1.0]), tuple(reversed(attempts([1.0, 0.0])))])
def test_other_items_are_not_compared(before: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match="same items"):
        difference(PAIR, attempts([1.0, 0.0]), before)  # type: ignore[arg-type]


@given(pairs)
def test_every_item_is_won_lost_or_tied_and_the_reverse_is_the_negative(
    rows: list[tuple[float, float, float, float]],
) -> None:
    new_hard, old_hard, new_soft, old_soft = zip(*rows, strict=True)
    after, before = attempts(new_hard, new_soft), attempts(old_hard, old_soft)
    found, back = difference(PAIR, after, before), difference(PAIR, before, after)
    ids = [*found.won, *found.lost, *found.tied_solved, *found.tied_unsolved]
    assert sorted(ids) == sorted(each.id for each in after)
    assert found.gain.hard == pytest.approx((len(found.won) - len(found.lost)) / len(rows))
    assert (found.won, found.lost, found.gain.hard_p) == (back.lost, back.won, back.gain.hard_p)
    assert found.gain.hard == pytest.approx(-back.gain.hard)
    assert found.gain.soft == pytest.approx(-back.gain.soft)
    assert found.gain.evidence is back.gain.evidence


def settled(
    input_tokens: int | None,
    output_tokens: int | None,
    *,
    reused: bool = False,
    seconds: float | None = None,
) -> SettledCall:
    return SettledCall(
        at=0.0,
        key="k",
        role=Role.target,
        stage=Stage.test,
        host="h",
        asked="m",
        answered="m",
        finish_reason="stop",
        attempt=1,
        reused=reused,
        input_tokens=input_tokens,
        cached_tokens=None,
        output_tokens=output_tokens,
        reasoning_tokens=None,
        seconds=seconds,
    )


def test_tokens_a_call_are_means_over_paid_and_reused_calls() -> None:
    found = a_call([settled(10, 1), settled(20, 2, reused=True), settled(30, 0)])
    assert found == ACall(3, 20.0, 1.0)


def test_tokens_that_one_call_did_not_report_are_unknown() -> None:
    found = a_call([settled(10, None), settled(20, 2)])
    assert found == ACall(2, 15.0, None)
    assert a_call([]) == ACall(0, None, None)
    assert found.minus(ACall(9, 5.0, 1.0)) == ACall(2, 10.0, None)


def test_zero_tokens_are_known() -> None:
    assert a_call([settled(0, 0)]) == ACall(1, 0.0, 0.0)


def test_a_call_takes_the_median_of_the_seconds_that_were_waited_for() -> None:
    calls = [settled(1, 1, seconds=each) for each in (2.0, 9.0, 1.0)] + [settled(1, 1, reused=True)]
    assert a_call(calls).seconds == 2.0
    assert a_call(calls[3:]).seconds is None, "nobody waited for a reused answer"
    assert a_call(calls).minus(ACall(1, 1.0, 1.0, 0.5)).seconds == 1.5
    assert a_call(calls).minus(ACall(1, 1.0, 1.0)).seconds is None
