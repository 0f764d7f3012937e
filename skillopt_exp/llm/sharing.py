"""One call for all who ask the same at the same time."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass(slots=True)
class _Work(Generic[T]):
    task: asyncio.Task[T]
    waiting: int = 0


class Shared(Generic[T]):
    """Results in the making, by key. Failures are shared as well."""

    def __init__(self) -> None:
        self._works: dict[str, _Work[T]] = {}

    async def result(self, key: str, make: Callable[[], Coroutine[Any, Any, T]]) -> tuple[T, bool]:
        """What ``make`` returns, and whether it was made for this caller (else somebody came before).

        The work is cancelled when the last who waits for it is.
        """
        work = self._works.get(key)
        first = work is None
        if work is None:
            work = self._works[key] = _Work(asyncio.create_task(make()))
            work.task.add_done_callback(lambda task: self._ended(key, task))
        work.waiting += 1
        try:
            return await asyncio.shield(work.task), first
        finally:
            work.waiting -= 1
            if work.waiting == 0 and not work.task.done():
                work.task.cancel()
                self._drop(key, work.task)

    def _ended(self, key: str, task: asyncio.Task[T]) -> None:
        self._drop(key, task)
        if not task.cancelled():
            task.exception()  # seen, even if the last who waited left at the same moment

    def _drop(self, key: str, task: asyncio.Task[T]) -> None:
        work = self._works.get(key)
        if work is not None and work.task is task:
            del self._works[key]
