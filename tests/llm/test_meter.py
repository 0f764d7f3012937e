import random
from dataclasses import replace

import pytest

from skillopt_exp.config.model import PriceConfig
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.bill import AtMost
from skillopt_exp.llm.ledger import FailedCall, SentCall, SettledCall
from skillopt_exp.llm.meter import Meter, added
from skillopt_exp.llm.reply import CallUsage
from skillopt_exp.records import Role, Spent, Usage

NOTHING_SAID = CallUsage()
OFF_PEAK, PEAK = 1_793_059_200.0, 1_793_066_400.0
"""Tuesday, 27 October 2026, 00:00 and 02:00 UTC."""
PRICE = PriceConfig(date="2026-10-27", input=1.0, cached_input=0.1, output=2.0)


def meter(target: PriceConfig = PRICE, optimizer: PriceConfig = PRICE) -> Meter:
    return Meter({Role.target: target, Role.optimizer: optimizer})


def call(
    role: Role = Role.target,
    stage: Stage = Stage.rollout,
    usage: CallUsage = NOTHING_SAID,
    *,
    answered: str = "m",
    reused: bool = False,
    at: float = OFF_PEAK,
) -> SettledCall:
    return SettledCall(
        at=at,
        key="k",
        role=role,
        stage=stage,
        host="h",
        asked="m",
        answered=answered,
        finish_reason="stop",
        attempt=1,
        reused=reused,
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def test_cost_counts_cached_input_apart() -> None:
    account = meter()
    account.record(call(Role.target, Stage.rollout, CallUsage(1_000_000, 400_000, 500_000, 0)))
    assert account.usage(Role.target, Stage.rollout).cost_usd == pytest.approx(0.6 + 0.04 + 1.0)


def test_a_stage_without_calls_has_used_nothing() -> None:
    assert meter().usage(Role.target, Stage.test) == Usage()
    assert meter().by_stage() == {}
    assert meter().total() == Usage()


def test_an_unknown_price_is_not_free_and_a_price_of_zero_is() -> None:
    account = meter(target=PriceConfig(), optimizer=PriceConfig(input=0.0, cached_input=0.0, output=0.0))
    for role in Role:
        account.record(call(role, Stage.rollout, CallUsage(10, 0, 10, 0)))
    assert account.usage(Role.target, Stage.rollout).cost_usd is None
    assert account.usage(Role.optimizer, Stage.rollout).cost_usd == 0.0
    assert account.total().cost_usd is None


def test_cached_input_without_a_price_costs_what_input_costs() -> None:
    account = meter(target=PriceConfig(input=1.0, output=1.0))
    account.record(call(Role.target, Stage.rollout, CallUsage(10, None, 10, None)))
    account.record(call(Role.target, Stage.test, CallUsage(10, 5, 10, None)))
    assert account.usage(Role.target, Stage.rollout).cost_usd == pytest.approx(20e-6)
    assert account.usage(Role.target, Stage.test).cost_usd == pytest.approx(20e-6)


def test_one_call_without_usage_makes_the_sums_unknown_and_the_calls_stay_counted() -> None:
    account = meter()
    account.record(call(Role.target, Stage.rollout, CallUsage(10, 0, 10, 0)))
    account.record(call())
    account.record(call(Role.target, Stage.test, CallUsage(7, 0, 1, 0)))
    assert account.usage(Role.target, Stage.rollout) == Usage(2, 0, None, None, None, None, None)
    assert account.usage(Role.target, Stage.test).input_tokens == 7
    assert account.total() == Usage(3, 0, None, None, None, None, None)


def test_totals_do_not_depend_on_the_order_of_answers() -> None:
    calls = [
        (role, stage, CallUsage(n * 7, n, n * 3, n)) for role in Role for stage in Stage for n in range(9)
    ]
    totals = set()
    for seed in range(5):
        account = meter()
        for role, stage, usage in random.Random(seed).sample(calls, len(calls)):
            account.record(call(role, stage, usage))
        totals.add((account.total(), tuple(account.by_stage().items())))
    assert len(totals) == 1
    assert account.total().calls == len(calls)
    assert list(account.by_stage())[:2] == ["target/rollout", "target/selection"]


def test_the_models_that_answered_are_named_most_frequent_first() -> None:
    account = meter()
    for model in ("flash-1017", "flash-0913", "flash-1017", ""):
        account.record(call(answered=model))
    assert account.answering_models(Role.target) == ("flash-1017", "flash-0913")
    assert account.answering_models(Role.optimizer) == ()


def test_reused_answers_are_counted_and_cost_nothing() -> None:
    account = meter()
    account.record(call(usage=CallUsage(1000, 0, 1000, 0)))
    paid = account.total()
    account.record(call(usage=CallUsage(1000, 0, 1000, 0), reused=True))
    account.record(call(stage=Stage.test, reused=True))
    assert account.total() == replace(paid, reused=2)
    assert account.usage(Role.target, Stage.test) == Usage(reused=1)
    assert added([Usage(reused=1), Usage(calls=1, reused=2)]) == Usage(calls=1, reused=3)


def test_a_call_costs_what_its_hour_costs() -> None:
    price = replace(PRICE, peak_hours=[[1, 4]], peak_input=2.0, peak_cached_input=0.2, peak_output=4.0)
    account = meter(target=price)
    used = CallUsage(1_000_000, 500_000, 1_000_000, 0)
    account.record(call(usage=used, at=OFF_PEAK))
    assert account.total().cost_usd == pytest.approx(0.5 + 0.05 + 2.0)
    account.record(call(usage=used, at=PEAK))
    assert account.total().cost_usd == pytest.approx(3 * (0.5 + 0.05 + 2.0))
    assert account.total().input_tokens == 2_000_000


def test_failed_requests_are_counted_apart_by_status() -> None:
    account = meter()
    for status in (503, 429, None, 503):
        account.failed(FailedCall(id="f", at=OFF_PEAK, role=Role.target, status=status))
    assert account.failures(Role.target) == {"429": 1, "503": 2, "no answer": 1}
    assert account.failures(Role.optimizer) == {}
    assert account.spent() == Spent({}, {"target": {"429": 1, "503": 2, "no answer": 1}})
    assert account.total() == Usage()


def test_a_lost_call_is_counted_and_makes_no_sum_unknown() -> None:
    account = meter()
    account.record(call(usage=CallUsage(1_000_000, 0, 0, 0)))
    paid = account.total()
    account.lost(
        SentCall(
            id="s", at=OFF_PEAK, key="k", role=Role.target, stage=Stage.rollout, host="h", asked="m",
            attempt=1, at_most=AtMost(9, 9),
        )
    )  # fmt: skip
    assert account.total() == replace(paid, lost=1)
    assert added([Usage(lost=1), Usage(calls=1, lost=2)]) == Usage(calls=1, lost=3)
