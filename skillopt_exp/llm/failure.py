"""One failed call, and which failures are worth asking again. Judged by status and error code alone.

Retried: 408, 409, 429, 5xx, and calls without an answer (network, timeout, broken body). Everything
else is refused for good, as is a 429 whose *code* says that the account has no money.
"""

from collections.abc import Mapping
from dataclasses import dataclass

RETRIED = frozenset({408, 409, 429})
BILLING_STOPS = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
CONTEXT_EXCEEDED = frozenset({"context_length_exceeded", "exceed_context_size_error"})
FILTERED = frozenset({"content_filter", "content_policy_violation"})


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed call.

    ``status`` is None when no usable answer came. ``codes`` are the provider's error code and type,
    ``fields`` the request fields it points at, ``said`` its own words: to show, not to decide by.
    ``retry_after`` is in seconds.
    """

    said: str
    status: int | None = None
    codes: frozenset[str] = frozenset()
    fields: tuple[str, ...] = ()
    retry_after: float | None = None
    html: bool = False

    @property
    def retried(self) -> bool:
        """Whether asking again can help."""
        if self.codes & BILLING_STOPS:
            return False
        return self.status is None or self.status in RETRIED or self.status >= 500

    @property
    def overload(self) -> bool:
        """Whether the provider asks for fewer requests."""
        return self.status == 429 and self.retried

    @property
    def bad_request(self) -> bool:
        """Whether the request itself was refused, so that another one may pass."""
        return self.status in (400, 422)

    def __str__(self) -> str:
        return self.said if self.status is None else f"HTTP {self.status}: {self.said}"


class CallFailed(Exception):
    """One request failed; ``failure`` says how. Never leaves this package."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def codes_of(body: object) -> frozenset[str]:
    """Code and type of an error object, as strings."""
    if not isinstance(body, Mapping):
        return frozenset()
    return frozenset(str(body[name]) for name in ("code", "type") if body.get(name) is not None)
