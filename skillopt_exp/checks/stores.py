"""The databases that a run writes into: told from what is none before the run has a folder.

Only what a file shows is looked at. A store that is not there is not made.
"""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

from skillopt_exp.checks.check import Check, Subject
from skillopt_exp.config.spending import CacheConfig, CacheMode
from skillopt_exp.config.tracking import Backend, TrackingConfig
from skillopt_exp.errors import UsageError
from skillopt_exp.reading import named_path
from skillopt_exp.runs.answers import answers_path
from skillopt_exp.tracking.store import resolve

_ANSWERS = "answers"
"""The table of the store of answers."""


def check_answers(cache: CacheConfig, *, base: Path) -> Check:
    """The store of answers; ``base`` is the launch folder."""
    if cache.mode is CacheMode.none:
        return Check(Subject.answers)
    otherwise = "Give a file of its own (cache.path=...), or do without: cache.mode=none"
    try:
        if cache.path is not None:
            named_path(cache.path, base=base, key="cache.path")
        file = answers_path(cache, base=base)
        tables = _tables(file, "cache.path", otherwise, writable=cache.mode is CacheMode.readwrite)
        if tables and _ANSWERS not in tables:
            raise UsageError(f"cache.path: {file} is a database of something else. {otherwise}")
    except UsageError as error:
        return Check(Subject.answers, (error,))
    return Check(Subject.answers)


def check_tracking(tracking: TrackingConfig, *, base: Path) -> Check:
    """MLflow's database, where that is a file; a server is not asked."""
    if tracking.backend is not Backend.mlflow:
        return Check(Subject.tracking)
    try:
        store = resolve(tracking.uri, base)
        if store.database is not None:
            otherwise = "Name another with tracking.uri=..., or go without: tracking=none"
            _tables(store.database, "tracking.uri", otherwise, writable=True)
    except UsageError as error:
        return Check(Subject.tracking, (error,))
    return Check(Subject.tracking)


def _tables(file: Path, key: str, otherwise: str, *, writable: bool) -> frozenset[str]:
    """The tables of the SQLite database ``file``; none where there is none yet.

    Raises:
        UsageError: it is no database, or none that can be used. Names ``key``; ``otherwise`` is advice.
    """
    wrong = _wrong(file, writable=writable)
    if wrong is not None:
        raise UsageError(f"{key}: {file} {wrong}. {otherwise}")
    if not file.exists():
        return frozenset()
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    except sqlite3.OperationalError:
        return frozenset()  # locked, or its log is another process's: whoever opens it will wait
    except sqlite3.DatabaseError as error:
        raise UsageError(f"{key}: {file} is no SQLite database ({error}). {otherwise}") from error
    return frozenset(name for (name,) in names)


def _wrong(file: Path, *, writable: bool) -> str | None:
    """What keeps ``file`` from being a database, seen from outside."""
    try:
        kind = stat.S_IFMT(file.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return _wrong_parent(file) if writable else None
    except OSError as error:
        return f"cannot be looked at ({error.strerror})"
    if kind == stat.S_IFDIR:
        return "is a folder, not a database"
    if kind != stat.S_IFREG:
        return "is a device or a pipe, not a database"
    allowed = os.access(file, os.R_OK | (os.W_OK if writable else 0))
    return None if allowed else f"may not be {'written' if writable else 'read'}"


def _wrong_parent(file: Path) -> str | None:
    """What keeps ``file`` from being made: its folder, or the nearest one that is there."""
    folder = next(each for each in file.absolute().parents if each.exists())
    if not folder.is_dir():
        return f"cannot be made: {folder} is no folder"
    return None if os.access(folder, os.W_OK | os.X_OK) else f"cannot be made: {folder} may not be written in"
