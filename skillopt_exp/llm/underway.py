"""Requests under way. One that has been sent may be billed, so it is seen to its end.

Whoever waits for a request may stop waiting (Ctrl-C, a neighbour that failed, a pause): the request
goes on, and what it does with its answer is done. None starts once the run is closing.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from skillopt_exp.errors import InterruptedRun
from skillopt_exp.llm.activity import A_RUN, Activity

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Underway:
    """All requests that were sent and have not ended."""

    def __init__(self, activity: Activity = A_RUN) -> None:
        self._activity = activity
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed: InterruptedRun | None = None

    def start(self, request: Callable[[], Coroutine[Any, Any, T]]) -> asyncio.Task[T]:
        """Begin ``request``. Await the task shielded: it is not the caller's to cancel.

        Raises:
            InterruptedRun: closed before; nothing is sent.
        """
        self.check_open()
        task = asyncio.create_task(request())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def check_open(self) -> None:
        """Whether anything may be sent still.

        Raises:
            InterruptedRun: closed before.
        """
        if self._closed is not None:
            raise self._closed

    async def pause(self, why: InterruptedRun) -> None:
        """Close, and wait until nothing is under way: each request ends by its own timeout at the latest.

        Who tries to start one from now on is told ``why``, or what was said before.
        """
        if self._close(why) and self._tasks:
            logger.warning("waiting for %d requests under way; their answers are kept", len(self._tasks))
        if self._tasks:
            await asyncio.wait(self._tasks)

    async def end(self, grace: float) -> None:
        """Close, give what is under way ``grace`` seconds to finish, and cancel the rest."""
        self._close(InterruptedRun(f"closing: nothing more is sent; to go on, {self._activity.again}"))
        try:
            if self._tasks:
                logger.warning(
                    "finishing %d requests under way, for up to %g s; their answers are kept",
                    len(self._tasks), grace,
                )  # fmt: skip
                await asyncio.wait(self._tasks, timeout=grace)
        finally:
            await self._give_up()

    def _close(self, why: InterruptedRun) -> bool:
        """Whether it was open until now."""
        if self._closed is not None:
            return False
        self._closed = why
        return True

    async def _give_up(self) -> None:
        abandoned = list(self._tasks)
        for task in abandoned:
            task.cancel()
        await asyncio.gather(*abandoned, return_exceptions=True)
        if abandoned:
            logger.warning(
                "%d requests had no answer yet and were given up; they may be billed all the same",
                len(abandoned),
            )
