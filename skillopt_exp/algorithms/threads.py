"""Synchronous libraries beside the event loop: in a thread of their own, their questions handed to the loop.

Everything that is ours runs in the loop's thread, as it does for SkillOpt; the library's thread waits.
"""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from threading import Lock
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Left(BaseException):
    """Leads out of the library, past its handlers of ``Exception``; ``cause`` is what it left for."""

    def __init__(self, cause: BaseException) -> None:
        super().__init__(str(cause))
        self.cause = cause


class Calls:
    """What the library's thread may ask of the loop, until the first failure or until it is closed."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = Lock()
        self._left: Left | None = None
        self._under_way: Future[Any] | None = None

    def __call__(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of ``work``, which the loop runs meanwhile.

        Raises:
            Left: ``work`` raised, or nothing is to be asked any more.
        """
        with self._lock:
            if self._left is not None:
                work.close()
                raise self._left
            future = asyncio.run_coroutine_threadsafe(work, self._loop)
            self._under_way = future
        try:
            return future.result()
        except BaseException as error:
            self._leave(error)
            raise Left(error) from error

    def close(self) -> None:
        """Cancel what is under way, and let the thread ask for nothing more."""
        self._leave(asyncio.CancelledError())
        if self._under_way is not None:
            self._under_way.cancel()

    def _leave(self, cause: BaseException) -> None:
        with self._lock:
            if self._left is None:
                self._left = Left(cause)


class _Result(Generic[R]):
    def __init__(self, value: R) -> None:
        self.value = value


async def in_thread(work: Callable[[Calls], R]) -> R:
    """What ``work`` returns, run in a thread. Cancelled, it lets the thread end first.

    Raises:
        BaseException: what one of the calls raised, as it was raised.
    """
    calls = Calls()

    def body() -> _Result[R] | Left:
        try:
            return _Result(work(calls))
        except Left as left:
            return left

    thread = asyncio.get_running_loop().run_in_executor(None, body)
    try:
        ended = await asyncio.shield(thread)
    except asyncio.CancelledError:
        calls.close()
        await asyncio.wait([thread])
        raise
    if isinstance(ended, Left):
        raise ended.cause
    return ended.value
