"""Which files a data set is read from: paths as the user typed them become files that exist."""

import os
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.config.dataset import DatasetConfig
from skillopt_exp.data.read import SUFFIXES
from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.reading import named_path
from skillopt_exp.records import Split

MOST_NAMED = 10
"""How many of a folder's entries a message lists."""


@dataclass(frozen=True, slots=True)
class Located:
    """One existing file. ``label`` is how messages name it; ``split`` is None unless the file has one."""

    path: Path
    label: str
    split: Split | None = None


def locate(config: DatasetConfig, *, base: Path) -> tuple[Located, ...]:
    """The file of ``dataset.path``, or the three of ``dataset.split_dir`` in the order of the splits.

    Relative paths resolve against ``base``; ``~`` and environment variables are expanded.

    Raises:
        DataError: neither is given, or a file is missing; the message names what was tried.
        UsageError: a key that has no effect on a split folder is set.
    """
    if config.split_dir is not None:
        _refuse_keys_without_effect(config)
        return _split_files(
            _resolve(config.split_dir, base, key="dataset.split_dir"), given=config.split_dir, base=base
        )
    if config.path is not None:
        path = _resolve(config.path, base, key="dataset.path")
        if path.is_dir():
            raise DataError(
                f"dataset.path={config.path} is a folder ({path}); for a folder of splits use "
                f"dataset.split_dir={config.path} dataset.path=null"
            )
        if not path.exists():
            raise DataError(f"dataset.path={config.path} does not exist; tried {path}")
        if not path.is_file():
            raise DataError(
                f"dataset.path={config.path} is a device or a pipe ({path}); give a file of items"
            )
        return (Located(path, shown(path, base)),)
    raise DataError(
        f"dataset {config.name!r} has no data yet: dataset.path and dataset.split_dir are both null. "
        "Give dataset.path=FILE (one .json, .jsonl or .csv file of items) or dataset.split_dir=FOLDER "
        "(with train, val and test); dataset=demo runs on bundled items"
    )


def shown(path: Path, base: Path) -> str:
    """``path`` with forward slashes, relative to ``base`` where it lies inside."""
    return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.as_posix()


def _resolve(given: str, base: Path, *, key: str) -> Path:
    return named_path(os.path.expandvars(given), base=base, key=key)


def _refuse_keys_without_effect(config: DatasetConfig) -> None:
    """A split folder says itself which items go where, so these keys would silently do nothing."""
    for name, value in (("limit", config.limit), ("split_field", config.split_field)):
        if value is not None:
            raise UsageError(
                f"dataset.{name}={value} works on dataset.path, but dataset.split_dir is given, whose files "
                f"are the splits; set dataset.{name}=null"
            )


def _split_files(folder: Path, *, given: str, base: Path) -> tuple[Located, ...]:
    if folder.is_file():
        raise DataError(
            f"dataset.split_dir={given} is a file ({folder}); for one file use "
            f"dataset.path={given} dataset.split_dir=null"
        )
    if not folder.is_dir():
        raise DataError(f"dataset.split_dir={given} does not exist; tried {folder}")
    return tuple(_split_file(folder, split, base=base) for split in Split)


def _split_file(folder: Path, split: Split, *, base: Path) -> Located:
    tried = [folder / f"{split}{middle}{suffix}" for middle in ("/items", "") for suffix in SUFFIXES]
    found = [path for path in tried if path.is_file()]
    if not found:
        names = sorted(path.name for path in folder.iterdir())
        listed = ", ".join(names[:MOST_NAMED]) + (" and more" if len(names) > MOST_NAMED else "")
        raise DataError(
            f"{shown(folder, base)}: no {split} split; tried {split}/items and {split} with "
            f"{', '.join(SUFFIXES)} in {folder}, which holds {listed or 'nothing'}"
        )
    if len(found) > 1:
        both = " and ".join(shown(path, base) for path in found)
        raise DataError(f"{shown(folder, base)}: the {split} split is there more than once: {both}; keep one")
    return Located(found[0], shown(found[0], base), split)
