"""A synchronous library beside the event loop: failures and cancellations find their way out of it."""

import asyncio
import threading

import pytest

from skillopt_exp.algorithms.threads import Calls, Left, in_thread
from skillopt_exp.errors import OutageError


async def doubled(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


async def refused() -> int:
    raise OutageError("nobody answers")


async def test_the_loop_answers_while_the_thread_waits() -> None:
    def library(calls: Calls) -> tuple[int, bool]:
        return calls(doubled(calls(doubled(5)))), threading.current_thread() is threading.main_thread()

    assert await in_thread(library) == (20, False)


async def test_a_failure_passes_the_librarys_own_handlers_and_comes_out_as_it_was() -> None:
    gone_on = []

    def library(calls: Calls) -> None:
        for number in range(3):
            try:
                calls(refused())
            except Exception as error:  # noqa: BLE001 - as libraries do
                gone_on.append((number, error))
            finally:
                with pytest.raises(Left):
                    calls(doubled(number))

    with pytest.raises(OutageError, match="nobody answers"):
        await in_thread(library)
    assert gone_on == []


async def test_a_failure_of_the_library_itself_comes_out_too() -> None:
    def library(calls: Calls) -> None:
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        await in_thread(library)


async def test_cancelled_it_asks_nothing_more_and_lets_the_thread_end() -> None:
    asked, ended, never = asyncio.Event(), threading.Event(), asyncio.Event()
    cancelled = []

    async def waits() -> None:
        asked.set()
        try:
            await never.wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    def library(calls: Calls) -> None:
        try:
            calls(waits())
        finally:
            ended.set()

    running = asyncio.create_task(in_thread(library))
    await asked.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert ended.is_set()
    assert cancelled == [True]
