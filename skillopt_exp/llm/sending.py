"""One request, from before it leaves until it has ended.

Before it leaves, three things are had or it does not leave: what it can cost is set aside, its question is
claimed (no other process asks the same), and it is written down. Nothing is waited for after the first.
"""

from contextlib import ExitStack
from dataclasses import replace

from skillopt_exp.llm.bill import NOTHING, AtMost
from skillopt_exp.llm.desk import Desk
from skillopt_exp.llm.failure import Failure
from skillopt_exp.llm.ledger import FailedCall, SentCall, SettledCall
from skillopt_exp.llm.reply import CallUsage, Reply

SECONDS_TO_SETTLE = 60.0
"""How long a claim outlives the longest time that its request may take."""

_NOTHING_SAID = CallUsage()


class AskedElsewhere(Exception):
    """Another process is asking the same question, or has just been answered. Never leaves this package."""


class Sending:
    """One request to be sent once; it may take ``timeout`` seconds. ``call`` is dated when it leaves.

    ``timed`` says whether it tells something how long the answer takes.

    Is what the request holds: see ``limits.Hold``.
    """

    def __init__(self, desk: Desk, call: SentCall, *, timeout: float, timed: bool) -> None:
        self._desk = desk
        self._call = call
        self._timeout = timeout
        self._timed = timed
        self._left = 0.0
        self._held = ExitStack()
        self._ended = False

    async def begin(self) -> "Sending":
        """Everything that has to be had before it leaves.

        Raises:
            AskedElsewhere: not to be sent by this process now.
            BudgetError: a cap is reached.
            InterruptedRun: the run is closing, or the disk is full.
        """
        books, answers, key = self._desk.books, self._desk.answers, self._call.key
        aside = await books.budget.hold(self._call.role, self._call.at_most)
        with ExitStack() as held:
            held.callback(aside.release)
            self._desk.underway.check_open()
            if answers is not None:
                if not answers.claim(key, seconds=self._timeout + SECONDS_TO_SETTLE):
                    raise AskedElsewhere
                held.callback(answers.release, key)
            self._call = replace(self._call, at=self._desk.clock.wall())
            books.sent(self._call)
            self._left = self._desk.clock.monotonic()
            self._held = held.pop_all()
        return self

    def answered(self, reply: Reply) -> None:
        """It was answered by ``reply``.

        Raises:
            InterruptedRun: that cannot be written down.
        """
        self._ended = True
        seconds = self._desk.clock.monotonic() - self._left if self._timed else None
        self._desk.books.answered(replace(settled(self._call, reply), seconds=seconds))

    def failed(self, failure: Failure) -> None:
        """It was not answered, or refused.

        Raises:
            InterruptedRun: that cannot be written down.
        """
        self._ended = True
        at, call = self._desk.clock.wall(), self._call
        self._desk.books.failed(FailedCall(id=call.id, at=at, role=call.role, status=failure.status))

    def release(self) -> None:
        """It has ended. What nobody has said the end of was given up."""
        if not self._ended:
            self._desk.books.lost(self._call)
        self._held.close()


def settled(call: SentCall, reply: Reply) -> SettledCall:
    """``call`` as ``reply`` answered it."""
    return _settled(call, reply, call.id, call.at_most)


def reused(call: SentCall, reply: Reply) -> SettledCall:
    """``call`` as ``reply`` out of the store answered it: it was never sent."""
    return _settled(call, reply, "", NOTHING)


def _settled(call: SentCall, reply: Reply, sent_as: str, at_most: AtMost) -> SettledCall:
    usage = reply.usage or _NOTHING_SAID
    return SettledCall(
        id=sent_as,
        at=call.at,
        key=call.key,
        role=call.role,
        stage=call.stage,
        host=call.host,
        asked=call.asked,
        answered=reply.model,
        finish_reason=reply.finish_reason,
        attempt=call.attempt,
        reused=not sent_as,
        input_tokens=usage.input_tokens,
        cached_tokens=usage.cached_tokens,
        output_tokens=usage.output_tokens,
        reasoning_tokens=usage.reasoning_tokens,
        at_most=at_most,
    )
