"""Who may call when. The one owner of concurrency, back-off and patience towards an endpoint.

Concurrency is additive increase, multiplicative decrease: a 429 halves what is allowed, a window of
answered calls adds one, between 1 and the configured ceiling. Those who wait are served in order.
"""

import asyncio
import logging
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from skillopt_exp.llm.failure import CallFailed, Failure
from skillopt_exp.llm.underway import Underway

T = TypeVar("T")
logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 2.0, 60.0
"""Seconds: the longest first pause, and where its doubling ends."""

LONGEST_WAIT_ASKED = 900.0
"""Seconds. A provider that asks for more patience than this is out, for the purposes of a run."""

SECONDS_BETWEEN_WARNINGS = 30.0


@dataclass(frozen=True, slots=True)
class Clock:
    """Time and chance, so that tests need neither. All in seconds; ``chance`` is in [0, 1).

    ``wall`` is the time of day, since the epoch.
    """

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random


def pause(tries: int, retry_after: float | None, chance: float) -> float:
    """Seconds to wait after the ``tries``-th failure in a row (1 is the first).

    Full jitter: anything from nothing to a bound that doubles. What the provider asked for is the
    least, with some jitter on top, so that not all come back at the same moment.
    """
    bound = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(tries - 1, 30))
    if retry_after is None:
        return chance * bound
    return retry_after + chance * min(bound, max(retry_after, 1.0) / 4)


def too_long_a_wait(failure: Failure) -> bool:
    """Whether the provider asks for more patience than a run has."""
    return failure.retry_after is not None and failure.retry_after > LONGEST_WAIT_ASKED


class Slots:
    """At most ``allowed`` holders at once; further ones wait in order of arrival."""

    def __init__(self, ceiling: int) -> None:
        self._ceiling = ceiling
        self._allowed = ceiling
        self._held = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._answered = 0
        self._era = 0

    @property
    def allowed(self) -> int:
        """How many may call at once now, from 1 to the ceiling."""
        return self._allowed

    async def enter(self) -> int:
        """Wait for a slot. Returns the era, by which ``overloaded`` knows what it has reacted to already."""
        if self._held < self._allowed and not self._waiting:
            self._held += 1
            return self._era
        ticket: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(ticket)
        try:
            await ticket
        except asyncio.CancelledError:
            if ticket.done() and not ticket.cancelled():
                self._held -= 1  # admitted and cancelled at the same moment: pass the slot on
            self._admit()
            raise
        return self._era

    def leave(self) -> None:
        """Give a slot back."""
        self._held -= 1
        self._admit()

    def answered(self) -> None:
        """A call was answered: after a window of them, one more may call at once."""
        self._answered += 1
        if self._answered >= self._allowed and self._allowed < self._ceiling:
            self._answered = 0
            self._allowed += 1
            self._admit()

    def overloaded(self, era: int) -> None:
        """A call that began in ``era`` met a 429. One burst of them halves the limit once."""
        if era == self._era:
            self._era += 1
            self._answered = 0
            self._allowed = max(1, self._allowed // 2)

    def _admit(self) -> None:
        while self._waiting and self._held < self._allowed:
            ticket = self._waiting.popleft()
            if not ticket.done():
                self._held += 1
                ticket.set_result(None)


class Hold(Protocol):
    """Something that a call holds from before it begins until it has ended."""

    def release(self) -> None:
        """Give it back."""
        ...


class _NoHold:
    def release(self) -> None:
        pass


async def hold_nothing() -> Hold:
    """For calls that nothing is set aside for."""
    return _NoHold()


class Turns(Protocol):
    """What several processes share of an endpoint: a call needs a turn besides its own process's slot."""

    async def take(self) -> Hold:
        """Wait for a turn.

        Raises:
            InterruptedRun: turns cannot be had here; says why.
        """
        ...


class _OwnTurns:
    async def take(self) -> Hold:
        return _NoHold()


NOT_SHARED: Turns = _OwnTurns()
"""For a process whose limits are its own."""


class EndpointLimit:
    """All calls to one endpoint, whoever makes them, go through here.

    ``turns`` hold the calls of several processes together to what each may have alone.
    """

    def __init__(
        self,
        name: str,
        max_concurrency: int,
        clock: Clock,
        underway: Underway,
        turns: Turns = NOT_SHARED,
    ) -> None:
        self._name = name
        self._turns = turns
        self._slots = Slots(max_concurrency)
        self._clock = clock
        self._underway = underway
        self._closed_until = 0.0
        self._last_warning: float | None = None
        self._unsaid = 0

    @property
    def allowed(self) -> int:
        """How many calls may be under way at once now."""
        return self._slots.allowed

    async def patiently(self, attempt: Callable[[], Awaitable[T]], *, max_retries: int) -> T:
        """The result of ``attempt``, made again up to ``max_retries`` times while that can help.

        No slot is held during a pause.

        Raises:
            CallFailed: refused for good (its failure is not ``retried``), or patience is at its end.
        """
        tries = 0
        while True:
            try:
                return await attempt()
            except CallFailed as error:
                failure, tries = error.failure, tries + 1
                if not failure.retried or tries > max_retries or too_long_a_wait(failure):
                    raise
            await self.rest(failure, tries, f"retry {tries} of {max_retries}")

    async def rest(self, failure: Failure, tries: int, which: str) -> None:
        """Wait before a call is made again that failed ``tries`` times in a row."""
        wait = pause(tries, failure.retry_after, self._clock.chance())
        self._warn(failure, wait, which)
        await self._clock.sleep(wait)

    async def once(
        self,
        send: Callable[[], Coroutine[Any, Any, T]],
        *,
        hold: Callable[[], Awaitable[Hold]] = hold_nothing,
    ) -> T:
        """The result of ``send``, begun when there is a slot, the provider wants to be asked and ``hold``
        has been had.

        Once begun it goes on, and keeps both, even if the caller is cancelled.

        Raises:
            CallFailed: as ``send`` does.
            BudgetError: as ``hold`` does; nothing was sent.
            InterruptedRun: the run is closing; nothing was sent.
        """
        era = await self._slots.enter()
        try:
            closed = self._closed_until - self._clock.monotonic()
            if closed > 0:
                await self._clock.sleep(closed)
            turn = await self._turns.take()
            try:
                held = await hold()
                try:
                    sent = self._underway.start(send)
                except BaseException:
                    held.release()
                    raise
            except BaseException:
                turn.release()
                raise
        except BaseException:
            self._slots.leave()
            raise
        sent.add_done_callback(lambda task: held.release())
        sent.add_done_callback(lambda task: turn.release())
        sent.add_done_callback(lambda task: self._ended(task, era))
        return await asyncio.shield(sent)

    def _ended(self, sent: asyncio.Task[T], era: int) -> None:
        error = asyncio.CancelledError() if sent.cancelled() else sent.exception()
        if error is None:
            self._slots.answered()
        elif isinstance(error, CallFailed) and error.failure.overload:
            self._slots.overloaded(era)
            self._close(error.failure.retry_after)
        self._slots.leave()

    def _close(self, retry_after: float | None) -> None:
        """Keep everybody away for as long as the provider asked one caller to stay away."""
        if retry_after is not None and retry_after <= LONGEST_WAIT_ASKED:
            self._closed_until = max(self._closed_until, self._clock.monotonic() + retry_after)

    def _warn(self, failure: Failure, wait: float, which: str) -> None:
        """Say it, but not a thousand times: between two warnings the rest is counted."""
        now = self._clock.monotonic()
        if self._last_warning is not None and now - self._last_warning < SECONDS_BETWEEN_WARNINGS:
            self._unsaid += 1
            return
        more = f" ({self._unsaid} more like this since the last warning)" if self._unsaid else ""
        logger.warning(
            "%s: %s; asking again in %.1f s (%s), %d at once%s",
            self._name, failure, wait, which, self.allowed, more,
        )  # fmt: skip
        self._last_warning, self._unsaid = now, 0
