"""``calls.jsonl``: every call of a run, over all its processes: a line when it leaves, one when it has ended.

A line is handed to the operating system when it is added, so that a killed process has counted what
it sent and what it was answered. Only the machine itself going down may lose the last lines.
"""

import json
import os
from pathlib import Path
from typing import BinaryIO

from skillopt_exp.errors import DataError, InterruptedRun
from skillopt_exp.llm.ledger import Entry, Event, FailedCall, SentCall, SettledCall
from skillopt_exp.runs.codec import from_json, to_json
from skillopt_exp.runs.files import read_jsonl

_KINDS: dict[str, type[Entry]] = {
    Event.sent: SentCall,
    Event.answered: SettledCall,
    Event.failed: FailedCall,
}


class CallLog:
    """The calls of one run, at ``path``; the file is made with the first one. One process writes.

    ``begun`` says that the run has called before, so that there must be something to read.
    """

    def __init__(self, path: Path, *, begun: bool = False) -> None:
        self._path = path
        self._begun = begun
        self._file: BinaryIO | None = None

    def earlier(self) -> tuple[Entry, ...]:
        """What is in the file, in order.

        Raises:
            DataError: damaged, or lost; a last line that was cut off by a kill is left out.
        """
        entries = read_jsonl(self._path, _Reader()) if self._path.exists() else ()
        if self._begun and not entries:
            how = "holds no calls" if self._path.exists() else "is missing"
            raise DataError(
                f"{self._path} {how}, but the run has made some: what it has spent would be forgotten, and "
                "its budget begin anew. Restore the file from a copy of the folder; without one, start a new "
                "run with the same command: answers that are in the store are not paid for again"
            )
        return entries

    def add(self, entry: Entry) -> None:
        """Write one line.

        Raises:
            InterruptedRun: the disk does not take it.
        """
        line = f"{to_json(entry)}\n".encode()
        try:
            if self._file is None:
                _mend(self._path)
                self._file = self._path.open("ab", buffering=0)
            if self._file.write(line) != len(line):
                raise OSError(0, "only a part of a line could be written")
        except OSError as error:
            self.close()  # the next line must not be joined to half of this one
            raise InterruptedRun(
                f"{self._path} cannot be written: {error.strerror}. Make room on the disk, or allow writing "
                "there, and resume the run"
            ) from error

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()
            self._file = None


class _Reader:
    """Reads one line after the other; what has ended must have been sent before, and ends once."""

    def __init__(self) -> None:
        self._underway: dict[str, bool] = {}

    def __call__(self, line: str, where: str) -> Entry:
        """Raises:
        DataError: the line is damaged, or cannot stand there.
        """
        entry = _parsed(line, where)
        match entry:
            case SentCall(id=id):
                if id in self._underway:
                    raise DataError(f"{where}: call {id} is sent a second time; restore the file from a copy")
                self._underway[id] = True
            case SettledCall(id=id) | FailedCall(id=id) if id:
                if not self._underway.get(id, False):
                    what = "ends a second time" if id in self._underway else "ends, but was never sent"
                    raise DataError(f"{where}: call {id} {what}; restore the file from a copy")
                self._underway[id] = False
        return entry


def _mend(path: Path) -> None:
    """End the last line, or cut it off, if a kill left it half written: as reading would take it."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        *whole, last = file.read().split(b"\n")
        if not last:
            return
        try:
            _parsed(last.decode("utf-8"), str(path))
        except (DataError, UnicodeDecodeError):
            file.truncate(sum(len(line) + 1 for line in whole))
        else:
            file.seek(0, os.SEEK_END)
            file.write(b"\n")


def _parsed(line: str, where: str) -> Entry:
    return from_json(_KINDS.get(_event(line), SettledCall), line, where)


def _event(line: str) -> str:
    """What the line says that it tells; empty if it does not say."""
    try:
        data = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    event = data.get("event") if isinstance(data, dict) else None
    return event if isinstance(event, str) else ""
