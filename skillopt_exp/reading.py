"""The paths that a user names, and reading them: regular files of a size that makes sense for what they are.

A device never ends, a pipe may never begin, and a slip of the keyboard may name a disk image. None of
them may hang a command or fill the memory.
"""

import errno
import os
import stat
from pathlib import Path

from skillopt_exp.errors import UsageError

MOST_TEXT = 2_000_000
"""Bytes of a skill, a template or a configuration file: far more than any model reads."""

MOST_ITEMS = 4_000_000_000
"""Bytes of a file of items, unpacked: more than the largest public question-answering sets."""

_MOST_SHOWN = 200
"""Characters of a path that a message repeats."""

_KINDS = {
    stat.S_IFDIR: "it is a folder",
    stat.S_IFIFO: "it is a pipe, not a file",
    stat.S_IFSOCK: "it is a socket, not a file",
    stat.S_IFCHR: "it is a device, not a file",
    stat.S_IFBLK: "it is a device, not a file",
}


def named_path(given: str, *, base: Path, key: str) -> Path:
    """The absolute path that ``key=given`` names, ``~`` expanded; relative ones start from ``base``.

    Whether something is there is not looked at, but asking for it will not fail.

    Raises:
        UsageError: no file can have that name, nobody has that home, or it may not be looked at.
    """
    expanded = os.path.expanduser(given)
    if "\0" in given or expanded.startswith("~"):
        raise UsageError(f"{key}={given!r} names no place on this machine; give a path")
    path = Path(os.path.abspath(base / expanded))
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise UsageError(f"{key}={_shortened(given)} cannot be looked at: {error.strerror}") from error
    return path


def read_regular(path: Path, *, most: int | None = None) -> bytes:
    """The bytes of ``path``, a regular file of at most ``most`` bytes; None is any size. Never blocks.

    Raises:
        OSError: it is none, is longer, or cannot be read; ``why`` says so in words.
    """
    descriptor = _opened(path)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, _KINDS.get(stat.S_IFMT(status.st_mode), "it is no file"))
        if most is not None and status.st_size > most:
            raise _too_large(most)
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(-1 if most is None else most + 1)
    finally:
        os.close(descriptor)
    if most is not None and len(data) > most:  # it grew, or its file system does not know sizes
        raise _too_large(most)
    return data


def read_text(path: Path) -> str:
    """The text of a skill, a template or a configuration file: no byte order mark, lines ended by ``\\n``.

    Raises:
        OSError: see ``read_regular``.
        UnicodeDecodeError: it is not UTF-8.
    """
    text = read_regular(path, most=MOST_TEXT).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def why(error: OSError | UnicodeDecodeError) -> str:
    """What kept a file from being read, in words for a message that names the file itself."""
    if isinstance(error, UnicodeDecodeError):
        return f"it is not UTF-8 text ({error.reason} at byte {error.start:,})"
    return error.strerror or str(error)


def _shortened(given: str) -> str:
    return given if len(given) <= _MOST_SHOWN else f"{given[:_MOST_SHOWN]}..."


def _opened(path: Path) -> int:
    # Without waiting: opening a pipe that nobody writes into would never return.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        return os.open(path, flags)
    except ValueError as error:  # a NUL character
        raise OSError(errno.EINVAL, f"no file can have such a name ({error})") from error


def _too_large(most: int) -> OSError:
    return OSError(errno.EFBIG, f"it is larger than {most / 1e6:,.0f} MB")
