"""Writing so that a kill at any moment leaves the old file or the new one, and reading it back.

All text is UTF-8 with ``\\n``, whatever the locale. A disk that is full or read-only stops the run as
``InterruptedRun``: what was written before stays good, and the run can be resumed.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeVar

from skillopt_exp.errors import DataError, InterruptedRun
from skillopt_exp.reading import read_regular, why
from skillopt_exp.runs.codec import from_json

T = TypeVar("T")

MEND = "restore the file from a copy of the folder, or start a new run"
"""What to do about a damaged file."""


def write_atomic(path: Path, text: str) -> None:
    """Replace ``path`` by a file of ``text``, whole and on the disk. Makes the folders above it.

    Raises:
        InterruptedRun: the disk does not take it.
        DataError: a folder is where the file should be, or a file where a folder should.
    """
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """The same, of what is no text.

    Raises:
        InterruptedRun: the disk does not take it.
    """
    # One fixed name: a killed writer leaves at most one such file, and the next write takes it over.
    # A run folder has one writer, so nobody else uses it at the same time.
    temporary = path.with_name(f".{path.name}.tmp")
    with _resumable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as file:
            file.write(content)
            _to_disk(file)
        os.replace(temporary, path)
        _folder_to_disk(path.parent)


def create_exclusive(path: Path, text: str) -> bool:
    """Make ``path`` with ``text`` unless something is there already; says whether it did.

    Raises:
        InterruptedRun: the disk does not take it.
    """
    with _resumable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = path.open("xb")
        except FileExistsError:
            return False
        with file:
            file.write(text.encode("utf-8"))
            _to_disk(file)
        _folder_to_disk(path.parent)
    return True


def append_line(path: Path, line: str) -> None:
    """Add ``line`` and a line end to ``path``, on the disk when this returns.

    Raises:
        ValueError: ``line`` holds a line end.
        InterruptedRun: the disk does not take it.
    """
    if "\n" in line:
        raise ValueError(f"{path}: one line at a time")
    with _resumable(path):
        new = not path.exists()
        with path.open("ab") as file:
            file.write(f"{line}\n".encode())
            _to_disk(file)
        if new:
            _folder_to_disk(path.parent)


def read_text(path: Path) -> str:
    """The text of ``path``, byte for byte (no line ends are changed).

    Raises:
        DataError: missing, unreadable, or not UTF-8.
    """
    try:
        return _read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error}); it is damaged: {MEND}") from error


def read_record(kind: type[T], path: Path) -> T:
    """The one value of type ``kind`` that ``path`` holds as JSON.

    Raises:
        DataError: missing, unreadable, or damaged; says where in the file.
    """
    text = read_text(path)
    try:
        return from_json(kind, text, str(path))
    except DataError as error:
        raise DataError(f"{error}; it is damaged: {MEND}") from error


def read_jsonl(path: Path, parse: Callable[[str, str], T]) -> tuple[T, ...]:
    """What ``parse(line, where)`` makes of each line.

    A last line without its line end is a write that was cut off: it is left out when it cannot be
    parsed. Any other damage is an error, since dropping lines there would drop results.

    Raises:
        DataError: names file and line.
    """
    # Not splitlines: JSON text may hold U+2028 and other characters that it takes for line ends.
    *lines, last = _read_bytes(path).split(b"\n")
    values = [_parsed(path, number, line, parse) for number, line in enumerate(lines, 1)]
    if last:
        with suppress(DataError):
            values.append(_parsed(path, len(lines) + 1, last, parse))
    return tuple(values)


def keep_lines(path: Path, count: int) -> None:
    """Cut ``path`` after its first ``count`` lines, unchanged byte for byte.

    Raises:
        DataError: unreadable, or those lines are not UTF-8.
        InterruptedRun: the disk does not take it.
    """
    lines = read_jsonl(path, lambda line, where: line)[:count]
    write_atomic(path, "".join(f"{line}\n" for line in lines))


def _parsed(path: Path, number: int, line: bytes, parse: Callable[[str, str], T]) -> T:
    where = f"{path}:{number}"
    try:
        return parse(line.decode("utf-8"), where)
    except UnicodeDecodeError as error:
        raise DataError(f"{where}: not UTF-8 ({error}); it is damaged: {MEND}") from error
    except DataError as error:
        raise DataError(f"{error}; it is damaged: {MEND}") from error


def _read_bytes(path: Path) -> bytes:
    try:
        return read_regular(path)
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing; {MEND}") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {why(error)}; {MEND}") from error


@contextmanager
def _resumable(path: Path) -> Iterator[None]:
    try:
        yield
    except (IsADirectoryError, NotADirectoryError, FileExistsError) as error:
        raise DataError(
            f"{path} cannot be written: {error.strerror}. What was saved before is good: move away what is "
            "in its place, and resume the run"
        ) from error
    except OSError as error:
        raise InterruptedRun(
            f"{path} cannot be written: {error.strerror}. What was saved before is good: "
            "make room on the disk, or allow writing there, then go on"
        ) from error


def _to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _folder_to_disk(folder: Path) -> None:
    if os.name == "nt":  # Windows opens no folders, and keeps the order by itself
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
