import asyncio
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm.connecting import Sleeps

from skillopt_exp.llm.failure import CallFailed, Failure
from skillopt_exp.llm.limits import FIRST_PAUSE, LONGEST_PAUSE, EndpointLimit, Slots, pause
from skillopt_exp.llm.underway import Underway

BUSY = Failure("busy", status=429)
DOWN = Failure("down", status=503)


class Scripted:
    """Fails as told, then answers."""

    def __init__(self, *failures: Failure) -> None:
        self.failures = list(failures)
        self.sent = 0

    async def __call__(self) -> str:
        self.sent += 1
        await asyncio.sleep(0)
        if self.failures:
            raise CallFailed(self.failures.pop(0))
        return "answer"


def limited(ceiling: int, sleeps: Sleeps, chance: float = 0.5) -> EndpointLimit:
    return EndpointLimit("m", ceiling, sleeps.clock(chance), Underway())


async def call(limit: EndpointLimit, script: Scripted, *, max_retries: int) -> str:
    return await limit.patiently(lambda: limit.once(script), max_retries=max_retries)


@given(
    tries=st.integers(1, 10_000),
    retry_after=st.none() | st.floats(0, 900),
    chance=st.floats(0, 1, exclude_max=True),
)
def test_a_pause_is_bounded_and_never_shorter_than_asked_for(
    tries: int, retry_after: float | None, chance: float
) -> None:
    seconds = pause(tries, retry_after, chance)
    least = 0.0 if retry_after is None else retry_after
    assert least <= seconds <= least + LONGEST_PAUSE


def test_pauses_double_up_to_a_bound() -> None:
    longest = [pause(tries, None, 1.0) for tries in range(1, 9)]
    assert longest[:4] == [FIRST_PAUSE, 4.0, 8.0, 16.0]
    assert longest[-1] == LONGEST_PAUSE


async def test_pauses_are_slept_and_patience_has_an_end(sleeps: Sleeps) -> None:
    limit = limited(4, sleeps)
    assert await call(limit, Scripted(DOWN, DOWN), max_retries=2) == "answer"
    assert sleeps.naps == [1.0, 2.0]
    impatient = Scripted(DOWN, DOWN, DOWN)
    with pytest.raises(CallFailed):
        await call(limit, impatient, max_retries=2)
    assert impatient.sent == 3


async def test_zero_retries_means_one_call(sleeps: Sleeps) -> None:
    once = Scripted(DOWN)
    with pytest.raises(CallFailed):
        await call(limited(1, sleeps), once, max_retries=0)
    assert (once.sent, sleeps.naps) == (1, [])


async def test_a_refusal_is_raised_without_a_pause(sleeps: Sleeps) -> None:
    with pytest.raises(CallFailed):
        await call(limited(4, sleeps), Scripted(Failure("no", status=401)), max_retries=5)
    assert sleeps.naps == []


async def test_a_provider_that_asks_for_a_day_is_not_waited_for(sleeps: Sleeps) -> None:
    with pytest.raises(CallFailed):
        await call(
            limited(4, sleeps), Scripted(Failure("busy", status=429, retry_after=86_400.0)), max_retries=5
        )
    assert sleeps.naps == []


async def test_a_retry_after_keeps_everybody_away(sleeps: Sleeps) -> None:
    limit = limited(4, sleeps)
    with pytest.raises(CallFailed):
        await call(limit, Scripted(Failure("busy", status=429, retry_after=30.0)), max_retries=0)
    await call(limit, Scripted(), max_retries=0)
    assert sleeps.naps == [30.0]
    await call(limit, Scripted(), max_retries=0)
    assert sleeps.naps == [30.0]


async def test_a_429_halves_the_limit_and_answers_win_it_back(sleeps: Sleeps) -> None:
    limit = limited(8, sleeps)
    await call(limit, Scripted(BUSY), max_retries=1)
    assert limit.allowed == 4
    for _ in range(3):  # with the answer of the retry, a window of four
        await call(limit, Scripted(), max_retries=0)
    assert limit.allowed == 5
    for _ in range(5 + 6 + 7 + 20):
        await call(limit, Scripted(), max_retries=0)
    assert limit.allowed == 8


async def test_one_burst_of_429s_halves_the_limit_once(sleeps: Sleeps) -> None:
    limit = limited(8, sleeps)
    burst = [call(limit, Scripted(BUSY), max_retries=0) for _ in range(8)]
    results = await asyncio.gather(*burst, return_exceptions=True)
    assert all(isinstance(result, CallFailed) for result in results)
    assert limit.allowed == 4


async def test_the_limit_never_falls_below_one(sleeps: Sleeps) -> None:
    limit = limited(2, sleeps)
    with pytest.raises(CallFailed):
        await call(limit, Scripted(*[BUSY] * 7), max_retries=6)
    assert limit.allowed == 1


async def test_a_long_outage_is_said_but_not_a_thousand_times(
    sleeps: Sleeps, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    limit = limited(50, sleeps, chance=0.0)
    await asyncio.gather(*(call(limit, Scripted(DOWN), max_retries=1) for _ in range(50)))
    assert len(caplog.records) == 1
    sleeps.now += 60.0
    await call(limit, Scripted(DOWN), max_retries=1)
    assert len(caplog.records) == 2
    assert "49 more" in caplog.text


@given(ceiling=st.integers(1, 5), callers=st.integers(1, 25))
async def test_slots_are_never_exceeded_and_are_given_in_order(ceiling: int, callers: int) -> None:
    slots = Slots(ceiling)
    order: list[int] = []
    held = most = 0

    async def hold(number: int) -> None:
        nonlocal held, most
        await slots.enter()
        order.append(number)
        held += 1
        most = max(most, held)
        await asyncio.sleep(0)
        held -= 1
        slots.leave()

    await asyncio.gather(*(hold(number) for number in range(callers)))
    assert order == list(range(callers))
    assert most == min(ceiling, callers)


@given(cancelled=st.sets(st.integers(0, 9)), yields=st.integers(0, 3))
async def test_a_cancelled_caller_keeps_no_slot(cancelled: set[int], yields: int) -> None:
    slots = Slots(1)
    done: list[int] = []

    async def hold(number: int) -> None:
        await slots.enter()
        try:
            await asyncio.sleep(0)
            done.append(number)
        finally:
            slots.leave()

    tasks = [asyncio.ensure_future(hold(number)) for number in range(10)]
    for _ in range(yields):
        await asyncio.sleep(0)
    for number in cancelled:
        tasks[number].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert set(range(10)) - cancelled <= set(done)
    await asyncio.wait_for(hold(10), timeout=5)
