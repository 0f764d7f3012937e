"""An outage costs nothing but time: few silent calls are put back, many pause the run."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm.connecting import Connected, Sleeps
from llm.misbehaving import Answer, Asked, MisbehavingServer, refuses, says

from skillopt_exp.config.spending import CacheConfig
from skillopt_exp.errors import OutageError
from skillopt_exp.flow import ordered
from skillopt_exp.llm import Models
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.health import ENOUGH_TO_JUDGE, MOST_ROUNDS, WINDOW, Health
from skillopt_exp.records import Message, Role
from skillopt_exp.runs.answers import AnswerStore, open_answers

ROWS = [f"row {n}" for n in range(20)]
DOWN = refuses(503, "overloaded")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[AnswerStore]:
    with open_answers(CacheConfig(), base=tmp_path) as answers:
        assert answers is not None
        yield answers


def text_of(asked: Asked) -> str:
    text: str = asked.body["messages"][0]["content"]
    return text


async def ask_all(models: Models, rows: Sequence[str], role: Role = Role.target) -> list[str]:
    chat = models.target if role is Role.target else models.optimizer

    async def one(row: str) -> str:
        return (await chat.ask([Message("user", row)], stage=Stage.rollout)).content

    return list(await ordered(one, rows))


async def test_three_silent_rows_of_twenty_pause_the_run_and_are_all_that_is_asked_on_resume(
    server: MisbehavingServer, connected: Connected, store: AnswerStore
) -> None:
    silent = {
        "row 3": DOWN,
        "row 8": refuses(500, "no luck"),
        "row 15": refuses(502, "bad gateway"),
    }
    server.decide = lambda asked: silent.get(text_of(asked), says("ok"))
    async with connected(run={"answers": store}, max_retries=2) as models:
        with pytest.raises(OutageError) as outage:
            await ask_all(models, ROWS)
    assert outage.value.exit_code == 75
    for part in (
        "the run pauses", "HTTP 503: overloaded", "HTTP 500: no luck", "HTTP 502: bad gateway",
        "model.target", f"{server.url}/chat/completions", "TARGET_KEY", "resume",
    ):  # fmt: skip
        assert part in str(outage.value)
    assert store.count == 17
    before = len(server.asked)
    server.decide = lambda asked: says("ok")
    async with connected(run={"answers": store}) as models:
        assert await ask_all(models, ROWS) == ["ok"] * 20
    assert {text_of(asked) for asked in server.asked[before:]} == silent.keys()
    assert len(server.asked) == before + 3


@pytest.mark.parametrize("down", [DOWN, Answer("", drop=True), Answer("{", 200)])
@pytest.mark.parametrize("rows", [1, 5, 20, 60])
async def test_a_server_that_is_down_from_the_start_takes_one_round_of_patience(
    server: MisbehavingServer, connected: Connected, store: AnswerStore, rows: int, down: Answer
) -> None:
    server.answers = [down]
    async with connected(run={"answers": store}, max_retries=2) as models:
        with pytest.raises(OutageError):
            await ask_all(models, [f"row {n}" for n in range(rows)])
    each = Counter(map(text_of, server.asked))
    # Three tries are one round. Rows that failed before the others may be in their second round, and
    # count twice among the calls that are judged; how many are depends on the order of arrival.
    judged = min(rows, ENOUGH_TO_JUDGE)
    assert 3 * judged <= sum(each.values()) <= 2 * 3 * rows
    assert max(each.values()) <= 3 * 3
    assert store.count == 0


async def test_a_silent_server_is_waited_for_by_all_at_once_while_its_fields_are_unknown(
    server: MisbehavingServer, connected: Connected, sleeps: Sleeps
) -> None:
    server.answers = [DOWN]
    async with connected(max_retries=2, temperature=0.5) as models:
        with pytest.raises(OutageError):
            await ask_all(models, ROWS)
    # Three tries stand for all twenty rows; a few more where one row came late.
    assert 3 <= len(server.asked) <= 12


async def test_a_call_that_stays_silent_is_put_back_while_such_calls_are_few(
    server: MisbehavingServer, connected: Connected
) -> None:
    turns: Counter[str] = Counter()

    def decide(asked: Asked) -> Answer:
        turns[text_of(asked)] += 1
        return DOWN if text_of(asked) == "row 7" and turns["row 7"] <= 5 else says("ok")

    server.decide = decide
    async with connected(max_retries=2) as models:
        assert await ask_all(models, ROWS) == ["ok"] * 20
    assert turns["row 7"] == 6


async def test_a_call_that_stays_silent_for_good_pauses_the_run_in_the_end(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.decide = lambda asked: DOWN if text_of(asked) == "row 7" else says("ok")
    async with connected(max_retries=2) as models:
        with pytest.raises(OutageError):
            await ask_all(models, [f"row {n}" for n in range(60)])
    assert Counter(map(text_of, server.asked))["row 7"] == 3 * MOST_ROUNDS


async def test_where_no_call_may_stay_silent_the_first_pauses_the_run(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.decide = lambda asked: DOWN if text_of(asked) == "row 7" else says("ok")
    async with connected(max_retries=2, max_error_rate=0.0) as models:
        with pytest.raises(OutageError):
            await ask_all(models, [f"row {n}" for n in range(60)])
    assert Counter(map(text_of, server.asked))["row 7"] == 3


async def test_one_endpoints_answers_do_not_hide_that_the_other_is_out(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.decide = lambda asked: DOWN if asked.body["model"] == "large" else says("ok")
    async with connected() as models:
        await ask_all(models, [f"row {n}" for n in range(100)])
        with pytest.raises(OutageError, match=r"model\.optimizer .*OPTIMIZER_KEY"):
            await ask_all(models, ["a", "b"], Role.optimizer)
        # Whoever asks now is told the same: the run pauses as a whole.
        with pytest.raises(OutageError, match=r"model\.optimizer"):
            await ask_all(models, ["new"])


async def test_what_is_under_way_at_a_pause_finishes_and_is_kept(
    server: MisbehavingServer, connected: Connected, store: AnswerStore
) -> None:
    server.decide = lambda asked: says("ok", delay=0.4) if text_of(asked) == "slow" else DOWN
    async with connected(run={"answers": store, "grace": 0.0}, max_retries=0, max_error_rate=0.0) as models:
        with pytest.raises(OutageError):
            await ask_all(models, ["slow", "a", "b"])
    assert store.count == 1


async def test_a_provider_that_asks_for_a_day_pauses_the_run_at_once(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.decide = lambda asked: (
        refuses(429, "daily quota", headers={"retry-after": "86400"})
        if text_of(asked) == "late"
        else says("ok")
    )
    async with connected() as models:
        await ask_all(models, ROWS)
        with pytest.raises(OutageError, match="86400 s"):
            await ask_all(models, ["late"])
    assert len(server.asked) == 21


async def test_more_than_three_causes_are_counted(server: MisbehavingServer, connected: Connected) -> None:
    server.decide = lambda asked: refuses(500, f"cause of {text_of(asked)}")
    async with connected(max_retries=0) as models:
        with pytest.raises(OutageError, match="and 2 more causes") as outage:
            await ask_all(models, ROWS[:5])
    assert str(outage.value).count("cause of row") == 3


OUTCOMES = st.lists(st.sampled_from([None, "down"]), max_size=300)


@given(OUTCOMES, st.floats(0, 1, exclude_max=True))
def test_the_last_calls_alone_are_judged_and_not_before_there_are_enough(
    outcomes: list[str | None], rate: float
) -> None:
    health = Health(rate)
    with health.caller():
        for cause in outcomes:
            if cause is None:
                health.answered()
            else:
                health.stayed_unanswered(cause)
        last = outcomes[-WINDOW:]
        failed = sum(cause is not None for cause in last)
        if rate == 0:
            assert health.poor is (failed > 0)
        else:
            enough = len(last) >= ENOUGH_TO_JUDGE
            assert health.poor is (enough and failed / len(last) > rate)
    assert len(health.causes) <= 1


async def test_all_who_ask_must_have_failed_before_a_start_counts_as_failed() -> None:
    health = Health(0.5)
    with health.caller() as first, health.caller() as second:
        assert not first.unanswered("down")
        assert second.unanswered("down")
    with health.caller() as third:
        health.answered()
        assert not third.unanswered("down")
    await asyncio.sleep(0)
