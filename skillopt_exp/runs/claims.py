"""Who asks what right now: so that processes at work on one store do not pay for the same answer twice.

A claim is one request under way. It stands as long as its owner lives, which the operating system tells: an
owner holds a lock on a file of its own and loses it with its process, however that ends, whatever its number
and container. An owner that lives and does nothing (stopped with Ctrl-Z, say) keeps nobody waiting for ever:
each claim also ends by itself, some time after its request must have ended.
"""

import sqlite3
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from filelock import FileLock, Timeout

CREATE = "CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL)"

_TAKE = (
    "INSERT INTO claims SELECT :key, :owner, :until "
    "WHERE NOT EXISTS (SELECT 1 FROM answers WHERE key = :key) ON CONFLICT (key) DO NOTHING"
)


class Claims:
    """The claims in the database of ``connection``; ``folder`` holds the files of the owners.

    Is one of the owners itself. Raises what SQLite and the disk raise.
    """

    def __init__(self, connection: sqlite3.Connection, folder: Path) -> None:
        self._connection = connection
        self._folder = folder
        self._owner = uuid4().hex
        self._lock: FileLock | None = None

    def take(self, key: str, *, seconds: float) -> bool:
        """Claim ``key``, unless somebody has a claim that stands, or its answer has come meanwhile."""
        self._appear()
        claim = {"key": key, "owner": self._owner, "until": time.time() + seconds}
        if self._connection.execute(_TAKE, claim).rowcount:
            return True
        # One that stands, one that does not, or an answer: gone in the second case, so try once more.
        return not self.stands(key) and bool(self._connection.execute(_TAKE, claim).rowcount)

    def stands(self, key: str) -> bool:
        """Whether somebody claims ``key``. A claim that has ended without being given back is dropped."""
        claim = self._connection.execute("SELECT owner, until FROM claims WHERE key = ?", (key,)).fetchone()
        if claim is None:
            return False
        owner, until = claim
        if until <= time.time():
            self._connection.execute("DELETE FROM claims WHERE key = ? AND until = ?", (key, until))
            return False
        return owner == self._owner or self._lives(owner)

    def release(self, key: str) -> None:
        """Give back the claim on ``key``; one that has gone to somebody else meanwhile stays."""
        self._connection.execute("DELETE FROM claims WHERE key = ? AND owner = ?", (key, self._owner))

    def close(self) -> None:
        """Give back everything."""
        if self._lock is None:
            return
        self._connection.execute("DELETE FROM claims WHERE owner = ?", (self._owner,))
        self._remove(self._owner)
        self._lock.release()
        self._lock = None
        with suppress(OSError):  # others are at work
            self._folder.rmdir()

    def _appear(self) -> None:
        """Be seen to live, before the first claim."""
        while self._lock is None:
            self._folder.mkdir(exist_ok=True)
            lock = FileLock(self._file(self._owner))
            with suppress(FileNotFoundError):  # the last of the others has just removed the folder
                lock.acquire(timeout=0)
                self._lock = lock

    def _lives(self, owner: str) -> bool:
        """Whether its process does; what a dead one has claimed is dropped."""
        file = self._file(owner)
        if file.exists():
            lock = FileLock(file)
            try:
                lock.acquire(timeout=0)
            except Timeout:
                return True
            except FileNotFoundError:
                pass  # somebody else has just cleared it away
            else:
                self._remove(owner)
                lock.release()
        self._connection.execute("DELETE FROM claims WHERE owner = ?", (owner,))
        return False

    def _remove(self, owner: str) -> None:
        with suppress(OSError):  # not everywhere can a file be removed that somebody has open
            self._file(owner).unlink(missing_ok=True)

    def _file(self, owner: str) -> Path:
        return self._folder / f"{owner}.lock"
