"""What a run sent and what came back, an entry each, in order, over all processes of the run.

A request is written down before it leaves, and again when it has ended: answered or failed. One that is
written down and never ended was cut off with its process, or given up. Nobody knows what became of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.bill import NOTHING, AtMost
from skillopt_exp.records import Role


class Event(StrEnum):
    """What an entry tells of a call."""

    sent = "sent"
    answered = "answered"
    failed = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCall:
    """One request, before it leaves.

    ``id`` is unique in the ledger. ``at`` is in seconds since the epoch; ``key`` is that of the question in
    the store of answers; ``asked`` is the model's name in the request; ``attempt`` tells samples of one
    conversation apart. ``at_most`` is what it can use.

    Raises:
        ValueError: a value is impossible.
    """

    event: Event = Event.sent
    id: str
    at: float
    key: str
    role: Role
    stage: Stage
    host: str
    asked: str
    attempt: int
    at_most: AtMost

    def __post_init__(self) -> None:
        if not self.id:
            raise ValueError("id is empty")
        _check(self.at, self.attempt, self.at_most)


@dataclass(frozen=True, slots=True, kw_only=True)
class SettledCall:
    """One answered call.

    As in ``SentCall``; ``answered`` is the model's name in the response. Tokens that the provider did not
    report are None. Of a ``reused`` answer nothing was paid, and it was not sent: it has no ``id``, and its
    tokens are those of the call that it came from. ``at_most`` is what the call could have used, which
    stands for tokens that were not reported where a budget is to hold. ``seconds`` is how long the answer
    took from sending to the last byte; None for a reused one, which was not waited for, and for one of the
    embedded simulation, which has no latency.

    Raises:
        ValueError: a value is impossible.
    """

    event: Event = Event.answered
    id: str = ""
    at: float
    key: str
    role: Role
    stage: Stage
    host: str
    asked: str
    answered: str
    finish_reason: str
    attempt: int
    reused: bool
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    at_most: AtMost = NOTHING
    seconds: float | None = None

    def __post_init__(self) -> None:
        _check(self.at, self.attempt, self.at_most)
        for name in ("input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens"):
            tokens = getattr(self, name)
            if tokens is not None and tokens < 0:
                raise ValueError(f"{name} is {tokens}, which is less than nothing")
        asked, cached = self.input_tokens, self.cached_tokens
        if asked is not None and cached is not None and cached > asked:
            raise ValueError(f"cached_tokens is {cached}, more than the {asked} of input_tokens")


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedCall:
    """One request that ended without an answer, or was refused. ``status`` is HTTP's; None: no answer.

    ``at`` is when it ended.
    """

    event: Event = Event.failed
    id: str
    at: float
    role: Role
    status: int | None


Entry = SentCall | SettledCall | FailedCall


class Ledger(Protocol):
    """Where calls are written down."""

    def earlier(self) -> Iterable[Entry]:
        """What earlier processes of the run wrote down, in order.

        Raises:
            DataError: it is damaged or lost.
        """
        ...

    def add(self, entry: Entry) -> None:
        """Write ``entry`` down; what is written survives the death of the process.

        Raises:
            InterruptedRun: the disk does not take it.
        """
        ...


def _check(at: float, attempt: int, at_most: AtMost) -> None:
    if at < 0:
        raise ValueError(f"at is {at}, before the epoch")
    if attempt < 1:
        raise ValueError(f"attempt is {attempt}; the first is 1")
    if at_most.input < 0 or (at_most.output is not None and at_most.output < 0):
        raise ValueError(f"at_most is {at_most.input} and {at_most.output} tokens, less than nothing")
