"""``calls.jsonl``: every settled call of a run, one line each, over all its processes.

A line is handed to the operating system when it is added, so that a killed process has counted what
it was answered. Only the machine itself going down may lose the last lines.
"""

import os
from pathlib import Path
from typing import BinaryIO

from skillopt_exp.errors import DataError, InterruptedRun
from skillopt_exp.llm.ledger import SettledCall
from skillopt_exp.runs.codec import from_json, to_json
from skillopt_exp.runs.files import read_jsonl


class CallLog:
    """The calls of one run, at ``path``; the file is made with the first one. One process writes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None

    def earlier(self) -> tuple[SettledCall, ...]:
        """The calls that are in the file.

        Raises:
            DataError: damaged; a last line that was cut off by a kill is left out.
        """
        return read_jsonl(self._path, _parsed) if self._path.exists() else ()

    def add(self, call: SettledCall) -> None:
        """Write one line.

        Raises:
            InterruptedRun: the disk does not take it.
        """
        line = f"{to_json(call)}\n".encode()
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


def _parsed(line: str, where: str) -> SettledCall:
    return from_json(SettledCall, line, where)
