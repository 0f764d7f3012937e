"""The store of answers: one SQLite file, shared by all runs and sweeps of a launch folder.

Every answer is committed by itself, so that a kill at any moment loses none; write-ahead logging lets
several processes read and write at once. Values are JSON text and nothing else. Beside the answers the file
holds who asks what right now, so that several processes do not ask the same (see ``runs.claims``).
"""

import logging
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from skillopt_exp.config.spending import CacheConfig, CacheMode
from skillopt_exp.errors import DataError, InterruptedRun, SkillOptError
from skillopt_exp.runs.claims import CREATE as CREATE_CLAIMS
from skillopt_exp.runs.claims import Claims

SCHEMA = 1
DEFAULT_PATH = Path(".skillopt") / "answers.sqlite"
SECONDS_TO_WAIT = 30.0
"""How long a process waits for others that write."""

_CREATE = "CREATE TABLE answers (key TEXT PRIMARY KEY, response TEXT NOT NULL)"
_SECONDS_BETWEEN_TRIES = 0.05

logger = logging.getLogger(__name__)


def answers_path(cache: CacheConfig, *, base: Path) -> Path:
    """Where the store is; ``base`` is the launch folder."""
    return base / (DEFAULT_PATH if cache.path is None else Path(cache.path).expanduser())


@contextmanager
def open_answers(cache: CacheConfig, *, base: Path) -> Iterator["AnswerStore | None"]:
    """The store as ``cache`` wants it used, until the block ends. None: there is nothing to use.

    Raises:
        DataError: the file is damaged, no store, or of a newer version.
        InterruptedRun: the disk does not take it.
    """
    path = answers_path(cache, base=base)
    reading = cache.mode is CacheMode.read
    if cache.mode is CacheMode.none or (reading and not path.exists()):
        yield None
        return
    store = AnswerStore(path, max_bytes=0 if reading else round(cache.max_gb * 1e9), writable=not reading)
    with closing(store):
        yield store


class AnswerStore:
    """The store at ``path``, made if it is ``writable`` and missing. Keeps nothing beyond ``max_bytes``.

    One process may hold several; each belongs to the thread that made it.
    """

    def __init__(self, path: Path, *, max_bytes: int, writable: bool = True) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._writable = writable
        self._said_full = False
        with self._explained():
            if writable:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = _opened(path, writable=writable)
        self._claims = Claims(self._connection, path.with_name(f"{path.name}.asking"))
        try:
            with self._explained():
                self._prepare()
        except SkillOptError:
            self._connection.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        with suppress(sqlite3.Error, OSError):  # what is not given back ends with the process
            self._claims.close()
        self._connection.close()

    @property
    def count(self) -> int:
        """How many answers are kept."""
        with self._explained():
            count: int = self._connection.execute("SELECT count(*) FROM answers").fetchone()[0]
        return count

    @property
    def size_bytes(self) -> int:
        """What the store takes on the disk, its write-ahead log included."""
        files = (self.path, self.path.with_name(f"{self.path.name}-wal"))
        return sum(_size(file) for file in files)

    def get(self, key: str) -> str | None:
        """The response that was kept under ``key``, or None.

        Raises:
            DataError: the file is damaged.
        """
        with self._explained():
            row = self._connection.execute("SELECT response FROM answers WHERE key = ?", (key,)).fetchone()
        response: str | None = None if row is None else row[0]
        return response

    def put(self, key: str, response: str) -> str:
        """Keep ``response`` unless ``key`` has one already. Returns the one that stands.

        Raises:
            DataError: the file is damaged.
            InterruptedRun: the disk does not take it.
        """
        if not self._writable or self._is_full():
            return response
        with self._explained():
            done = self._connection.execute(
                "INSERT INTO answers VALUES (?, ?) ON CONFLICT (key) DO NOTHING", (key, response)
            )
        if done.rowcount:
            return response
        earlier = self.get(key)
        return response if earlier is None else earlier

    def forget(self, key: str) -> None:
        """Drop what is kept under ``key``.

        Raises:
            DataError: the file is damaged.
            InterruptedRun: the disk does not take it.
        """
        if self._writable:
            with self._explained():
                self._connection.execute("DELETE FROM answers WHERE key = ?", (key,))

    def claim(self, key: str, *, seconds: float) -> bool:
        """Begin to ask for ``key``, for ``seconds`` at most; False: somebody does, or it is here by now.

        Who keeps no answers claims nothing: nobody should wait for an answer that will not come.

        Raises:
            DataError: the file is damaged.
            InterruptedRun: the disk does not take it.
        """
        if not self._writable or self._is_full():
            return True
        with self._explained():
            return self._claims.take(key, seconds=seconds)

    def claimed(self, key: str) -> bool:
        """Whether somebody asks for ``key`` now, in this process or another.

        Raises:
            DataError: the file is damaged.
            InterruptedRun: the disk does not take it.
        """
        if not self._writable:
            return False
        with self._explained():
            return self._claims.stands(key)

    def release(self, key: str) -> None:
        """Give back a claim."""
        if self._writable:
            with suppress(sqlite3.Error):  # it will end by itself
                self._claims.release(key)

    def _is_full(self) -> bool:
        if self.size_bytes < self._max_bytes:
            return False
        if not self._said_full:
            self._said_full = True
            logger.warning(
                "%s has reached cache.max_gb (%.3g GB) and keeps no more answers: what is answered from now "
                "on is paid for again by a run that asks the same. Raise cache.max_gb, or delete the file",
                self.path, self._max_bytes / 1e9,
            )  # fmt: skip
        return True

    def _prepare(self) -> None:
        if self._version() == SCHEMA:
            if self._writable:
                self._connection.execute(CREATE_CLAIMS)
            return
        if not self._writable:
            raise self._damaged("it holds no answers")
        # Asked again when nobody else can be making it.
        self._connection.execute("BEGIN IMMEDIATE")
        if self._version() == 0:
            if self._connection.execute("SELECT 1 FROM sqlite_master").fetchone() is not None:
                raise self._damaged("it holds other tables")
            self._connection.execute(_CREATE)
            self._connection.execute(CREATE_CLAIMS)
            self._connection.execute(f"PRAGMA user_version = {SCHEMA}")
        self._connection.execute("COMMIT")

    def _version(self) -> int:
        version: int = self._connection.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA:
            raise DataError(
                f"{self.path} is a store of answers of version {version}, written by a newer skillopt_exp; "
                f"this one reads version {SCHEMA}. Update, or give this one a file of its own: cache.path=..."
            )
        return version

    def _damaged(self, how: str) -> DataError:
        return DataError(
            f"the store of answers {self.path} is damaged, or is none: {how}. Move it away (its answers "
            "will be paid for again), or give another file: cache.path=..."
        )

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What SQLite and the disk raise, in words: the disk's doing can be mended, damage cannot."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise InterruptedRun(
                f"the store of answers {self.path} cannot be used: {error}. Make room on the disk, allow "
                "writing there, or wait for whatever holds it; then go on. cache.mode=none does without it, "
                "cache.path=... takes another file"
            ) from error
        except sqlite3.DatabaseError as error:
            raise self._damaged(str(error)) from error
        except OSError as error:
            raise InterruptedRun(
                f"the store of answers {self.path} cannot be made: {error.strerror}. Allow writing there, or "
                "give another file: cache.path=..."
            ) from error


def _opened(path: Path, *, writable: bool) -> sqlite3.Connection:
    mode = "rwc" if writable else "ro"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, timeout=SECONDS_TO_WAIT
    )
    try:
        if writable:
            _log_ahead(connection)
            # A kill of the process loses nothing; a loss of power may lose the last answers, whole ones.
            connection.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging. SQLite does not wait by itself while others do the same."""
    deadline = time.monotonic() + SECONDS_TO_WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_SECONDS_BETWEEN_TRIES)
        else:
            return


def _size(file: Path) -> int:
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
