"""Whether an endpoint answers often enough for a run to go on, or the run should pause.

A call that stays unanswered however often it is sent is put back and asked again, so that one strange
item ends no run. That goes on as long as such calls are few; when they are not, the provider is out,
and asking on would only take time.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

WINDOW = 100
"""How many of the last calls are judged."""

ENOUGH_TO_JUDGE = 20

MOST_ROUNDS = 3
"""How often a call may be given its whole patience."""


class Health:
    """The last calls to one endpoint. ``max_error_rate`` is the share in [0, 1) that may stay unanswered."""

    def __init__(self, max_error_rate: float) -> None:
        self._max_error_rate = max_error_rate
        self._recent: deque[str | None] = deque(maxlen=WINDOW)
        self._ever_answered = False
        self._callers: set[Caller] = set()

    @contextmanager
    def caller(self) -> Iterator["Caller"]:
        """One call, for as long as somebody wants its answer."""
        caller = Caller(self)
        self._callers.add(caller)
        try:
            yield caller
        finally:
            self._callers.discard(caller)

    @property
    def unanswered(self) -> int:
        """How many of the last calls stayed unanswered."""
        return sum(cause is not None for cause in self._recent)

    @property
    def judged(self) -> int:
        """How many calls ``unanswered`` is of."""
        return len(self._recent)

    @property
    def causes(self) -> tuple[str, ...]:
        """Why, each cause once, in the order in which they came."""
        return tuple(dict.fromkeys(cause for cause in self._recent if cause is not None))

    def answered(self) -> None:
        """A call was answered, if only by a refusal."""
        self._ever_answered = True
        self._recent.append(None)

    def stayed_unanswered(self, cause: str) -> None:
        """A call was given its whole patience in vain."""
        self._recent.append(cause)

    @property
    def poor(self) -> bool:
        """Whether too many calls stay unanswered.

        Where nothing has been answered yet, all who ask having failed once is enough: a server that is
        down from the start must not take hours. Where none may stay unanswered, one is too many.
        """
        if self._max_error_rate == 0 and self.unanswered:
            return True
        if not self._ever_answered and all(caller.rounds for caller in self._callers):
            return True
        return self.judged >= ENOUGH_TO_JUDGE and self.unanswered / self.judged > self._max_error_rate


class Caller:
    """One call. ``rounds`` counts how often it was given its whole patience in vain."""

    def __init__(self, health: Health) -> None:
        self._health = health
        self.rounds = 0

    def answered(self) -> None:
        """See ``Health.answered``."""
        self._health.answered()

    def unanswered(self, cause: str) -> bool:
        """This call stayed unanswered, because of ``cause``. Says whether that is the end of the run."""
        self.rounds += 1
        self._health.stayed_unanswered(cause)
        return self.rounds >= MOST_ROUNDS or self._health.poor
