"""What was sent counts, whatever becomes of the process: a cap holds over any number of kills."""

import asyncio
import json
import random
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from llm import asking_alone
from llm.connecting import Connected
from llm.misbehaving import Answer, MisbehavingServer, refuses, says

from skillopt_exp.config.model import EndpointConfig, ModelConfig, PriceConfig, Provider
from skillopt_exp.config.spending import BudgetConfig
from skillopt_exp.errors import BudgetError, InterruptedRun
from skillopt_exp.llm import connect
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.bill import FRAMING_TOKENS
from skillopt_exp.llm.connect import Accounts
from skillopt_exp.llm.ledger import FailedCall, SentCall, SettledCall
from skillopt_exp.llm.limits import Clock
from skillopt_exp.records import Message, Role, Usage
from skillopt_exp.runs.calls import CallLog

PRICE = PriceConfig(input=0.5, cached_input=0.05, output=2.0)
HI = [Message("user", "hi")]


@dataclass
class Biller(httpx2.AsyncBaseTransport):
    """Answers late, in any order, with any usage within the limits, now and then with a failure.

    ``tries`` counts the requests of each question; ``bills`` holds the tokens in and out of the answered
    ones, by question and try. What fails is not billed.
    """

    seed: int
    tries: Counter[int] = field(default_factory=Counter)
    bills: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        question, text = body["seed"], body["messages"][0]["content"]
        self.tries[question] += 1
        this = question, self.tries[question]
        chance = random.Random(f"{self.seed} {this}")
        for _ in range(chance.randrange(9)):
            await asyncio.sleep(0)
        if chance.random() < 0.1:
            return httpx2.Response(503, text=refuses(503, "down").body)
        prompt = chance.randrange(len(text) + FRAMING_TOKENS + 1)
        written = chance.choice([body["max_tokens"], 1])
        self.bills[this] = prompt, written
        usage = {"prompt_tokens": prompt, "completion_tokens": written}
        return httpx2.Response(200, text=says("hello", usage=usage if chance.random() < 0.9 else None).body)


def model(max_tokens: int, at_once: int) -> ModelConfig:
    endpoint = EndpointConfig(
        name="m",
        provider=Provider.simulated,
        price=PRICE,
        max_tokens=max_tokens,
        max_concurrency=at_once,
    )
    return ModelConfig(target=endpoint, optimizer=endpoint)


async def no_time(seconds: float) -> None:
    await asyncio.sleep(0)


async def work(config: ModelConfig, biller: Biller, caps: BudgetConfig, file: Path, first: int) -> Usage:
    """A process that asks twelve questions, of which ``first`` is the first, as far as the cap allows."""
    with closing(CallLog(file)) as ledger:
        async with connect(
            config, transport=biller, accounts=Accounts(None, ledger, caps), clock=Clock(sleep=no_time)
        ) as models:
            begun = models.meter.total()
            calls = (models.target.ask(HI, stage=Stage.rollout, attempt=first + n) for n in range(12))
            for result in await asyncio.gather(*calls, return_exceptions=True):
                assert isinstance(result, Message | BudgetError), result
    return begun


@given(
    seed=st.integers(0, 2**32),
    at_once=st.integers(1, 6),
    max_tokens=st.integers(1, 200),
    caps=st.builds(
        BudgetConfig,
        usd=st.none() | st.floats(1e-4, 0.005).map(lambda usd: round(usd, 6)),
        tokens=st.none() | st.integers(300, 6000),
        calls=st.none() | st.integers(1, 15),
    ),
    kills=st.lists(st.floats(0, 1), min_size=1, max_size=5),
)
@hypothesis_settings(max_examples=80, deadline=None)
def test_wherever_processes_are_killed_the_provider_never_bills_more_than_the_cap(
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    at_once: int,
    max_tokens: int,
    caps: BudgetConfig,
    kills: list[float],
) -> None:
    """A kill leaves the bytes that were written until then; nothing is sent before it is written down."""
    file = tmp_path_factory.mktemp("run") / "calls.jsonl"
    file.touch()
    billed: list[tuple[int, int]] = []
    for number, kill in enumerate(kills):
        biller, before = Biller(seed + number), file.read_bytes()
        asyncio.run(work(model(max_tokens, at_once), biller, caps, file, 100 * number + 1))
        whole = file.read_bytes()
        kept = whole[: len(before) + round(kill * (len(whole) - len(before)))]
        file.write_bytes(kept)
        sent = Counter(each.attempt for each in CallLog(file).earlier() if isinstance(each, SentCall))
        billed += [bill for (question, turn), bill in biller.bills.items() if sent[question] >= turn]
    tokens = sum(prompt + written for prompt, written in billed)
    cost = sum((0.5 * prompt + 2.0 * written) / 1e6 for prompt, written in billed)
    assert caps.calls is None or len(billed) <= caps.calls
    assert caps.tokens is None or tokens <= caps.tokens
    assert caps.usd is None or cost <= caps.usd * (1 + 1e-12)


@given(seed=st.integers(0, 2**32), at_once=st.integers(1, 6), kill=st.floats(0, 1))
@hypothesis_settings(max_examples=60, deadline=None)
def test_each_request_is_on_paper_once_wherever_the_process_is_killed(
    tmp_path_factory: pytest.TempPathFactory, seed: int, at_once: int, kill: float
) -> None:
    file = tmp_path_factory.mktemp("run") / "calls.jsonl"
    config, no_cap = model(50, at_once), BudgetConfig()
    asyncio.run(work(config, Biller(seed), no_cap, file, 1))
    whole = file.read_bytes()
    file.write_bytes(whole[: round(kill * len(whole))])
    kinds = Counter(type(entry) for entry in CallLog(file).earlier())
    begun = asyncio.run(work(config, Biller(seed + 1), no_cap, file, 101))
    assert begun.calls == kinds[SettledCall]
    assert begun.lost == kinds[SentCall] - kinds[SettledCall] - kinds[FailedCall] <= at_once
    # The same questions again in the next process are other requests, and the lost ones stay what they are.
    again = asyncio.run(work(config, Biller(seed + 2), no_cap, file, 101))
    assert (again.lost, again.calls) == (begun.lost, begun.calls + 12)


def test_a_lost_call_stands_for_the_most_that_it_can_have_used(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    asyncio.run(work(model(50, 1), Biller(1), BudgetConfig(calls=1), file, 1))
    sent = file.read_text(encoding="utf-8").splitlines(keepends=True)[0]
    most = len("hi") + FRAMING_TOKENS + 50
    for caps, answered in (
        (BudgetConfig(calls=2), 1),
        (BudgetConfig(tokens=2 * most), 1),
        (BudgetConfig(tokens=2 * most - 1), 0),
        (BudgetConfig(usd=round(2 * (0.5 * (most - 50) + 2.0 * 50) / 1e6, 9)), 1),
        (BudgetConfig(usd=round(1.99 * (0.5 * (most - 50) + 2.0 * 50) / 1e6, 9)), 0),
    ):
        file.write_text(sent, encoding="utf-8")
        asyncio.run(work(model(50, 1), Greedy(1), caps, file, 1))
        settled = [entry for entry in CallLog(file).earlier() if isinstance(entry, SettledCall)]
        assert len(settled) == answered, caps


class Greedy(Biller):
    """Uses all that a request allows."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        usage = {
            "prompt_tokens": len("hi") + FRAMING_TOKENS,
            "completion_tokens": json.loads(request.content)["max_tokens"],
        }
        return httpx2.Response(200, text=says("hello", usage=usage).body)


async def test_the_error_at_the_cap_tells_of_lost_calls(server: MisbehavingServer, tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    with closing(CallLog(file)) as ledger:
        endpoint = EndpointConfig(name="m", base_url=server.url, price=PRICE)
        config, caps = ModelConfig(target=endpoint, optimizer=endpoint), BudgetConfig(calls=2)
        async with connect(config, accounts=Accounts(None, ledger, caps)) as models:
            await models.target.ask(HI, stage=Stage.rollout)
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text(lines[0], encoding="utf-8")
    with closing(CallLog(file)) as ledger:
        async with connect(config, accounts=Accounts(None, ledger, caps)) as models:
            await models.target.ask(HI, stage=Stage.rollout)
            with pytest.raises(BudgetError, match=r"spent are 2 calls \(with 1 call whose answer was lost"):
                await models.target.ask(HI, stage=Stage.rollout)
            assert models.meter.total().lost == 1
    assert len(server.asked) == 2


def test_a_cap_on_calls_holds_on_the_servers_own_log_over_kills(
    server: MisbehavingServer, tmp_path: Path
) -> None:
    """Killed with four calls in flight, again and again: the calls in flight count."""
    server.decide = lambda asked: says("ok", usage={"prompt_tokens": 1, "completion_tokens": 1}, delay=0.3)
    store, calls = tmp_path / "answers.sqlite", tmp_path / "calls.jsonl"
    questions, cap = [f"question {n}" for n in range(40)], 14
    for seen in (2, 7, 11):
        killed = asking_alone.start(server.url, store, calls, questions, calls_at_most=cap)
        while len(server.asked) < seen:
            assert killed.poll() is None, killed.communicate()
        killed.kill()
        killed.communicate()
    last = asking_alone.result(asking_alone.start(server.url, store, calls, questions, calls_at_most=cap))
    assert last["replies"] == ["at the cap"]
    entries = CallLog(calls).earlier()
    sent = sum(isinstance(entry, SentCall) for entry in entries)
    assert len(server.asked) <= sent == cap
    assert last["calls"] + last["lost"] == cap
    assert last["lost"] >= 1


async def test_a_call_that_is_given_up_at_the_end_is_lost_in_this_process_and_in_the_next(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    server.decide = lambda asked: says("late", delay=1.0)
    file = tmp_path / "calls.jsonl"
    with closing(CallLog(file)) as ledger:
        async with connected(run={"ledger": ledger, "grace": 0.0}) as models:
            asking = asyncio.create_task(models.target.ask(HI, stage=Stage.rollout))
            while not server.asked:  # noqa: ASYNC110 (the server lives in another thread)
                await asyncio.sleep(0.01)
            asking.cancel()
        assert models.meter.total() == Usage(lost=1)
    with closing(CallLog(file)) as ledger:
        async with connected(run={"ledger": ledger}) as models:
            assert models.meter.total() == Usage(lost=1)


async def test_failed_requests_are_written_down_and_counted_over_all_processes(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    server.answers = [refuses(429, "slow down"), refuses(503, "down"), Answer("", drop=True), says("ok")]
    file = tmp_path / "calls.jsonl"
    for turn in (1, 2):
        with closing(CallLog(file)) as ledger:
            async with connected(run={"ledger": ledger}) as models:
                await models.target.ask(HI, stage=Stage.rollout)
                assert models.meter.failures(Role.target) == {"429": 1, "503": 1, "no answer": 1}
                assert (models.meter.total().calls, models.meter.total().lost) == (turn, 0)


async def test_nothing_is_sent_that_cannot_be_written_down(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    with closing(CallLog(tmp_path / "no such folder" / "calls.jsonl")) as ledger:
        async with connected(run={"ledger": ledger}) as models:
            for _ in range(2):
                with pytest.raises(InterruptedRun, match="cannot be written"):
                    await models.target.ask(HI, stage=Stage.rollout)
            assert models.meter.total() == Usage()
    assert server.asked == []
