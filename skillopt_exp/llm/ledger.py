"""What a run asked and what it was answered, one entry a settled call, over all processes of the run."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.bill import NOTHING, AtMost
from skillopt_exp.records import Role


@dataclass(frozen=True, slots=True)
class SettledCall:
    """One answered call.

    ``at`` is when it was sent, in seconds since the epoch; ``key`` is that of its question in the store
    of answers; ``asked`` and ``answered`` are the model's name in request and response; ``attempt`` tells
    samples of one conversation apart. Tokens that the provider did not report are None. Of a ``reused``
    answer nothing was paid: its tokens are those of the call that it came from. ``at_most`` is what the call
    could have used, which stands for tokens that were not reported where a budget is to hold. ``seconds`` is
    how long the answer took from sending to the last byte; None for a
    reused one, which was not waited for, and for one of the embedded simulation, which has no latency.
    """

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


class Ledger(Protocol):
    """Where settled calls are written down."""

    def earlier(self) -> Iterable[SettledCall]:
        """The calls that earlier processes of the run wrote down."""
        ...

    def add(self, call: SettledCall) -> None:
        """Write ``call`` down; what is written survives the death of the process."""
        ...
