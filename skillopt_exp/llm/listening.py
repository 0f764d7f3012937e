"""Hearing of settled calls as they are written down: what a call of some skill took."""

import statistics
from collections.abc import Iterable, Sequence

from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.ledger import Entry, Ledger, SettledCall
from skillopt_exp.records import ACall, mean


class Listening:
    """A ``Ledger`` that passes everything on to ``ledger``, if there is one, and keeps what is settled.

    ``stage`` None is every stage.
    """

    def __init__(self, ledger: Ledger | None = None, *, stage: Stage | None = None) -> None:
        self._ledger = ledger
        self._stage = stage
        self._heard: list[SettledCall] = []

    def earlier(self) -> Iterable[Entry]:
        """See ``Ledger.earlier``; those are not heard again."""
        return () if self._ledger is None else self._ledger.earlier()

    def add(self, entry: Entry) -> None:
        """See ``Ledger.add``."""
        if self._ledger is not None:
            self._ledger.add(entry)
        if isinstance(entry, SettledCall) and self._stage in (None, entry.stage):
            self._heard.append(entry)

    def take(self) -> tuple[SettledCall, ...]:
        """What was settled since the last time, reused answers included."""
        heard = tuple(self._heard)
        self._heard.clear()
        return heard


def a_call(calls: Sequence[SettledCall]) -> ACall:
    """What one of ``calls`` took. Tokens are unknown where one of them did not report its own, or there
    are none; seconds where none of them was timed, as reused answers are not."""
    timed = [call.seconds for call in calls if call.seconds is not None]
    return ACall(
        calls=len(calls),
        input=_mean_if_known([call.input_tokens for call in calls]),
        output=_mean_if_known([call.output_tokens for call in calls]),
        seconds=statistics.median(timed) if timed else None,
    )


def _mean_if_known(counts: Sequence[int | None]) -> float | None:
    return None if None in counts else mean(count for count in counts if count is not None)
