import random

import pytest

from skillopt_exp.config.model import PriceConfig
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.meter import Meter
from skillopt_exp.llm.reply import CallUsage, Reply
from skillopt_exp.records import Role, Usage

PRICE = PriceConfig(date="2026-10-27", input=1.0, cached_input=0.1, output=2.0)


def meter(target: PriceConfig = PRICE, optimizer: PriceConfig = PRICE) -> Meter:
    return Meter({Role.target: target, Role.optimizer: optimizer})


def reply(usage: CallUsage | None, model: str = "m") -> Reply:
    return Reply("text", model=model, usage=usage)


def test_cost_counts_cached_input_apart() -> None:
    account = meter()
    account.record(Role.target, Stage.rollout, reply(CallUsage(1_000_000, 400_000, 500_000, 0)))
    assert account.usage(Role.target, Stage.rollout).cost_usd == pytest.approx(0.6 + 0.04 + 1.0)


def test_a_stage_without_calls_has_used_nothing() -> None:
    assert meter().usage(Role.target, Stage.test) == Usage()
    assert meter().by_stage() == {}
    assert meter().total() == Usage()


def test_an_unknown_price_is_not_free_and_a_price_of_zero_is() -> None:
    account = meter(target=PriceConfig(), optimizer=PriceConfig(input=0.0, cached_input=0.0, output=0.0))
    for role in Role:
        account.record(role, Stage.rollout, reply(CallUsage(10, 0, 10, 0)))
    assert account.usage(Role.target, Stage.rollout).cost_usd is None
    assert account.usage(Role.optimizer, Stage.rollout).cost_usd == 0.0
    assert account.total().cost_usd is None


def test_a_cached_price_is_needed_only_where_something_was_cached() -> None:
    account = meter(target=PriceConfig(input=1.0, output=1.0))
    account.record(Role.target, Stage.rollout, reply(CallUsage(10, None, 10, None)))
    account.record(Role.target, Stage.test, reply(CallUsage(10, 5, 10, None)))
    assert account.usage(Role.target, Stage.rollout).cost_usd == pytest.approx(20e-6)
    assert account.usage(Role.target, Stage.test).cost_usd is None


def test_one_call_without_usage_makes_the_sums_unknown_and_the_calls_stay_counted() -> None:
    account = meter()
    account.record(Role.target, Stage.rollout, reply(CallUsage(10, 0, 10, 0)))
    account.record(Role.target, Stage.rollout, reply(None))
    account.record(Role.target, Stage.test, reply(CallUsage(7, 0, 1, 0)))
    assert account.usage(Role.target, Stage.rollout) == Usage(2, None, None, None, None, None)
    assert account.usage(Role.target, Stage.test).input_tokens == 7
    assert account.total() == Usage(3, None, None, None, None, None)


def test_totals_do_not_depend_on_the_order_of_answers() -> None:
    calls = [
        (role, stage, CallUsage(n * 7, n, n * 3, n)) for role in Role for stage in Stage for n in range(9)
    ]
    totals = set()
    for seed in range(5):
        account = meter()
        for role, stage, usage in random.Random(seed).sample(calls, len(calls)):
            account.record(role, stage, reply(usage))
        totals.add((account.total(), tuple(account.by_stage().items())))
    assert len(totals) == 1
    assert account.total().calls == len(calls)
    assert list(account.by_stage())[:2] == ["target/rollout", "target/selection"]


def test_the_models_that_answered_are_named_most_frequent_first() -> None:
    account = meter()
    for model in ("flash-1017", "flash-0913", "flash-1017", ""):
        account.record(Role.target, Stage.rollout, reply(None, model))
    assert account.answering_models(Role.target) == ("flash-1017", "flash-0913")
    assert account.answering_models(Role.optimizer) == ()
