"""A request that was sent is seen to its end, whoever stops waiting for it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm import asking_alone
from llm.connecting import Connected
from llm.misbehaving import MisbehavingServer, refuses, says

from skillopt_exp.config.spending import CacheConfig
from skillopt_exp.errors import InterruptedRun, ProviderError
from skillopt_exp.flow import ordered
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.llm.limits import Clock
from skillopt_exp.records import Message, Role
from skillopt_exp.runs.answers import AnswerStore, open_answers
from skillopt_exp.runs.calls import CallLog


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    with open_answers(CacheConfig(), base=tmp_path) as answers:
        assert answers is not None
        yield answers


def asking(chat: Chat, *texts: str) -> list["asyncio.Task[Message]"]:
    return [asyncio.create_task(chat.ask([Message("user", text)], stage=Stage.rollout)) for text in texts]


async def until_asked(server: MisbehavingServer, count: int) -> None:
    while len(server.asked) < count:  # noqa: ASYNC110 (the server lives in another thread)
        await asyncio.sleep(0.01)


async def test_a_cancelled_call_finishes_and_its_answer_is_kept_and_counted(
    server: MisbehavingServer, connected: Connected, store: AnswerStore, tmp_path: Path
) -> None:
    server.answers = [says("Oslo", usage={"prompt_tokens": 7, "completion_tokens": 1}, delay=0.3)]
    log = CallLog(tmp_path / "calls.jsonl")
    async with connected(run={"answers": store, "ledger": log}) as models:
        tasks = asking(models.target, "a", "b")
        await until_asked(server, 2)
        for task in tasks:
            task.cancel()
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert all(isinstance(each, asyncio.CancelledError) for each in ended)
        assert store.count == 0
    log.close()
    assert store.count == 2
    assert models.meter.usage(Role.target, Stage.rollout).input_tokens == 14
    assert len(asking_alone.answered(log)) == 2
    async with connected(run={"answers": store}) as models:
        [task] = asking(models.target, "a")
        assert (await task).content == "Oslo"
    assert len(server.asked) == 2


async def test_a_neighbours_failure_costs_no_answer_under_way(
    server: MisbehavingServer, connected: Connected, store: AnswerStore
) -> None:
    server.decide = lambda asked: (
        refuses(401, "who are you?")
        if asked.body["messages"][0]["content"] == "bad"
        else says("ok", delay=0.2)
    )
    async with connected(run={"answers": store}) as models:

        async def one(text: str) -> Message:
            return await models.target.ask([Message("user", text)], stage=Stage.rollout)

        with pytest.raises(ProviderError):
            await ordered(one, ["a", "b", "bad", "c"])
    assert store.count == 3


async def test_leaving_waits_for_a_while_only(
    server: MisbehavingServer, connected: Connected, store: AnswerStore, caplog: pytest.LogCaptureFixture
) -> None:
    server.answers = [says("never", delay=3.0)]
    async with connected(run={"answers": store, "grace": 0.05}) as models:
        [task] = asking(models.target, "a")
        await until_asked(server, 1)
        task.cancel()
    assert store.count == 0
    assert "finishing 1 requests under way, for up to 0.05 s" in caplog.text
    assert "given up" in caplog.text


async def test_a_second_interruption_ends_the_waiting(
    server: MisbehavingServer, connected: Connected, store: AnswerStore
) -> None:
    server.answers = [says("never", delay=3.0)]

    async def run() -> None:
        async with connected(run={"answers": store, "grace": 60.0}) as models:
            await asyncio.gather(*asking(models.target, "a"))

    running = asyncio.create_task(run())
    await until_asked(server, 1)
    for _ in range(2):
        running.cancel()
        await asyncio.sleep(0.05)
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(running, timeout=2)
    assert store.count == 0


async def test_nothing_starts_once_the_run_is_closing(
    server: MisbehavingServer, connected: Connected, store: AnswerStore
) -> None:
    server.answers = [says("ok", delay=0.2)]
    async with connected(run={"answers": store}, max_concurrency=1) as models:
        tasks = asking(models.target, "a", "b", "c")
        await until_asked(server, 1)
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (await tasks[0]).content == "ok"
    for late in (*tasks[1:], *asking(models.target, "d")):
        with pytest.raises(InterruptedRun, match="resume"):
            await late
    assert len(server.asked) == 1


async def test_a_call_that_waits_for_its_retry_is_simply_dropped(
    server: MisbehavingServer, connected: Connected, store: AnswerStore
) -> None:
    server.answers = [refuses(503, "down")]
    napping = asyncio.Event()

    async def nap(seconds: float) -> None:
        napping.set()
        await asyncio.sleep(3600)

    async with connected(run={"answers": store, "clock": Clock(sleep=nap)}) as models:
        [task] = asking(models.target, "a")
        await napping.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert len(server.asked) == 1
