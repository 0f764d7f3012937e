"""A sweep's folder: its jobs' runs, and what holds for all of them.

::

    sweep.json            the command, the jobs, where MLflow keeps the sweep; rewritten by each command
    sweep.lock            held while a process leads the sweep
    multirun.yaml         Hydra's configuration of the sweep
    stop                  there while no further job may begin
    <job key>/            a run's folder (see ``runs.folder``), and besides
        job.json          the job's name and overrides
        failure.json      how its last attempt failed, if it did
        console.txt       what it printed, where jobs ran at the same time
    leaderboard.csv  leaderboard.png  best_skill.md
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from skillopt_exp import __version__
from skillopt_exp.errors import UsageError
from skillopt_exp.runs.codec import from_json, to_json
from skillopt_exp.runs.files import read_text, write_atomic

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Job:
    """``job.json``: one job. ``number`` counts from 1, ``overrides`` are all of the command's, with the
    job's own values; ``key`` names its folder."""

    number: int
    name: str
    key: str
    overrides: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Parent:
    """The MLflow run of the sweep, above those of its jobs."""

    experiment_id: str
    run_id: str


@dataclass(frozen=True, slots=True)
class SweepRecord:
    """``sweep.json``. ``arguments`` is the command line, given in the folder ``base``."""

    format: int
    skillopt_exp: str
    base: str
    arguments: tuple[str, ...]
    jobs: tuple[Job, ...]
    parent: Parent | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """``failure.json``: how an attempt at a job ended. ``kind`` names the error's class."""

    kind: str
    message: str
    exit_code: int
    resumable: bool
    traceback: str


@dataclass(frozen=True, slots=True)
class SweepFolder:
    """The folder at ``path``; it need not be there yet."""

    path: Path

    @property
    def record_file(self) -> Path:
        return self.path / "sweep.json"

    @property
    def multirun(self) -> Path:
        return self.path / "multirun.yaml"

    @property
    def leaderboard(self) -> Path:
        return self.path / "leaderboard.csv"

    @property
    def plot(self) -> Path:
        """Scores against costs."""
        return self.path / "leaderboard.png"

    @property
    def best_skill(self) -> Path:
        """The winner's."""
        return self.path / "best_skill.md"

    @property
    def stop_file(self) -> Path:
        return self.path / "stop"

    def job(self, key: str) -> Path:
        """The run folder of the job with that key."""
        return self.path / key

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold the sweep while leading it; the lock goes with the process, however it ends.

        Raises:
            UsageError: another process leads it.
            OSError: nothing can be written there.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.path / "sweep.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout as error:
            raise UsageError(
                f"another process is at work on the sweep in {self.path}; wait until it has ended, or give "
                "this one a name of its own: sweep.name=..."
            ) from error
        try:
            yield
        finally:
            lock.release()

    def move_aside(self) -> Path | None:
        """Give the place to a new sweep. Returns where the old one is now, None where there was none.

        Raises:
            UsageError: a process leads the old one, or a job of it still runs.
        """
        if not self.record_file.exists():
            return None
        moment = datetime.now(UTC).strftime("%Y-%m-%d_%H-%M-%S")
        aside = self.path.with_name(f"{self.path.name}.before-{moment}")
        with self.lock():
            self.path.rename(aside)
        return aside

    def begin(self, arguments: tuple[str, ...], jobs: tuple[Job, ...], base: Path) -> SweepRecord:
        """Write what this command is, and each job's ``job.json``; keeps the MLflow run of an earlier one.

        Raises:
            DataError: the record of an earlier command is damaged.
            InterruptedRun: the disk does not take it.
        """
        earlier = self.read() if self.record_file.exists() else None
        record = SweepRecord(
            format=FORMAT,
            skillopt_exp=__version__,
            base=str(base),
            arguments=arguments,
            jobs=jobs,
            parent=None if earlier is None else earlier.parent,
        )
        for job in jobs:
            write_atomic(self.job(job.key) / "job.json", to_json(job, indent=2) + "\n")
        self._write(record)
        self.stop_file.unlink(missing_ok=True)
        return record

    def read(self) -> SweepRecord:
        """What the last command was.

        Raises:
            UsageError: no sweep was begun here, or another version wrote it.
            DataError: damaged.
        """
        if not self.record_file.exists():
            raise UsageError(
                f"{self.path} is not a sweep's folder: sweep.json is missing; give the folder that holds it"
            )
        record = from_json(SweepRecord, read_text(self.record_file), str(self.record_file))
        if record.format != FORMAT:
            raise UsageError(
                f"{self.path} has format {record.format}, written by skillopt_exp {record.skillopt_exp}; "
                f"this is {__version__}, which reads format {FORMAT}: use the version that wrote it"
            )
        return record

    def adopt(self, record: SweepRecord, parent: Parent) -> SweepRecord:
        """The record with the MLflow run of the sweep in it, written."""
        adopted = replace(record, parent=parent)
        self._write(adopted)
        return adopted

    def _write(self, record: SweepRecord) -> None:
        write_atomic(self.record_file, to_json(record, indent=2) + "\n")


@dataclass(frozen=True, slots=True)
class JobPlace:
    """The folder of one job inside its sweep's."""

    path: Path
    job: Job

    @property
    def sweep(self) -> SweepFolder:
        return SweepFolder(self.path.parent)

    @property
    def failure_file(self) -> Path:
        return self.path / "failure.json"

    @property
    def console_file(self) -> Path:
        return self.path / "console.txt"

    @property
    def may_begin(self) -> bool:
        """Whether the sweep has not been stopped."""
        return not self.sweep.stop_file.exists()

    def stop_others(self) -> None:
        """Let no further job begin."""
        write_atomic(self.sweep.stop_file, f"job {self.job.number}\n")

    def failed(self, failure: Failure) -> None:
        """Keep how the attempt ended."""
        write_atomic(self.failure_file, to_json(failure, indent=2) + "\n")

    def forget_failure(self) -> None:
        """Before a new attempt."""
        self.failure_file.unlink(missing_ok=True)

    def failure(self) -> Failure | None:
        """How the last attempt failed, None if it did not.

        Raises:
            DataError: damaged.
        """
        file = self.failure_file
        return from_json(Failure, read_text(file), str(file)) if file.exists() else None


def job_place(path: Path) -> JobPlace | None:
    """The place of a job whose run has the folder ``path``; None where that is in no sweep.

    Raises:
        DataError: its ``job.json`` is damaged.
    """
    file = path / "job.json"
    if not (os.path.exists(file) and SweepFolder(path.parent).record_file.exists()):
        return None
    return JobPlace(path, from_json(Job, read_text(file), str(file)))
