"""Finding out what an endpoint takes: one request at a time tries, the others wait for what it meets."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from skillopt_exp.llm.failure import CallFailed, Failure


class Settling:
    """Whose turn it is to try fields that may be refused.

    A refused field so costs one extra call and not one for every call under way, and an endpoint that
    is out is waited for by all at once and not by one after the other.
    """

    def __init__(self) -> None:
        self._turn: asyncio.Future[Failure | None] | None = None

    @property
    def taken(self) -> bool:
        """Whether somebody is trying."""
        return self._turn is not None

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Try, while nobody else does."""
        turn = self._turn = asyncio.get_running_loop().create_future()
        met: Failure | None = None
        try:
            yield
        except CallFailed as error:
            met = error.failure
            raise
        finally:
            self._turn = None
            turn.set_result(met)

    async def other(self) -> None:
        """Wait for the one who tries.

        Raises:
            CallFailed: there was no answer, which would have been no other for whoever waits. A
                refusal is the other's own.
        """
        if self._turn is None:
            return
        met = await asyncio.shield(self._turn)
        if met is not None and met.retried:
            raise CallFailed(met)
