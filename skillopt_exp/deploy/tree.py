"""The files of one skill's folder as a value: read, written, packed into a backup and unpacked again."""

import io
import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from skillopt_exp.deploy.package import SKILL_FILE
from skillopt_exp.errors import DataError, InterruptedRun, UsageError
from skillopt_exp.reading import read_regular, why
from skillopt_exp.runs.files import write_bytes

MOST_BYTES = 50_000_000
"""Of an existing folder that is kept before it is replaced."""

_PLAIN_MODE = 0o644


@dataclass(frozen=True, slots=True)
class File:
    """One file: its bytes and its permissions."""

    content: bytes
    mode: int = _PLAIN_MODE


Tree = Mapping[str, File]
"""Files by their path in the folder, with slashes."""


def read_tree(folder: Path) -> Tree:
    """What stands in ``folder``; nothing where there is none.

    Raises:
        UsageError: it holds links or what is no file, is too large, or cannot be read.
    """
    found, size = {}, 0
    for path in sorted(folder.rglob("*")) if folder.exists() else ():
        if path.is_symlink():
            raise UsageError(f"{path} is a link; a folder with links is not replaced. Move it away first")
        if path.is_dir():
            continue
        try:
            content = read_regular(path, most=MOST_BYTES)
        except OSError as error:
            raise UsageError(f"{path} cannot be kept before it is replaced: {why(error)}") from error
        size += len(content)
        if size > MOST_BYTES:
            raise UsageError(f"{folder} is larger than {MOST_BYTES / 1e6:,.0f} MB; move it away first")
        found[path.relative_to(folder).as_posix()] = File(content, stat.S_IMODE(path.stat().st_mode))
    return found


def write_tree(folder: Path, tree: Tree) -> None:
    """Make ``folder`` hold ``tree`` and nothing else; an empty tree removes it.

    At every moment SKILL.md is the old one or the new one, whole.

    Raises:
        UsageError: the disk does not take it.
    """
    before = read_tree(folder)
    with told(folder):
        for name in sorted(tree, key=lambda name: name == SKILL_FILE):
            write_bytes(folder / name, tree[name].content)
            (folder / name).chmod(tree[name].mode)
        for name in sorted(before.keys() - tree.keys(), key=lambda name: name != SKILL_FILE):
            (folder / name).unlink(missing_ok=True)  # what a kill left may have been taken over
        for path in sorted(folder.rglob("*"), reverse=True) if folder.exists() else ():
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
        if folder.exists() and not any(folder.iterdir()):
            folder.rmdir()


def packed(tree: Tree) -> bytes:
    """The files as a zip archive: one file, in which no agent looks for skills."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        for name in sorted(tree):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = tree[name].mode << 16
            file.writestr(entry, tree[name].content, zipfile.ZIP_DEFLATED)
    return archive.getvalue()


def unpacked(path: Path) -> Tree:
    """The files of such an archive.

    Raises:
        UsageError: it is missing, damaged, or names places outside of a folder.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(read_regular(path))) as file:
            entries = file.infolist()
            if sum(entry.file_size for entry in entries) > MOST_BYTES:
                raise UsageError(f"{path} is larger than any backup; it is not restored")
            found = {
                entry.filename: File(file.read(entry), entry.external_attr >> 16 & 0o777 or _PLAIN_MODE)
                for entry in entries
            }
    except (OSError, zipfile.BadZipFile) as error:
        raise UsageError(f"the backup {path} cannot be read ({error}); nothing was changed") from error
    for name in found:
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts or os.path.isabs(name):
            raise UsageError(f"the backup {path} names {name!r}, outside of its folder; nothing was changed")
    return found


@contextmanager
def told(where: Path) -> Iterator[None]:
    """Failures to write as one message of a command that is no run."""
    try:
        yield
    except (InterruptedRun, DataError) as error:
        cause = error.__cause__
        raise UsageError(
            f"{where} cannot be written ({cause.strerror if isinstance(cause, OSError) else error}); "
            "allow writing there, or name another place with dir=..."
        ) from error
    except OSError as error:
        raise UsageError(
            f"{where} cannot be written ({error.strerror or error}); allow writing there, or name another "
            "place with dir=..."
        ) from error
