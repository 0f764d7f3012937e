import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.config.model import PriceConfig
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.bill import AtMost, Bill, bill_at_most, bill_of, is_free, prompt_at_most
from skillopt_exp.llm.ledger import SettledCall
from skillopt_exp.llm.meter import Meter
from skillopt_exp.records import Role

PLAIN = PriceConfig(input=0.15, cached_input=0.003, output=0.6)
BUSY = PriceConfig(
    input=0.15,
    cached_input=0.003,
    output=0.6,
    peak_hours=[[1, 4], [6, 10]],
    peak_input=0.3,
    peak_cached_input=0.006,
    peak_output=1.2,
)
TUESDAY_TWO_O_CLOCK, TUESDAY_NOON = 1796090400.0, 1796126400.0
USUAL = AtMost(1000, 100)


def call(
    input_tokens: int | None,
    output_tokens: int | None,
    cached_tokens: int | None = None,
    *,
    at: float = TUESDAY_NOON,
    reused: bool = False,
    at_most: AtMost = USUAL,
) -> SettledCall:
    return SettledCall(
        at=at, key="k", role=Role.target, stage=Stage.rollout, host="h", asked="m", answered="m",
        finish_reason="stop", attempt=1, reused=reused, input_tokens=input_tokens,
        cached_tokens=cached_tokens, output_tokens=output_tokens, reasoning_tokens=None, at_most=at_most,
    )  # fmt: skip


def test_no_prompt_has_more_tokens_than_bytes_and_what_surrounds_its_messages() -> None:
    assert prompt_at_most(["abc"]) == 3 + 128
    assert prompt_at_most(["é", "☃"]) == 2 + 3 + 2 * 128


def test_a_call_is_billed_by_what_was_reported() -> None:
    assert bill_of(PLAIN, call(1000, 100), unlimited_reply=0) == Bill(1, 1100, 150_000_000 + 60_000_000)


def test_cached_input_is_cheaper_once_its_price_is_known() -> None:
    assert bill_of(PLAIN, call(1000, 0, 400), unlimited_reply=0).picodollars == 600 * 150_000 + 400 * 3_000
    unknown = PriceConfig(input=0.15, output=0.6)
    assert bill_of(unknown, call(1000, 0, 400), unlimited_reply=0).picodollars == 1000 * 150_000


def test_what_was_not_reported_is_billed_at_the_most_that_it_can_be() -> None:
    assert bill_of(PLAIN, call(None, None), unlimited_reply=7).tokens == 1100
    assert bill_of(PLAIN, call(5, None), unlimited_reply=7).tokens == 105
    unlimited = call(None, None, at_most=AtMost(1000, None))
    assert bill_of(PLAIN, unlimited, unlimited_reply=7).tokens == 1007


def test_a_reused_answer_costs_nothing() -> None:
    assert bill_of(PLAIN, call(1000, 100, reused=True), unlimited_reply=7) == Bill()


def test_busy_hours_are_billed_when_they_are_and_set_aside_for_always() -> None:
    quiet, busy = (
        bill_of(BUSY, call(1000, 100, at=at), unlimited_reply=0).picodollars
        for at in (TUESDAY_NOON, TUESDAY_TWO_O_CLOCK)
    )
    assert busy == 2 * quiet
    assert bill_at_most(BUSY, AtMost(1000, 100), unlimited_reply=0).picodollars == busy


def test_free_is_what_costs_nothing_at_any_hour() -> None:
    free = PriceConfig(input=0.0, cached_input=0.0, output=0.0)
    assert is_free(free)
    assert not is_free(PriceConfig())
    assert not is_free(PriceConfig(input=0.0, output=0.0, peak_hours=[[1, 2]], peak_output=1.0))


prices = st.floats(0, 100).map(lambda value: round(value, 4))


@given(
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**5),
    share_cached=st.floats(0, 1),
    price=st.builds(PriceConfig, input=prices, cached_input=st.none() | prices, output=prices),
)
def test_the_bill_agrees_with_the_meter(
    input_tokens: int, output_tokens: int, share_cached: float, price: PriceConfig
) -> None:
    settled = call(input_tokens, output_tokens, int(input_tokens * share_cached))
    meter = Meter({role: price for role in Role})
    meter.record(settled)
    bill = bill_of(price, settled, unlimited_reply=0)
    assert bill.picodollars / 1e12 == pytest.approx(meter.total().cost_usd, rel=1e-9, abs=1e-12)


@given(
    most=st.builds(AtMost, st.integers(0, 10**6), st.integers(0, 10**5)),
    shares=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    price=st.sampled_from([PLAIN, BUSY]),
    at=st.floats(TUESDAY_TWO_O_CLOCK, TUESDAY_TWO_O_CLOCK + 7 * 86400),
)
def test_no_call_comes_to_more_than_was_set_aside(
    most: AtMost, shares: tuple[float, float], price: PriceConfig, at: float
) -> None:
    assert most.output is not None
    used = call(int(most.input * shares[0]), int(most.output * shares[1]), at=at, at_most=most)
    bill, aside = bill_of(price, used, unlimited_reply=0), bill_at_most(price, most, unlimited_reply=0)
    assert bill.tokens <= aside.tokens
    assert bill.picodollars <= aside.picodollars
