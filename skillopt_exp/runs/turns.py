"""Turns at an endpoint that the processes of one host share: one locked file a request under way.

The operating system gives a file back with the process that held it, however that ends.
"""

import asyncio
import hashlib
import random
from pathlib import Path

from filelock import FileLock, Timeout

from skillopt_exp.errors import InterruptedRun
from skillopt_exp.llm.limits import Hold

SECONDS_BETWEEN_TRIES = 0.02


class FileTurns:
    """``at_once`` files for the endpoint ``name``, in ``folder``. Processes with a lower limit use fewer.

    Of a process one caller at a time looks for a free file; the others wait in order.
    """

    def __init__(self, folder: Path, name: str, at_once: int) -> None:
        self._folder = folder / hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]
        self._at_once = at_once
        self._looking = asyncio.Lock()

    async def take(self) -> Hold:
        """Wait for a file that nobody holds.

        Raises:
            InterruptedRun: files cannot be locked there.
        """
        async with self._looking:
            while True:
                try:
                    held = self._free()
                except (OSError, NotImplementedError) as error:
                    raise InterruptedRun(
                        f"{self._folder} cannot be used to share the limit of an endpoint with other jobs "
                        f"({error}); allow writing there, or give another place with cache.path=..."
                    ) from error
                if held is not None:
                    return held
                await asyncio.sleep(SECONDS_BETWEEN_TRIES)

    def _free(self) -> FileLock | None:
        """A file, locked; None where all are held. Begins anywhere, so that few look at the same one."""
        self._folder.mkdir(parents=True, exist_ok=True)
        first = random.randrange(self._at_once)
        for number in range(self._at_once):
            lock = FileLock(self._folder / f"{(first + number) % self._at_once}.lock", thread_local=False)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                continue
            return lock
        return None
