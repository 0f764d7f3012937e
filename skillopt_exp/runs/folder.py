"""A run's folder: made once, by one run, and readable at any time, even after a kill.

::

    run.json              the marker: format, version, when it was made, digest of the prompts
    .hydra/               what Hydra composed; see ``runs.composed``
    run.lock              held while a process is at work on the run
    config.yaml  origins.json  split_manifest.json
    history.jsonl         one StepRecord a line, the same bytes for the same seed
    runtime_state.json    what the next step depends on; written last in each step
    best_skill.md  best_skill.json
    skills/skill_v0000.md ...        the seed, then the candidate of each step that changed something
    baseline/selection.jsonl
    steps/step_0001/      rollouts.jsonl selection.jsonl patches.json merged.json selected.json
                          candidate.md edits.json notes.json verdict.json optimizer.jsonl
    epochs/epoch_0002/    before.jsonl after.jsonl epoch.json, and of a skill with new guidance
                          candidate.md selection.jsonl
    test/control.jsonl  test/baseline.jsonl  test/best.jsonl  test/final.jsonl
    report.html           all of it on one page
    items.csv  items.png  which accepted change fixed or broke each val item
    calls.jsonl           what was sent and what became of it, over all processes of the run
    summary.json
    mlflow.json           where MLflow keeps the run, if it does; written by the tracker
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from skillopt_exp import __version__
from skillopt_exp.errors import DataError, InterruptedRun, UsageError
from skillopt_exp.records import TRAINED, StepRecord, Summary, TrainState
from skillopt_exp.runs.codec import from_json, to_json
from skillopt_exp.runs.composed import Composed, read_composed, write_composed
from skillopt_exp.runs.files import MEND, create_exclusive, read_jsonl, read_record
from skillopt_exp.runs.state import FORMAT, load_state, skill_path

_SECONDS_FOR_A_LOOK = 0.5
"""What one waits for a process that only looks whether the run is in use."""


class _InUse(UsageError):
    """Another process is at work on the run."""


@dataclass(frozen=True, slots=True)
class Marker:
    """``run.json``. ``created`` is ISO 8601 in UTC, to the second; ``prompts`` a digest of the templates.

    ``composed`` has the digests of what Hydra composed, by the name of its file in ``.hydra``.
    """

    format: int
    skillopt_exp: str
    created: str
    prompts: str
    composed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder at ``path``. Use ``create`` or ``open``: both make sure that it is a run's."""

    path: Path
    marker: Marker

    @classmethod
    def create(cls, path: Path, *, prompts: str, composed: Composed | None = None) -> "RunFolder":
        """Claim ``path`` for one new run. The folder may exist; a run in it may not.

        Raises:
            UsageError: another run has it, or nothing can be written there.
        """
        created = datetime.now(UTC).isoformat(timespec="seconds")
        marker = Marker(FORMAT, __version__, created, prompts, {} if composed is None else composed.digests)
        try:
            claimed = create_exclusive(path / "run.json", to_json(marker, indent=2) + "\n")
            if claimed and composed is not None:
                write_composed(path, composed)
        except InterruptedRun as error:
            # Nothing was begun that could be resumed.
            cause = error.__cause__
            raise UsageError(
                f"the run's folder {path} cannot be written in: "
                f"{cause.strerror if isinstance(cause, OSError) else error}. Allow writing there, or give "
                "another: hydra.run.dir=..."
            ) from error
        if not claimed:
            raise UsageError(
                f"{path} already holds a run; give the new one a folder of its own "
                "(hydra.run.dir=...), or resume the one that is there"
            )
        return cls(path, marker)

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """The folder of a run that was started before.

        Raises:
            UsageError: no run is there, or another version of the format.
            DataError: the marker is damaged.
        """
        file = path / "run.json"
        if not cls.is_run(path):
            raise UsageError(
                f"{path} is not a run's folder: run.json is missing; give the folder that holds it"
            )
        marker = read_record(Marker, file)
        if marker.format != FORMAT:
            raise UsageError(
                f"{path} has format {marker.format}, written by skillopt_exp {marker.skillopt_exp}; "
                f"this is {__version__}, which reads format {FORMAT}: use the version that wrote it"
            )
        return cls(path, marker)

    def lock(self) -> AbstractContextManager[None]:
        """Hold the run while working on it; the lock goes with the process, however it ends.

        Raises:
            UsageError: another process is at work on the run, or nothing can be written there.
        """
        return self._held(_SECONDS_FOR_A_LOOK)

    @contextmanager
    def _held(self, patience: float) -> Iterator[None]:
        lock = FileLock(self.path / "run.lock")
        try:
            lock.acquire(timeout=patience)
        except Timeout as error:
            raise _InUse(
                f"another process is at work on {self.path}; wait until it has ended, or stop it"
            ) from error
        except OSError as error:
            raise UsageError(
                f"{lock.lock_file} cannot be written ({error.strerror or error}), so nothing can be done in "
                "the run's folder; allow writing there, or move away what is in its place"
            ) from error
        try:
            yield
        finally:
            lock.release()

    @property
    def in_use(self) -> bool:
        """Whether a process is at work on the run now."""
        try:
            with self._held(0):
                return False
        except _InUse:
            return True
        except UsageError:
            return False  # nobody can write there

    @staticmethod
    def is_run(path: Path) -> bool:
        """Whether a run was started in ``path``."""
        return os.path.exists(path / "run.json")

    @property
    def config(self) -> Path:
        return self.path / "config.yaml"

    @property
    def origins(self) -> Path:
        return self.path / "origins.json"

    @property
    def manifest(self) -> Path:
        return self.path / "split_manifest.json"

    @property
    def history(self) -> Path:
        return self.path / "history.jsonl"

    @property
    def state(self) -> Path:
        return self.path / "runtime_state.json"

    @property
    def best_skill(self) -> Path:
        return self.path / "best_skill.md"

    @property
    def best_provenance(self) -> Path:
        return self.path / "best_skill.json"

    @property
    def summary(self) -> Path:
        return self.path / "summary.json"

    @property
    def calls(self) -> Path:
        """Every call of the run."""
        return self.path / "calls.jsonl"

    def skill(self, step: int) -> Path:
        """The skill that ``step`` made; step 0 is the seed."""
        return skill_path(self.path, step)

    def step(self, step: int) -> Path:
        """The folder of what ``step`` made, stage by stage."""
        return self.path / "steps" / f"step_{step:04d}"

    def other_candidate(self, step: int, number: int) -> Path:
        """A candidate that was tried beside the one that ``step`` ended with; the first is number 2."""
        return self.step(step) / f"candidate_{number}.md"

    def other_selection(self, step: int, number: int) -> Path:
        """Its attempts at val."""
        return self.step(step) / f"selection_{number}.jsonl"

    def candidate(self, step: int) -> Path:
        """The candidate that ``step`` put before the gate."""
        return self.step(step) / "candidate.md"

    def selection(self, step: int) -> Path:
        """The rollouts on val of the candidate of ``step``; step 0 is the seed skill."""
        return (self.path / "baseline" if step == 0 else self.step(step)) / "selection.jsonl"

    def exchanges(self, step: int) -> Path:
        """What the optimizer was asked in ``step`` and said."""
        return self.step(step) / "optimizer.jsonl"

    def epoch(self, epoch: int) -> Path:
        """The folder of what the end of ``epoch`` made."""
        return self.path / "epochs" / f"epoch_{epoch:04d}"

    def rollout_files(self) -> tuple[Path, ...]:
        """Every file of rollouts that is there, sorted by name."""
        known = ("baseline/*", "steps/*/rollouts", "steps/*/selection", "epochs/*/*", "test/*")
        return tuple(sorted(file for each in known for file in self.path.glob(f"{each}.jsonl")))

    def exchange_files(self) -> tuple[Path, ...]:
        """Every file of conversations with the optimizer that is there, sorted by name."""
        return tuple(sorted(self.path.glob("steps/*/optimizer.jsonl")))

    @property
    def item_table(self) -> Path:
        """Which accepted change fixed or broke each val item."""
        return self.path / "items.csv"

    @property
    def done(self) -> Path:
        """An empty file, the last that a run writes: whatever wanted to hear of its end has heard of it."""
        return self.path / "done"

    @property
    def heat_map(self) -> Path:
        """The same as a picture, with the rejected candidates."""
        return self.path / "items.png"

    @property
    def report(self) -> Path:
        """The run on one page."""
        return self.path / "report.html"

    def test(self, which: str) -> Path:
        """The rollouts on test of ``which``: control, baseline, best or final."""
        return self.path / "test" / f"{which}.jsonl"

    def read_state(self) -> TrainState | None:
        """The state after the last completed step, or None before the baseline was scored.

        Raises:
            DataError: damaged, a skill file is not the one that was scored, or there is none though a step
                was begun: a run does not start over where it had come further.
        """
        if self.state.exists():
            return load_state(self.path, self.state)
        for later in (self.path / "steps", self.path / "test"):
            if later.exists():
                raise DataError(
                    f"{self.state} is missing, but the run had come further: {later.name} is there. "
                    f"Without it nobody knows where to go on; {MEND}"
                )
        return None

    def read_history(self) -> tuple[StepRecord, ...]:
        """The records of the completed steps.

        A kill between the record of a step and its state leaves one line more; the step is not
        completed, and the line is left out.

        Raises:
            DataError: damaged, or the records are not those of steps 1, 2, ... of the state.
        """
        state = self.read_state()
        if state is None:
            return ()
        records = read_jsonl(self.history, lambda line, where: from_json(StepRecord, line, where))
        for number, record in enumerate(records[: state.step], 1):
            if record.step != number:
                raise DataError(
                    f"{self.history}:{number}: step {record.step} stands where step {number} should"
                )
        if len(records) < state.step:
            raise DataError(
                f"{self.history} ends with step {len(records)}, but {self.state.name} says that step "
                f"{state.step} was completed; restore the file from a copy"
            )
        return records[: state.step]

    def ended(self, *, tested: bool = True) -> Summary | None:
        """The result of a run that has nothing left to do, or None.

        It was trained, ``tested`` where that is wanted, and everything that wanted to hear of its end has.

        Raises:
            DataError: damaged.
        """
        summary = self.read_summary() if self.done.exists() else None
        if summary is None:
            return None
        return summary if summary.complete or (summary.status == TRAINED and not tested) else None

    def read_summary(self) -> Summary | None:
        """The run's result, or None as long as there is none.

        Raises:
            DataError: damaged.
        """
        if not self.summary.exists():
            return None
        try:
            return read_record(Summary, self.summary)
        except DataError as error:
            raise DataError(
                f"{error}. Or delete {self.summary.name}: the end of the run writes it"
            ) from error

    def read_composed(self, name: str) -> str:
        """What Hydra composed, as it was written; ``name`` is that of a file of ``runs.composed``.

        Raises:
            DataError: missing or damaged.
        """
        return read_composed(self.path, name, self.marker.composed)
