"""Tokens, money, time and what a budget affords."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from llm.misbehaving import MisbehavingServer, says
from planning.rehearsal import SETTINGS, models, planned, splits
from running import SMALL, run

from skillopt_exp import experiment
from skillopt_exp.algorithms.gepa import Gepa
from skillopt_exp.commands.composing import compose
from skillopt_exp.config.model import EndpointConfig, ModelConfig, PriceConfig
from skillopt_exp.config.spending import BudgetConfig
from skillopt_exp.llm import connect
from skillopt_exp.llm.base import Stage
from skillopt_exp.planning.case import Guesses
from skillopt_exp.planning.counts import binomial, merges
from skillopt_exp.planning.ground import at_once, survey
from skillopt_exp.planning.plan import REPEATS, Plan, plan, plan_gepa
from skillopt_exp.planning.spending import Bounds
from skillopt_exp.records import Message, Role, Usage

PRICE = PriceConfig(date="2026-10-27", input=1.0, cached_input=0.1, output=2.0)
PEAKS = replace(PRICE, peak_hours=[[1, 4]], peak_input=2.0, peak_cached_input=0.2, peak_output=4.0)


def holds(bounds: Bounds, value: float) -> bool:
    assert bounds.least is not None
    assert bounds.most is not None
    return bounds.least <= value <= bounds.most


@pytest.mark.parametrize(
    "mode",
    [
        "patch",
        pytest.param("rewrite_from_suggestions", marks=pytest.mark.slow),
        pytest.param("full_rewrite_minibatch", marks=pytest.mark.slow),
    ],
)
def test_the_tokens_of_a_real_run_lie_within_the_plan(mode: str, tmp_path: Path) -> None:
    overrides = [
        f"optimizer.skill_update_mode={mode}",
        f"optimizer.use_skill_aware_reflection={mode != 'patch'}",
        "optimizer.skill_aware_consolidate_threshold=1",
        "cache.mode=none",
        "model.target.max_tokens=2000",
        "model.optimizer.max_tokens=4000",
        "gradient.minibatch_size=1",
        "optimizer.learning_rate=2",
    ]
    plan = _plan_of(overrides, tmp_path)
    spent = run(tmp_path, *overrides).usage
    for name, usage in spent.items():
        planned = plan.stages[Stage(name.partition("/")[2])]
        assert holds(planned.calls, usage.calls), name
        assert usage.input_tokens is not None
        assert usage.output_tokens is not None
        assert holds(planned.input_tokens, usage.input_tokens), name
        assert holds(planned.output_tokens, usage.output_tokens), name
    assert {"optimizer/aggregate", "target/test"} <= spent.keys()
    assert ("optimizer/rewrite" in spent) is (mode == "rewrite_from_suggestions")


def test_the_tokens_of_a_real_search_lie_within_its_plan(tmp_path: Path) -> None:
    overrides = ["optimizer=gepa", "model.target.max_tokens=2000", "model.optimizer.max_tokens=4000"]
    plan = _plan_of(overrides, tmp_path)
    spent = run(tmp_path, *overrides, "cache.mode=none").usage
    for name, usage in spent.items():
        planned = plan.stages[Stage(name.partition("/")[2])]
        assert holds(planned.calls, usage.calls), name
        assert usage.input_tokens is not None
        assert usage.output_tokens is not None
        assert holds(planned.input_tokens, usage.input_tokens), name
        assert holds(planned.output_tokens, usage.output_tokens), name
    assert {"optimizer/reflect", "target/test"} <= spent.keys()


def _plan_of(overrides: list[str], base: Path) -> Plan:
    config = compose([*SMALL, *overrides])
    prepared = experiment.prepare(config, base=base)

    async def measured() -> Plan:
        allowed = at_once(config.model, config.gradient.analyst_workers)
        settings = prepared.decision.settings
        ground = await survey(
            prepared.task,
            prepared.splits,
            settings,
            prepared.seed_skill,
            allowed,
            control=config.evaluation.control,
        )
        guesses = Guesses(0.5, 5.0, 300, 2000)
        match prepared.decision.algorithm:
            case Gepa(max_metric_calls):
                return await plan_gepa(ground, max_metric_calls, config.model, config.budget, guesses)
            case _:
                return await plan(ground, config.model, config.budget, guesses)

    return asyncio.run(measured())


def test_longer_prompts_and_longer_runs_are_planned_to_cost_more() -> None:
    short, long = planned(), planned(replace(SETTINGS, num_epochs=4))
    assert _expected(long.total.input_tokens) > _expected(short.total.input_tokens)
    small, large = planned(data=splits(val=2)), planned(data=splits(val=4))
    assert _expected(large.stages[Stage.selection].input_tokens) == pytest.approx(
        2 * _expected(small.stages[Stage.selection].input_tokens)
    )


def _expected(bounds: Bounds) -> float:
    assert bounds.expected is not None
    return bounds.expected


def test_without_an_output_limit_nothing_bounds_the_most() -> None:
    plan = planned(model=models(max_tokens=None))
    assert plan.total.output_tokens.most is None
    assert plan.total.output_tokens.expected is not None
    assert plan.stages[Stage.rollout].input_tokens.most is not None, "prompts are known all the same"
    assert plan.stages[Stage.reflect].input_tokens.most is None, "a correction repeats the reply"
    assert plan.reserves[Role.target].tokens is None


def test_a_limit_below_the_guessed_reply_is_what_replies_are_expected_to_have() -> None:
    plan = planned(model=models(max_tokens=10))
    rollout = plan.stages[Stage.rollout]
    assert rollout.output_tokens == Bounds(0, 240, 240)


def test_an_unknown_price_is_an_unknown_cost_and_never_zero() -> None:
    plan = planned(model=models(price=PriceConfig(date="2026-10-27", input=1.0)))
    assert plan.total.cost_usd == Bounds(None, None, None)
    assert plan.reserves[Role.target].cost_usd is None


def test_what_is_free_costs_nothing_even_without_an_output_limit() -> None:
    free = PriceConfig(input=0.0, cached_input=0.0, output=0.0)
    assert planned(model=models(price=free, max_tokens=None)).total.cost_usd == Bounds(0, 0, 0)


def test_the_least_is_all_cached_the_most_at_busy_hours() -> None:
    plain, busy = (planned(model=models(price=price)).stages[Stage.test] for price in (PRICE, PEAKS))
    assert plain.input_tokens.least is not None
    assert plain.output_tokens.least is not None
    least = (0.1 * plain.input_tokens.least + 2.0 * plain.output_tokens.least) / 1e6
    assert plain.cost_usd.least == pytest.approx(least)
    assert busy.cost_usd.least == plain.cost_usd.least
    assert busy.cost_usd.expected == plain.cost_usd.expected
    assert plain.cost_usd.most is not None
    assert busy.cost_usd.most == pytest.approx(2 * plain.cost_usd.most)


def test_a_budget_affords_as_many_steps_as_its_expected_calls_pay_for() -> None:
    plan = planned(failure_rate=1.0)
    # 12 train items in batches of 5, 5 and 2, twice; 4 val and 3 test items. Baseline and test: 4 + 6.
    # A step of 5: 5 rollouts, 3 minibatches in pairs, so 2 merges, 1 ranking,
    # 4 val items; of 2: 2 rollouts, 1 minibatch, 4 val items.
    assert plan.total.calls.expected == 10 + 2 * (15 + 15 + 7)
    for cap, steps in ((9, 0), (10, 0), (24, 0), (25, 1), (46, 2), (47, 3), (83, 5), (84, 6), (999, 6)):
        (afforded,) = planned(failure_rate=1.0, budget=BudgetConfig(calls=cap)).afforded
        assert (afforded.steps, afforded.covered) == (steps, cap >= 10), cap
        assert afforded.too_few == (steps < 3)


def test_each_cap_is_judged_by_its_own_unit() -> None:
    plan = planned(model=models(price=PRICE), budget=BudgetConfig(usd=1e-9, tokens=10**9, calls=10**9))
    assert [(each.key, each.steps) for each in plan.afforded] == [
        ("budget.usd", 0),
        ("budget.tokens", 6),
        ("budget.calls", 6),
    ]
    (unpriced,) = planned(budget=BudgetConfig(usd=5.0)).afforded
    assert unpriced.steps is None


def test_time_follows_from_rounds_of_calls_and_not_from_their_sum() -> None:
    plan = planned(replace(SETTINGS, num_epochs=0))
    assert plan.seconds == Bounds(10, 10, 10), "4 val items at once, then 3 test items at once, 5 s each"
    controlled = planned(replace(SETTINGS, num_epochs=0), control=True)
    assert controlled.seconds == Bounds(15, 15, 15), "and 3 more without the seed skill"


def test_a_reserve_covers_the_longest_prompt_and_the_whole_reply() -> None:
    plan = planned(model=models(max_tokens=70, price=PRICE))
    reserve = plan.reserves[Role.target]
    assert reserve.tokens is not None
    assert reserve.tokens >= len("- Be brief.") + len("question a11") + 70
    assert reserve.cost_usd == pytest.approx((1.0 * (reserve.tokens - 70) + 2.0 * 70) / 1e6)


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.5, 1.0])
@pytest.mark.parametrize("trials", [0, 1, 7, 3000])
def test_the_chances_of_all_numbers_of_failures_add_up(trials: int, rate: float) -> None:
    weights = binomial(trials, rate)
    assert len(weights) == trials + 1
    assert sum(weights) == pytest.approx(1)
    assert sum(i * weight for i, weight in enumerate(weights)) == pytest.approx(trials * rate)


def test_merges_go_level_by_level() -> None:
    assert merges(9, 4) == (2, 1), "two groups of four, one patch goes up alone"
    assert merges(8, 2) == (4, 2, 1)
    assert merges(1, 2) == merges(0, 2) == ()


async def test_the_client_repeats_a_call_as_often_as_the_plan_says() -> None:
    blank, cut = says(""), says('{"edits"', finish="length")
    server = MisbehavingServer()
    server.decide = lambda asked: (
        blank if "response_format" in asked.body else cut if not _wide(asked.body) else says("{}")
    )
    endpoint = EndpointConfig(name="m", base_url=server.url, max_tokens=10)
    try:
        async with connect(ModelConfig(target=endpoint, optimizer=endpoint)) as models:
            await models.target.ask([Message("user", "hello")], stage=Stage.rollout)
            await models.optimizer.ask([Message("user", "json")], stage=Stage.reflect, json=True)
            usage: dict[str, Usage] = dict(models.meter.by_stage())
    finally:
        server.close()
    assert usage["target/rollout"].calls == 1 + REPEATS[Role.target]
    assert usage["optimizer/reflect"].calls == 1 + REPEATS[Role.optimizer]


def _wide(body: dict[str, object]) -> bool:
    limit = body["max_tokens"]
    assert isinstance(limit, int)
    return limit > 10
