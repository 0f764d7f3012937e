"""What was paid for is kept: asked once, whoever asks again."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm import asking_alone
from llm.connecting import KEY, Connected
from llm.misbehaving import Answer, Asked, MisbehavingServer, refuses, says

from skillopt_exp.config.model import EndpointConfig, ModelConfig, Provider
from skillopt_exp.config.spending import CacheConfig, CacheMode
from skillopt_exp.errors import OutageError, ReplyFault
from skillopt_exp.llm import connect
from skillopt_exp.llm.answers import question_key
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.connect import Accounts
from skillopt_exp.records import Fault, Message, Role, Usage
from skillopt_exp.runs.answers import AnswerStore, open_answers
from skillopt_exp.runs.calls import CallLog

HI = (Message("user", "hi"),)
USAGE = {"prompt_tokens": 10, "completion_tokens": 2}


@contextmanager
def opened(folder: Path, mode: CacheMode = CacheMode.readwrite) -> Iterator[AnswerStore | None]:
    with open_answers(CacheConfig(mode=mode), base=folder) as answers:
        yield answers


def numbered(server: MisbehavingServer) -> None:
    """Every answer tells how many requests there were before it."""
    server.decide = lambda asked: says(f"answer {len(server.asked)}", usage=USAGE)


async def test_what_was_answered_once_is_not_asked_again_and_counted_as_reused(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    numbered(server)
    for turn in (1, 2):
        with opened(tmp_path) as answers:
            async with connected(run={"answers": answers}) as models:
                assert (await models.target.ask(HI, stage=Stage.rollout)).content == "answer 1"
                assert (await models.target.ask(HI, stage=Stage.test)).content == "answer 1"
                usage = models.meter.by_stage()
        assert usage["target/test"] == Usage(reused=1)
        assert usage["target/rollout"].calls == (1 if turn == 1 else 0)
        assert models.meter.answering_models(Role.target) == ("served-model-0813",)
    assert len(server.asked) == 1


async def test_whatever_an_answer_may_depend_on_makes_another_question(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    questions: list[tuple[dict[str, Any], dict[str, Any], str]] = [
        ({}, {}, "hi"),
        ({}, {}, "ho"),
        ({}, {"attempt": 2}, "hi"),
        ({}, {"json": True}, "hi"),
        ({"name": "other"}, {}, "hi"),
        ({"revision": "2026-10"}, {}, "hi"),
        ({"temperature": 0.0}, {}, "hi"),
        ({"max_tokens": 50}, {}, "hi"),
        ({"reasoning_effort": "low"}, {}, "hi"),
        ({"base_url": server.url.replace("/v1", "/prefix/v1")}, {}, "hi"),
        ({"base_url": server.url.replace("127.0.0.1", "localhost")}, {}, "hi"),
    ]
    for round_ in (1, 2):
        for settings, how, text in questions:
            with opened(tmp_path) as answers:
                async with connected(run={"answers": answers}, **settings) as models:
                    await models.target.ask([Message("user", text)], stage=Stage.rollout, **how)
        assert len(server.asked) == len(questions), round_


async def test_what_an_answer_cannot_depend_on_makes_no_other_question(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    for settings in ({}, {"timeout": 9.0}, {"max_retries": 0}, {"max_concurrency": 1}, {"api_key_env": None}):
        with opened(tmp_path) as answers:
            async with connected(run={"answers": answers}, **settings) as models:
                await models.target.ask(HI, stage=Stage.rollout)
    assert len(server.asked) == 1


async def test_the_revision_of_a_simulation_is_given_from_outside(tmp_path: Path) -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(200, text=says(f"answer {len(asked)}").body)

    simulated = EndpointConfig(provider=Provider.simulated, name="m")
    config = ModelConfig(target=simulated, optimizer=simulated)
    replies = []
    for revision in ("source 1", "source 2", "source 1"):
        with opened(tmp_path) as answers:
            async with connect(
                config,
                transport=httpx2.MockTransport(answer),
                accounts=Accounts(answers),
                revisions={Provider.simulated: revision},
            ) as models:
                replies.append((await models.target.ask(HI, stage=Stage.rollout)).content)
    assert replies == ["answer 1", "answer 2", "answer 1"]


@pytest.mark.parametrize(
    ("mode", "asked", "kept"),
    [(CacheMode.readwrite, 1, 2), (CacheMode.read, 2, 1), (CacheMode.none, 4, 1)],
)
async def test_a_mode_says_whether_answers_are_taken_and_kept(
    server: MisbehavingServer, connected: Connected, tmp_path: Path, mode: CacheMode, asked: int, kept: int
) -> None:
    with opened(tmp_path) as answers:
        async with connected(run={"answers": answers}) as models:
            await models.target.ask(HI, stage=Stage.rollout)
    for _ in range(2):
        with opened(tmp_path, mode) as answers:
            async with connected(run={"answers": answers}) as models:
                await models.target.ask(HI, stage=Stage.rollout)
                await models.target.ask([Message("user", "new")], stage=Stage.rollout)
    assert len(server.asked) == 1 + asked
    with opened(tmp_path) as answers:
        assert answers is not None
        assert answers.count == kept


@pytest.mark.parametrize(
    "failure",
    [
        refuses(503, "down"),
        Answer("{", 200),
        Answer('{"error": {"code": 503, "message": "x"}}', 200),
        says("half", finish="insufficient_system_resource"),
        Answer("", drop=True),
    ],
)
async def test_failures_are_never_kept(
    server: MisbehavingServer, connected: Connected, tmp_path: Path, failure: Answer
) -> None:
    server.answers = [failure]
    with opened(tmp_path) as answers:
        assert answers is not None
        async with connected(run={"answers": answers}, max_retries=1) as models:
            with pytest.raises(OutageError):
                await models.target.ask(HI, stage=Stage.rollout)
            assert sum(models.meter.failures(Role.target).values()) == len(server.asked) == 2
        assert answers.count == 0


async def test_a_filtered_prompt_is_not_kept_and_a_filtered_reply_is(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    for answer, kept in (
        (refuses(400, "no", code="content_filter"), 0),
        (says("", finish="content_filter"), 1),
    ):
        server.answers = [answer]
        with opened(tmp_path) as answers:
            assert answers is not None
            async with connected(run={"answers": answers}) as models:
                with pytest.raises(ReplyFault):
                    await models.target.ask(HI, stage=Stage.rollout)
            assert answers.count == kept


async def test_a_cut_reply_is_kept_as_the_answer_to_its_own_question(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    server.answers = [says("Osl", finish="length"), says("Oslo")]
    for _ in range(2):
        with opened(tmp_path) as answers:
            async with connected(run={"answers": answers}, max_tokens=2000) as models:
                assert (await models.target.ask(HI, stage=Stage.rollout)).content == "Oslo"
    assert [body["max_tokens"] for body in server.bodies] == [2000, 8000]


async def test_another_way_of_asking_is_another_question(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    server.decide = lambda asked: says(
        "" if "response_format" in asked.body else f"answer {len(server.asked)}"
    )
    for _ in range(2):
        with opened(tmp_path) as answers:
            async with connected(run={"answers": answers}) as models:
                again = await models.target.ask(HI, stage=Stage.rollout, json=True)
                plain = await models.target.ask(HI, stage=Stage.rollout)
        assert (again.content, plain.content) == ("answer 2", "answer 3")


async def test_the_same_question_asked_at_once_is_one_call(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    server.decide = lambda asked: says(f"answer {len(server.asked)}", usage=USAGE, delay=0.1)
    with opened(tmp_path) as answers:
        async with connected(run={"answers": answers}) as models:
            replies = await asyncio.gather(*(models.target.ask(HI, stage=Stage.rollout) for _ in range(20)))
            usage = models.meter.total()
    assert {reply.content for reply in replies} == {"answer 1"}
    assert len(server.asked) == 1
    assert (usage.calls, usage.reused, usage.input_tokens) == (1, 19, 10)


async def test_who_shares_a_call_gets_its_answer_though_the_first_asker_left(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    server.decide = lambda asked: says("Oslo", delay=0.2)
    with opened(tmp_path) as answers:
        async with connected(run={"answers": answers}, max_concurrency=1) as models:
            other = asyncio.create_task(models.target.ask([Message("user", "other")], stage=Stage.rollout))
            askers = [asyncio.create_task(models.target.ask(HI, stage=Stage.rollout)) for _ in range(3)]
            await asyncio.sleep(0.05)
            askers[0].cancel()  # still waiting for the only slot
            replies = await asyncio.gather(*askers, other, return_exceptions=True)
    assert isinstance(replies[0], asyncio.CancelledError)
    assert [reply.content for reply in replies[1:] if isinstance(reply, Message)] == ["Oslo"] * 3
    assert len(server.asked) == 2


async def test_without_a_store_every_question_is_asked(
    server: MisbehavingServer, connected: Connected
) -> None:
    async with connected() as models:
        await asyncio.gather(*(models.target.ask(HI, stage=Stage.rollout) for _ in range(5)))
    assert len(server.asked) == 5


async def test_a_hit_takes_no_slot(server: MisbehavingServer, connected: Connected, tmp_path: Path) -> None:
    with opened(tmp_path) as answers:
        async with connected(run={"answers": answers}, max_concurrency=1) as models:
            await models.target.ask(HI, stage=Stage.rollout)
            server.decide = lambda asked: says("late", delay=0.5)
            slow = asyncio.create_task(models.target.ask([Message("user", "slow")], stage=Stage.rollout))
            await asyncio.sleep(0.05)
            await models.target.ask(HI, stage=Stage.rollout)
            assert not slow.done()
            await slow


async def test_a_damaged_entry_is_dropped_and_asked_for_again(
    server: MisbehavingServer, connected: Connected, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Spoiled(AnswerStore):
        def get(self, key: str) -> str | None:
            self.put(key, "<html>")
            return super().get(key)

    with opened(tmp_path) as answers:
        assert answers is not None
        spoiled = Spoiled(answers.path, max_bytes=10**9)
        async with connected(run={"answers": spoiled}) as models:
            assert (await models.target.ask(HI, stage=Stage.rollout)).content == "hello"
        spoiled.close()
        assert "no chat completion" in caplog.text
        async with connected(run={"answers": answers}) as models:
            assert (await models.target.ask(HI, stage=Stage.rollout)).content == "hello"
    assert len(server.asked) == 1


async def test_a_key_that_a_server_echoes_is_not_kept(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    server.decide = lambda asked: says(f"you sent {asked.headers['Authorization']}", note=KEY)
    with opened(tmp_path) as answers:
        async with connected(run={"answers": answers}) as models:
            first = await models.target.ask(HI, stage=Stage.rollout)
            assert await models.target.ask(HI, stage=Stage.rollout) == first
    assert "you sent" in first.content
    for file in tmp_path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes()


async def test_the_ledger_says_what_was_asked_answered_and_paid(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    numbered(server)
    log = CallLog(tmp_path / "calls.jsonl")
    with opened(tmp_path) as answers:
        for _ in range(2):
            async with connected(run={"answers": answers, "ledger": log}) as models:
                await models.target.ask(HI, stage=Stage.rollout, attempt=2)
                total = models.meter.total()
        assert answers is not None
        paid, reused = asking_alone.answered(log)
        assert answers.get(paid.key) is not None
    log.close()
    assert (paid.role, paid.stage, paid.asked, paid.answered) == (
        Role.target, Stage.rollout, "small", "served-model-0813",
    )  # fmt: skip
    assert (paid.host, paid.finish_reason, paid.attempt) == (server.url[7:-3], "stop", 2)
    assert (paid.input_tokens, paid.cached_tokens, paid.output_tokens) == (10, None, 2)
    assert (paid.reused, reused.reused) == (False, True)
    assert paid.key == reused.key
    # The second connection began with what the first had spent.
    assert (total.calls, total.reused, total.input_tokens) == (1, 1, 10)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.dictionaries(st.text(), JSON, max_size=4), st.randoms(use_true_random=False))
def test_a_key_depends_on_what_is_said_and_not_on_the_order_of_fields(
    parts: dict[str, Any], random: Any
) -> None:
    shuffled = list(parts.items())
    random.shuffle(shuffled)
    assert question_key(dict(shuffled)) == question_key(parts)
    assert question_key({**parts, "one more": 1}) != question_key(parts) or parts.get("one more") == 1


def answered_by_turn(server: MisbehavingServer, *, delay: float) -> None:
    """Every answer says which question it is to, and how often that was asked."""
    turns: Counter[str] = Counter()

    def decide(asked: Asked) -> Answer:
        text = asked.body["messages"][0]["content"]
        turns[text] += 1
        return says(f"{text}, asked {turns[text]}", usage=USAGE, delay=delay)

    server.decide = decide


QUESTIONS = [f"question {n}" for n in range(40)]


@pytest.mark.parametrize("seen", [3, 22])
def test_a_killed_process_has_kept_every_answer_and_asks_again_what_was_in_flight(
    server: MisbehavingServer, tmp_path: Path, seen: int
) -> None:
    answered_by_turn(server, delay=0.03)
    store, calls = tmp_path / "answers.sqlite", tmp_path / "calls.jsonl"
    killed = asking_alone.start(server.url, store, calls, QUESTIONS)
    while len(server.asked) < seen:
        assert killed.poll() is None, killed.communicate()
    killed.kill()
    killed.communicate()
    time.sleep(0.1)  # the server reads what was sent before the kill
    before = len(server.asked)
    with open_answers(CacheConfig(path=str(store)), base=tmp_path) as answers:
        assert answers is not None
        kept = answers.count
    log = CallLog(calls)
    written = len(asking_alone.answered(log))
    assert seen - 4 <= kept <= written <= kept + 1

    resumed = asking_alone.result(asking_alone.start(server.url, store, calls, QUESTIONS))
    asked = Counter(body["messages"][0]["content"] for body in server.bodies)
    again = [question for question in QUESTIONS if asked[question] > 1]
    assert sum(asked.values()) == before + len(QUESTIONS) - kept
    assert len(again) == before - kept <= 4
    assert all(
        reply.startswith(question) for reply, question in zip(resumed["replies"], QUESTIONS, strict=True)
    )
    # What was paid, over both processes: every answer that came in, and no other.
    assert resumed["calls"] == written + len(QUESTIONS) - kept
    assert resumed["tokens"] == 10 * resumed["calls"]
    assert resumed["reused"] == kept
    assert len(asking_alone.answered(log)) == resumed["calls"] + resumed["reused"]


def test_four_processes_share_one_store_and_are_told_the_same(
    server: MisbehavingServer, tmp_path: Path
) -> None:
    answered_by_turn(server, delay=0.02)
    store = tmp_path / "answers.sqlite"
    orders = [QUESTIONS[n * 10 :] + QUESTIONS[: n * 10] for n in range(4)]
    processes = [
        asking_alone.start(server.url, store, tmp_path / f"calls{n}.jsonl", order)
        for n, order in enumerate(orders)
    ]
    results = [asking_alone.result(process) for process in processes]
    told = [
        dict(zip(order, each["replies"], strict=True)) for order, each in zip(orders, results, strict=True)
    ]
    assert told[0] == told[1] == told[2] == told[3]
    assert sum(each["calls"] for each in results) == len(server.asked)
    assert sum(each["calls"] + each["reused"] for each in results) == 4 * len(QUESTIONS)
    with open_answers(CacheConfig(path=str(store)), base=tmp_path) as answers:
        assert answers is not None
        assert answers.count == len(QUESTIONS)
    late = asking_alone.result(asking_alone.start(server.url, store, tmp_path / "calls9.jsonl", QUESTIONS))
    assert dict(zip(QUESTIONS, late["replies"], strict=True)) == told[0]
    assert late["calls"] == 0


def test_a_new_process_takes_the_ways_of_one_that_knew_the_endpoint(
    server: MisbehavingServer, tmp_path: Path
) -> None:
    """What a process has learned of the endpoint must not change the result."""

    def decide(asked: Asked) -> Answer:
        limits = [name for name in asked.body if name.startswith("max_")]
        if limits:
            return refuses(400, "no such field", param=limits[0])
        text = asked.body["messages"][0]["content"]
        number = len(server.asked)
        return says(f"{text}: {number}", finish="length" if int(text.split()[1]) % 3 == 0 else "stop")

    server.decide = decide
    asked = []
    results = []
    for _ in range(2):
        process = asking_alone.start(
            server.url, tmp_path / "a.sqlite", tmp_path / "calls.jsonl", QUESTIONS[:9]
        )
        results.append(asking_alone.result(process)["replies"])
        asked.append([body for body in server.bodies if not any(name.startswith("max_") for name in body)])
    assert results[0] == results[1]
    assert results[0].count(f"fault: {Fault.truncated}") == 3
    assert len(asked[0]) == len(asked[1]) == 9
    assert json.dumps(asked[0]) == json.dumps(asked[1])
