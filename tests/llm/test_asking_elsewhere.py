"""Several processes at work on one store ask each question once: whoever is second waits for the answer."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from llm import asking_alone
from llm.connecting import Connected
from llm.misbehaving import Answer, Asked, MisbehavingServer, refuses, says

from skillopt_exp.config.spending import CacheConfig, CacheMode
from skillopt_exp.errors import OutageError
from skillopt_exp.llm import Models
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.limits import Clock
from skillopt_exp.records import Message
from skillopt_exp.runs.answers import AnswerStore, open_answers

QUESTIONS = [f"question {n}" for n in range(40)]
USAGE = {"prompt_tokens": 10, "completion_tokens": 2}


def text_of(asked: Asked) -> str:
    text: str = asked.body["messages"][0]["content"]
    return text


def answers_in(server: MisbehavingServer, seconds: float) -> None:
    server.decide = lambda asked: says(f"{text_of(asked)}!", usage=USAGE, delay=seconds)


def counted(server: MisbehavingServer) -> Counter[str]:
    """The server's own log: how often it was asked each question."""
    return Counter(map(text_of, server.asked))


def test_two_processes_that_begin_at_once_pay_once(server: MisbehavingServer, tmp_path: Path) -> None:
    answers_in(server, 0.05)
    store = tmp_path / "answers.sqlite"
    processes = [
        asking_alone.start(server.url, store, tmp_path / f"calls{n}.jsonl", QUESTIONS) for n in range(2)
    ]
    results = [asking_alone.result(process) for process in processes]
    assert counted(server) == dict.fromkeys(QUESTIONS, 1)
    assert [each["replies"] for each in results] == [[f"{text}!" for text in QUESTIONS]] * 2
    assert sum(each["calls"] for each in results) == len(QUESTIONS)
    assert all(each["calls"] + each["reused"] == len(QUESTIONS) for each in results)


def test_they_share_the_work_and_do_not_stand_in_line(server: MisbehavingServer, tmp_path: Path) -> None:
    """One slot each, opposite orders: who kept its slot while it waits for the other would wait for ever."""
    answers_in(server, 0.05)
    store = tmp_path / "answers.sqlite"
    orders = (QUESTIONS[:20], QUESTIONS[:20][::-1])
    processes = [
        asking_alone.start(server.url, store, tmp_path / f"calls{n}.jsonl", order, at_once=1)
        for n, order in enumerate(orders)
    ]
    results = [asking_alone.result(process) for process in processes]
    assert counted(server) == dict.fromkeys(QUESTIONS[:20], 1)
    assert sum(each["calls"] for each in results) == 20


def test_what_a_killed_process_was_asking_is_taken_over(server: MisbehavingServer, tmp_path: Path) -> None:
    """Its claims would last for minutes: the other one must not wait for that."""
    answers_in(server, 0.2)
    store = tmp_path / "answers.sqlite"
    killed = asking_alone.start(server.url, store, tmp_path / "killed.jsonl", QUESTIONS)
    while len(server.asked) < 8:
        assert killed.poll() is None, killed.communicate()
    waiting = asking_alone.start(server.url, store, tmp_path / "waiting.jsonl", QUESTIONS)
    while len(server.asked) < 16:
        assert waiting.poll() is None, waiting.communicate()
    killed.kill()
    killed.communicate()
    result = asking_alone.result(waiting)
    assert result["replies"] == [f"{text}!" for text in QUESTIONS]
    times = counted(server)
    assert set(times) == set(QUESTIONS)
    assert max(times.values()) <= 2
    assert sum(times.values()) <= len(QUESTIONS) + 4, "what was in flight at the kill, and no more"


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[tuple[AnswerStore, AnswerStore]]:
    """Two owners, as two processes would be."""
    with ExitStack() as stack:
        first, second = (stack.enter_context(open_answers(CacheConfig(), base=tmp_path)) for _ in range(2))
        assert first is not None
        assert second is not None
        yield first, second


def ask(models: Models, text: str) -> "asyncio.Task[Message]":
    return asyncio.create_task(models.target.ask([Message("user", text)], stage=Stage.rollout))


def at_work(answers: AnswerStore | None) -> Mapping[str, Any]:
    """With real time: it passes in the other process, too."""
    return {"answers": answers, "clock": Clock()}


async def until_asked(server: MisbehavingServer, count: int) -> None:
    while len(server.asked) < count:  # noqa: ASYNC110 (the server lives in another thread)
        await asyncio.sleep(0.01)


async def test_who_waits_for_another_process_holds_no_slot(
    server: MisbehavingServer, connected: Connected, stores: tuple[AnswerStore, AnswerStore]
) -> None:
    server.decide = lambda asked: says("ok", usage=USAGE, delay=1.0 if text_of(asked) == "slow" else 0.0)
    async with (
        connected(run=at_work(stores[0])) as first,
        connected(run=at_work(stores[1]), max_concurrency=1) as second,
    ):
        asking = ask(first, "slow")
        await until_asked(server, 1)
        waiting = ask(second, "slow")
        await asyncio.sleep(0.05)
        await ask(second, "quick")
        assert not waiting.done()
        assert (await waiting).content == (await asking).content == "ok"
        assert (second.meter.total().calls, second.meter.total().reused) == (1, 1)
    assert counted(server) == {"slow": 1, "quick": 1}


async def test_who_fails_to_get_an_answer_leaves_the_question_to_who_waits(
    server: MisbehavingServer, connected: Connected, stores: tuple[AnswerStore, AnswerStore]
) -> None:
    server.answers = [
        Answer(refuses(503, "down").body, 503, delay=0.4),
        says("ok", usage=USAGE),
    ]
    async with (
        connected(run=at_work(stores[0]), max_retries=0) as first,
        connected(run=at_work(stores[1])) as second,
    ):
        failing = ask(first, "hi")
        await until_asked(server, 1)
        waiting = ask(second, "hi")
        with pytest.raises(OutageError):
            await failing
        assert (await waiting).content == "ok"
    assert counted(server) == {"hi": 2}


async def test_between_two_tries_of_one_process_another_one_may_try(
    server: MisbehavingServer, connected: Connected, stores: tuple[AnswerStore, AnswerStore]
) -> None:
    server.answers = [refuses(503, "down"), says("ok")]
    resting, go_on = asyncio.Event(), asyncio.Event()

    async def rest(seconds: float) -> None:
        resting.set()
        await go_on.wait()

    async with (
        connected(run={"answers": stores[0], "clock": Clock(sleep=rest)}) as first,
        connected(run=at_work(stores[1])) as second,
    ):
        asking = ask(first, "hi")
        await resting.wait()
        assert (await ask(second, "hi")).content == "ok"
        go_on.set()
        assert (await asking).content == "ok"
        assert (first.meter.total().calls, first.meter.total().reused) == (0, 1)
    assert counted(server) == {"hi": 2}


async def test_a_call_that_waits_for_another_process_can_be_cancelled(
    server: MisbehavingServer, connected: Connected, stores: tuple[AnswerStore, AnswerStore]
) -> None:
    answers_in(server, 0.5)
    async with connected(run=at_work(stores[0])) as first, connected(run=at_work(stores[1])) as second:
        asking = ask(first, "hi")
        await until_asked(server, 1)
        waiting = ask(second, "hi")
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert not asking.done()
        await asking
    assert counted(server) == {"hi": 1}


async def test_a_question_that_is_still_under_way_though_nobody_waits_is_not_sent_again(
    server: MisbehavingServer, connected: Connected, stores: tuple[AnswerStore, AnswerStore]
) -> None:
    answers_in(server, 0.4)
    async with connected(run=at_work(stores[0])) as models:
        left = ask(models, "hi")
        await until_asked(server, 1)
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
        assert (await ask(models, "hi")).content == "hi!"
    assert counted(server) == {"hi": 1}


@pytest.mark.parametrize("mode", [CacheMode.read, CacheMode.none])
async def test_who_keeps_no_answers_waits_for_nobody(
    server: MisbehavingServer,
    connected: Connected,
    stores: tuple[AnswerStore, AnswerStore],
    tmp_path: Path,
    mode: CacheMode,
) -> None:
    answers_in(server, 0.3)
    with open_answers(CacheConfig(mode=mode), base=tmp_path) as loner:
        async with connected(run=at_work(stores[0])) as first, connected(run=at_work(loner)) as second:
            asking = ask(first, "hi")
            await until_asked(server, 1)
            alone = ask(second, "hi")
            await until_asked(server, 2)
            await asyncio.gather(asking, alone)
    assert counted(server) == {"hi": 2}
