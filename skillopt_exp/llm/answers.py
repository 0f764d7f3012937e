"""A paid answer is kept: what this package wants of a store, and the key of a question.

A key says everything that an answer may depend on: where the model is, what it is called, which
revision of it, the conversation, the configured parameters, which sample of the question it is, and
which way of asking. It is made of what is configured, not of what an endpoint turned out to take, so
that a process that has yet to learn the latter finds the answers of one that knew.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Protocol


class Answers(Protocol):
    """Whole successful responses, as the JSON text that came over the wire, by key."""

    def get(self, key: str) -> str | None:
        """The response that was kept under ``key``, or None."""
        ...

    def put(self, key: str, response: str) -> str:
        """Keep ``response`` unless ``key`` has one already. Returns the one that stands from now on.

        The first one stands, so that all who ask the same are told the same.
        """
        ...

    def forget(self, key: str) -> None:
        """Drop what is kept under ``key``: it turned out to be no response."""
        ...

    def claim(self, key: str, *, seconds: float) -> bool:
        """Begin to ask the question of ``key``, for ``seconds`` at most; False: not now, see below.

        Either somebody else asks it already, in whatever process, or it has been answered meanwhile. A
        claim ends with its process, however that ends.
        """
        ...

    def claimed(self, key: str) -> bool:
        """Whether somebody asks the question of ``key`` now."""
        ...

    def release(self, key: str) -> None:
        """Give back a claim: the question was answered, or could not be."""
        ...


def question_key(parts: Mapping[str, object]) -> str:
    """SHA-256 of ``parts`` (plain JSON values) in canonical form, 64 hex digits."""
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
