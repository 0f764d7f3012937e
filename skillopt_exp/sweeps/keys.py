"""A job's key: a digest of what its result follows from. Equal keys are one job, in whatever sweep."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp import __version__
from skillopt_exp.config.key import Affects
from skillopt_exp.config.root import schema_fields
from skillopt_exp.reading import why

_DIGITS = 12
_OF_THE_SWEEP = "sweep."
_FILES = ("dataset.path", "dataset.split_dir", "optimizer.prompts_dir", "train.skill_init")
"""The keys that name files: a result follows from what these hold, and not from how they are called."""


@dataclass(frozen=True, slots=True)
class JobConfig:
    """A job's configuration, flat (dotted key to text), and the file that was chosen for each group."""

    flat: Mapping[str, str]
    choices: Mapping[str, str]


def job_keys(jobs: Sequence[JobConfig], *, base: Path) -> tuple[str, ...]:
    """The key of each job, 12 hex digits, by its configuration.

    Keys of the configuration that affect the cost or nothing are left out: a sweep that goes on with a
    higher budget or more slots goes on with the same jobs. Where nothing else tells two jobs apart, as in
    a sweep over such a key, all keys and the chosen files count. Files that a key names count with what
    they hold; relative paths start from ``base``.
    """
    files: dict[Path, str] = {}
    plain = [_digest(_decisive(job), base, files) for job in jobs]
    whole = [_digest(_whole(job), base, files) for job in jobs]
    distinct = Counter(of_result for of_result, _ in dict.fromkeys(zip(plain, whole, strict=True)))
    return tuple(
        of_result if distinct[of_result] == 1 else of_all
        for of_result, of_all in zip(plain, whole, strict=True)
    )


def _decisive(job: JobConfig) -> dict[str, str]:
    affects = {name: each.metadata["affects"] for name, each in schema_fields()}
    return {
        name: value for name, value in job.flat.items() if affects.get(name, Affects.result) is Affects.result
    }


def _whole(job: JobConfig) -> dict[str, str]:
    chosen = {f"choice.{group}": name for group, name in job.choices.items()}
    return chosen | {name: value for name, value in job.flat.items() if not name.startswith(_OF_THE_SWEEP)}


def _digest(values: Mapping[str, str], base: Path, files: dict[Path, str]) -> str:
    held = {name: _content(base / values[name], files) for name in _FILES if name in values}
    text = json.dumps([__version__, values, held], sort_keys=True)
    return _sha256(text.encode("utf-8", "surrogatepass"))[:_DIGITS]


def _content(path: Path, files: dict[Path, str]) -> str | None:
    """A digest of the file, or of all files below a folder; None of what is neither.

    What cannot be read counts as such: the run that reads it says what is wrong.
    """
    if path not in files:
        try:
            if path.is_file():
                files[path] = _of_file(path)
            elif path.is_dir():
                inner = sorted(each for each in path.rglob("*") if each.is_file())
                named = [f"{each.relative_to(path)} {_of_file(each)}" for each in inner]
                files[path] = _sha256("\n".join(named).encode("utf-8", "surrogatepass"))
        except (OSError, ValueError) as error:
            files[path] = why(error) if isinstance(error, OSError) else str(error)
    return files.get(path)


def _of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
