"""Caps hold exactly, whatever comes back and in whatever order; a run that meets one ends in good order."""

import asyncio
import json
import logging
import random
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from llm.misbehaving import MisbehavingServer, refuses, says

from skillopt_exp.config.model import EndpointConfig, ModelConfig, PriceConfig, Provider
from skillopt_exp.config.spending import BudgetConfig, CacheConfig
from skillopt_exp.errors import BudgetError, InterruptedRun
from skillopt_exp.llm import Models, connect
from skillopt_exp.llm.activity import A_RUN
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.bill import FRAMING_TOKENS, AtMost
from skillopt_exp.llm.budget import Budget, loosely_held, unenforceable
from skillopt_exp.llm.connect import Accounts
from skillopt_exp.llm.limits import Clock, EndpointLimit
from skillopt_exp.llm.underway import Underway
from skillopt_exp.records import Message, Role
from skillopt_exp.runs.answers import open_answers
from skillopt_exp.runs.calls import CallLog

PRICE = PriceConfig(input=0.5, cached_input=0.05, output=2.0)
GO_ON = "python -m skillopt_exp resume run=here"
GOING_ON = replace(A_RUN, command=GO_ON)


def model(url: str | None = None, **settings: Any) -> ModelConfig:
    """Both roles at one address, or simulated where there is none."""
    provider = Provider.simulated if url is None else Provider.openai_compatible
    endpoint = EndpointConfig(name="m", provider=provider, base_url=url, price=PRICE)
    endpoint = replace(endpoint, **settings)
    return ModelConfig(target=endpoint, optimizer=endpoint)


def question(number: int) -> list[Message]:
    return [Message("user", f"{number:04d}")]


PROMPT = 4 + FRAMING_TOKENS
"""What the prompt of a ``question`` has at most."""


async def asked(models: Models, *numbers: int) -> list[Message | BaseException]:
    """All at once; a reply or an error each."""
    calls = (models.target.ask(question(number), stage=Stage.rollout) for number in numbers)
    return await asyncio.gather(*calls, return_exceptions=True)


class Spender(httpx2.AsyncBaseTransport):
    """Answers after a while, with any usage that the prompt and the output limit allow."""

    def __init__(self, seed: int, *, frugal: bool = False, unreported: float = 0.0) -> None:
        self._chance = random.Random(seed)
        self._frugal = frugal
        self._unreported = unreported
        self.at_once = self.most_at_once = 0

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body, chance = json.loads(request.content), self._chance
        prompt = sum(len(message["content"]) + FRAMING_TOKENS for message in body["messages"])
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        for _ in range(20 if self._frugal else chance.randrange(12)):
            await asyncio.sleep(0)
        self.at_once -= 1
        used = 1 if self._frugal else chance.choice([prompt, chance.randrange(prompt + 1)])
        written = 1 if self._frugal else chance.choice([body["max_tokens"], 1])
        usage: dict[str, Any] | None = {"prompt_tokens": used, "completion_tokens": written}
        if chance.random() < 0.5:
            usage = {**(usage or {}), "prompt_cache_hit_tokens": chance.randrange(used + 1)}
        if chance.random() < self._unreported:
            usage = None
        return httpx2.Response(200, text=says("hello", usage=usage).body)


@given(
    seed=st.integers(0, 2**32),
    at_once=st.integers(1, 9),
    max_tokens=st.integers(1, 400),
    number=st.integers(1, 25),
    caps=st.builds(
        BudgetConfig,
        usd=st.none() | st.floats(1e-5, 0.01).map(lambda usd: round(usd, 6)),
        tokens=st.none() | st.integers(1, 12_000),
        calls=st.none() | st.integers(1, 30),
    ),
)
@hypothesis_settings(max_examples=150, deadline=None)
def test_no_cap_is_ever_exceeded(
    seed: int, at_once: int, max_tokens: int, number: int, caps: BudgetConfig
) -> None:
    transport, settings = Spender(seed), model(max_tokens=max_tokens, max_concurrency=at_once)

    async def spend() -> None:
        async with connect(
            settings, transport=transport, accounts=Accounts(budget=caps), activity=GOING_ON
        ) as models:
            results = await asked(models, *range(number))
            spent = models.meter.total()
        assert spent.input_tokens is not None
        assert spent.output_tokens is not None
        assert spent.cost_usd is not None
        tokens, refused = spent.input_tokens + spent.output_tokens, number - spent.calls
        assert caps.calls is None or spent.calls <= caps.calls
        assert caps.tokens is None or tokens <= caps.tokens
        assert caps.usd is None or spent.cost_usd <= caps.usd * (1 + 1e-12)
        assert [type(each) for each in results].count(BudgetError) == refused
        # Nobody is refused what is left: the next call could have gone over one of the caps.
        next_tokens = PROMPT + max_tokens
        next_cost = (0.5 * PROMPT + 2.0 * max_tokens) / 1e6
        assert not refused or (
            (caps.calls is not None and spent.calls + 1 > caps.calls)
            or (caps.tokens is not None and tokens + next_tokens > caps.tokens)
            or (caps.usd is not None and spent.cost_usd + next_cost > caps.usd * (1 - 1e-9))
        )

    asyncio.run(spend())


@given(seed=st.integers(0, 2**32), at_once=st.integers(1, 9), number=st.integers(1, 20))
@hypothesis_settings(max_examples=50, deadline=None)
def test_calls_whose_usage_is_unknown_count_at_their_most(seed: int, at_once: int, number: int) -> None:
    one = PROMPT + 50
    transport, settings = Spender(seed, unreported=1.0), model(max_tokens=50, max_concurrency=at_once)

    async def spend() -> int:
        async with connect(
            settings, transport=transport, accounts=Accounts(budget=BudgetConfig(tokens=7 * one))
        ) as models:
            await asked(models, *range(number))
            assert models.meter.total().input_tokens is None
            return models.meter.total().calls

    assert asyncio.run(spend()) == min(7, number)


async def test_what_cannot_be_set_aside_twice_is_asked_one_after_the_other() -> None:
    transport = Spender(1, frugal=True)
    one = PROMPT + 300
    async with connect(
        model(max_tokens=300), transport=transport, accounts=Accounts(budget=BudgetConfig(tokens=one + 40))
    ) as models:
        results = await asked(models, *range(15))
    assert all(isinstance(result, Message) for result in results), "2 tokens each: all of them fit in the end"
    assert transport.most_at_once == 1
    with_room = Spender(1, frugal=True)
    async with connect(
        model(max_tokens=300),
        transport=with_room,
        accounts=Accounts(budget=BudgetConfig(tokens=3 * one + 40)),
    ) as models:
        await asked(models, *range(15))
    assert 1 < with_room.most_at_once <= 3


async def test_the_error_says_what_was_spent_what_the_cap_is_and_how_to_go_on(
    server: MisbehavingServer,
) -> None:
    server.answers = [says("hello", usage={"prompt_tokens": 100, "completion_tokens": 10})]
    caps = BudgetConfig(usd=0.0003)
    async with connect(
        model(server.url, max_tokens=100), accounts=Accounts(budget=caps), activity=GOING_ON
    ) as models:
        results = await asked(models, 1)
        with pytest.raises(BudgetError) as caught:
            await models.target.ask(question(2), stage=Stage.rollout)
    assert isinstance(results[0], Message)
    assert len(server.asked) == 1
    said = str(caught.value)
    for words in (
        "budget.usd is reached",
        "the cap is $0.000300, spent are $0.000070",
        "model.target",
        f"{GO_ON} budget.usd=0.000672",
    ):
        assert words in said


async def test_once_a_cap_is_met_nothing_smaller_slips_through(server: MisbehavingServer) -> None:
    server.answers = [says("hello", usage={"prompt_tokens": 100, "completion_tokens": 10})]
    one = PROMPT + 20
    async with connect(
        model(server.url, max_tokens=20), accounts=Accounts(budget=BudgetConfig(tokens=2 * one))
    ) as models:
        long = [Message("user", "x" * 5000)]
        for messages in (long, question(1), long):
            with pytest.raises(BudgetError):
                await models.target.ask(messages, stage=Stage.rollout)
    assert server.asked == []


async def test_failed_requests_cost_nothing_and_hold_nothing(server: MisbehavingServer, sleeps: Any) -> None:
    usage = {"prompt_tokens": 10, "completion_tokens": 10}
    server.answers = [refuses(503, "busy"), refuses(500, "oops"), says("hello", usage=usage)]
    caps = BudgetConfig(calls=1, tokens=PROMPT + 20)
    async with connect(
        model(server.url, max_tokens=20), accounts=Accounts(budget=caps), clock=sleeps.clock()
    ) as models:
        results = await asked(models, 1)
        assert isinstance(results[0], Message)
        assert models.meter.total().calls == 1


async def test_a_caller_that_leaves_takes_nothing_with_it(server: MisbehavingServer) -> None:
    server.answers = [says("hello", usage={"prompt_tokens": 1, "completion_tokens": 1}, delay=0.2)]
    one = PROMPT + 20
    async with connect(
        model(server.url, max_tokens=20), accounts=Accounts(budget=BudgetConfig(tokens=one + 10))
    ) as models:
        first, second, third = (asyncio.create_task(_ask(models, number)) for number in range(3))
        await asyncio.sleep(0.05)
        second.cancel()  # while it waits for the first to settle
        assert isinstance(await first, Message)
        assert isinstance(await third, Message)
        with pytest.raises(asyncio.CancelledError):
            await second
    assert len(server.asked) == 2


async def test_what_was_given_to_a_caller_that_left_at_that_moment_is_given_back() -> None:
    budget = Budget(BudgetConfig(calls=1), {role: PRICE for role in Role})
    first = await budget.hold(Role.target, AtMost(1, 1))
    second = asyncio.create_task(budget.hold(Role.target, AtMost(1, 1)))
    await asyncio.sleep(0)
    first.release()
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    (await budget.hold(Role.target, AtMost(1, 1))).release()


async def test_what_a_call_holds_is_given_back_when_the_run_closes_before_it_begins() -> None:
    budget, underway = Budget(BudgetConfig(calls=1), {role: PRICE for role in Role}), Underway()
    limit = EndpointLimit("m", 2, Clock(), underway)
    await underway.pause(InterruptedRun("closing"))

    async def never() -> None:
        raise AssertionError("nothing may be sent")

    for _ in range(2):
        with pytest.raises(InterruptedRun):
            await limit.once(never, hold=lambda: budget.hold(Role.target, AtMost(1, 1)))


async def _ask(models: Models, number: int) -> Message:
    return await models.target.ask(question(number), stage=Stage.rollout)


async def test_the_second_attempt_with_more_room_is_set_aside_with_its_own_limit(
    server: MisbehavingServer,
) -> None:
    cut = says("hel", finish="length", usage={"prompt_tokens": 10, "completion_tokens": 20})
    server.answers = [cut, says("hello", usage={"prompt_tokens": 10, "completion_tokens": 30})]
    enough = 30 + PROMPT + 4096
    for cap, calls in ((enough - 1, 1), (enough, 2)):
        server.asked.clear()
        async with connect(
            model(server.url, max_tokens=20), accounts=Accounts(budget=BudgetConfig(tokens=cap))
        ) as models:
            (result,) = await asked(models, 1)
        assert len(server.asked) == calls
        assert isinstance(result, Message if calls == 2 else BudgetError)


async def test_stored_answers_cost_nothing(server: MisbehavingServer, tmp_path: Path) -> None:
    with open_answers(CacheConfig(path=str(tmp_path / "answers.sqlite")), base=tmp_path) as answers:
        async with connect(
            model(server.url), accounts=Accounts(answers, budget=BudgetConfig(calls=2))
        ) as models:
            results = await asked(models, 1, 2, 1, 2)
            assert all(isinstance(result, Message) for result in results)
            with pytest.raises(BudgetError):
                await _ask(models, 3)
            assert isinstance(await _ask(models, 1), Message), "though the cap is reached"
    assert len(server.asked) == 2


async def test_a_budget_counts_over_all_processes_of_a_run(server: MisbehavingServer, tmp_path: Path) -> None:
    server.answers = [
        says("hello", usage={"prompt_tokens": 30, "completion_tokens": 10}),
        says("hello", usage={"prompt_tokens": 30, "completion_tokens": 10}),
        says("no usage"),
    ]
    one = PROMPT + 20
    spent = 40 + 40 + one

    async def process(tokens: int) -> int:
        before = len(server.asked)
        with closing(CallLog(tmp_path / "calls.jsonl")) as calls:
            async with connect(
                model(server.url, max_tokens=20), accounts=Accounts(None, calls, BudgetConfig(tokens=tokens))
            ) as models:
                for number in range(5):
                    (result,) = await asked(models, number)
                    if isinstance(result, BudgetError):
                        break
        return len(server.asked) - before

    assert await process(spent + one - 1) == 3
    assert await process(spent + one - 1) == 0, "the next process begins where the first one ended"
    assert await process(spent + 2 * one) == 2, "and a higher cap goes on"


async def test_half_and_four_fifths_of_a_cap_are_warned_of_once(
    server: MisbehavingServer, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    with closing(CallLog(tmp_path / "calls.jsonl")) as calls:
        async with connect(
            model(server.url), accounts=Accounts(None, calls, BudgetConfig(calls=10))
        ) as models:
            for number in range(9):
                await _ask(models, number)
        assert [message for message in caplog.messages if "budget" in message] == [
            "50 % of budget.calls are spent: 5 calls",
            "80 % of budget.calls are spent: 8 calls",
        ]
        caplog.clear()
    with closing(CallLog(tmp_path / "calls.jsonl")) as calls, caplog.at_level(logging.WARNING):
        async with connect(
            model(server.url), accounts=Accounts(None, calls, BudgetConfig(calls=10))
        ) as models:
            await _ask(models, 9)
    assert not [message for message in caplog.messages if "budget" in message]


async def test_an_endpoint_that_takes_no_output_limit_is_not_asked_under_a_cap_on_money(
    server: MisbehavingServer,
) -> None:
    server.decide = lambda asked: (
        refuses(400, "unknown", param=next(name for name in asked.body if "tokens" in name))
        if any("tokens" in name for name in asked.body)
        else says("hello")
    )
    settings = model(server.url, max_tokens=50, name="takes-no-limit")
    async with connect(
        settings, accounts=Accounts(budget=BudgetConfig(usd=1.0)), activity=GOING_ON
    ) as models:
        with pytest.raises(BudgetError, match="no output limit can be sent"):
            await _ask(models, 1)
    assert all("max_tokens" in body or "max_completion_tokens" in body for body in server.bodies)
    async with connect(settings, accounts=Accounts(budget=BudgetConfig(tokens=10_000, calls=5))) as models:
        assert (await _ask(models, 1)).content == "hello", "tokens and calls remain"


async def test_without_an_output_limit_a_token_cap_reckons_with_the_longest_reply_seen(
    server: MisbehavingServer,
) -> None:
    server.answers = [says("hello", usage={"prompt_tokens": 10, "completion_tokens": 6000})]
    async with connect(model(server.url), accounts=Accounts(budget=BudgetConfig(tokens=12_000))) as models:
        await _ask(models, 1)
        with pytest.raises(BudgetError):
            await _ask(models, 2)  # 6,010 are spent, and another such reply may come


def test_money_is_capped_only_where_it_can_be_held() -> None:
    usd, tokens = BudgetConfig(usd=1.0), BudgetConfig(tokens=1000, calls=10)
    assert unenforceable(model(max_tokens=10), usd) == ()
    unlimited = unenforceable(model(), usd)
    assert len(unlimited) == 2
    assert "model.target.max_tokens=" in unlimited[0]
    assert "model.optimizer.max_tokens=" in unlimited[1]
    (unpriced,) = unenforceable(replace(model(max_tokens=10), target=EndpointConfig(name="dear")), usd)
    assert "the price of 'dear' is unknown" in unpriced
    assert "model.target.price.input" in unpriced
    free = PriceConfig(input=0.0, cached_input=0.0, output=0.0)
    assert unenforceable(model(price=free), usd) == ()
    for any_model in (model(), model(price=PriceConfig())):
        assert unenforceable(any_model, tokens) == ()
        assert unenforceable(any_model, BudgetConfig()) == ()
    assert "model.target.max_tokens and model.optimizer.max_tokens" in loosely_held(model(), tokens)[0]
    assert loosely_held(model(max_tokens=10), tokens) == loosely_held(model(), usd) == ()
