"""A skill against no skill over models and data sets: one evaluation a cell, and what became of each."""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from pathlib import Path

from skillopt_exp import __version__
from skillopt_exp.errors import InterruptedRun, OutageError, SkillOptError
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.conduct import conduct
from skillopt_exp.evaluation.evaluate import Evaluation, Question
from skillopt_exp.evaluation.folder import FORMAT
from skillopt_exp.evaluation.scoring import Progress
from skillopt_exp.records import Evidence, GroupResult, Interval, Split
from skillopt_exp.redaction import redact
from skillopt_exp.runs.codec import to_json
from skillopt_exp.runs.files import write_atomic
from skillopt_exp.tracking.session import TrackedRun


@dataclass(frozen=True, slots=True)
class Cell:
    """One model on one data set, as they were named; scores are fractions. A failed one has an ``error``.

    ``folder`` is relative to the matrix's own.
    """

    model: str
    dataset: str
    target: str = ""
    simulated: bool = False
    num_items: int = 0
    baseline_hard: float | None = None
    skill_hard: float | None = None
    delta_hard: float | None = None
    delta_interval: Interval | None = None
    p: float | None = None
    evidence: Evidence | None = None
    baseline_faults: int | None = None
    skill_faults: int | None = None
    extra_input_tokens: float | None = None
    cost_usd: float | None = None
    groups: Mapping[str, GroupResult] = field(default_factory=dict)
    folder: str = ""
    error: str = ""
    exit_code: int = 0


@dataclass(frozen=True, slots=True)
class Matrix:
    """``transfer.json``: the cells, data set by data set."""

    format: int
    skillopt_exp: str
    skill: str
    digest: str
    split: Split
    cells: tuple[Cell, ...]

    @property
    def exit_code(self) -> int:
        """0, or the highest of the failed cells."""
        return max((cell.exit_code for cell in self.cells), default=0)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the skill is to be tried: a model and a data set as named, and how their bench is made."""

    model: str
    dataset: str
    bench: Callable[[], Bench]

    @property
    def slug(self) -> str:
        """Both names in characters that any file system takes."""
        return re.sub(r"[^A-Za-z0-9_.-]+", "_", f"{self.model}-{self.dataset}")[:80]


class Spectator:
    """Hears of the cells of a matrix, and does nothing yet: override what is of interest."""

    def progress(self, place: Place, bench: Bench) -> AbstractContextManager[Progress]:
        """Told of the attempts of one cell, for as long as it is under way."""
        return nullcontext(lambda name, ended: None)

    def kept(self, run: TrackedRun) -> None:
        """The cell that is under way is in the tracker."""

    def ended(self, cell: Cell) -> None:
        """A cell is complete, or has failed."""


def fill(
    question: Question, places: Sequence[Place], split: Split, folder: Path, spectator: Spectator
) -> Matrix:
    """Evaluate ``question``, whose pair is a skill and a control, in every place, one after the other.

    A place that fails does not stop the others. ``folder`` (made before) has the matrix from the first
    cell on, as far as it has come.

    Raises:
        InterruptedRun: somebody stopped this, or the disk is full.
    """
    cells: list[Cell] = []
    for number, place in enumerate(places, 1):
        cell = _tried(question, place, folder, f"{number:02d}-{place.slug}", spectator)
        cells.append(cell)
        matrix = _matrix(question, split, cells)
        write_atomic(folder / "transfer.json", to_json(matrix, indent=2) + "\n")
        write_atomic(folder / "transfer.csv", as_csv(matrix))
        spectator.ended(cell)
    return _matrix(question, split, cells)


def as_csv(matrix: Matrix) -> str:
    """One row a cell, with a header; what is unknown is empty. An interval is its two ends; groups are left
    to ``transfer.json``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(name for each in fields(Cell) for name in _columns(each.name))
    for cell in matrix.cells:
        writer.writerow(
            value for each in fields(Cell) for value in _values(each.name, getattr(cell, each.name))
        )
    return text.getvalue()


def _tried(question: Question, place: Place, folder: Path, name: str, spectator: Spectator) -> Cell:
    try:
        bench = place.bench()
        with spectator.progress(place, bench) as progress:
            evaluation, tracked = conduct(question, bench, folder / name, progress)
    except SkillOptError as error:
        # Stopped from outside, or no room on the disk: the next cell would fare no better.
        if isinstance(error, InterruptedRun) and not isinstance(error, OutageError):
            raise
        return Cell(
            place.model, place.dataset, error=redact(" ".join(str(error).split())), exit_code=error.exit_code
        )
    if tracked is not None:
        spectator.kept(tracked)
    return _cell(place, evaluation, name)


def _cell(place: Place, evaluation: Evaluation, folder: str) -> Cell:
    found, extra, pair = evaluation.difference, evaluation.extra_a_call, evaluation.question.pair
    assert found is not None
    assert extra is not None
    assert pair is not None
    skill, control = (evaluation.standings[name] for name in pair)
    return Cell(
        model=place.model,
        dataset=place.dataset,
        target=evaluation.bench.target,
        simulated=evaluation.bench.prepared.simulated,
        num_items=found.num_items,
        baseline_hard=control.hard,
        skill_hard=skill.hard,
        delta_hard=found.gain.hard,
        delta_interval=found.gain.hard_interval,
        p=found.gain.hard_p,
        evidence=found.gain.evidence,
        baseline_faults=control.num_faults,
        skill_faults=skill.num_faults,
        extra_input_tokens=extra.input,
        cost_usd=evaluation.usage.cost_usd,
        groups=evaluation.groups,
        folder=folder,
    )


def _matrix(question: Question, split: Split, cells: Sequence[Cell]) -> Matrix:
    assert question.pair is not None
    named = question.skills[question.pair[0]]
    return Matrix(FORMAT, __version__, named.label, named.skill.digest, split, tuple(cells))


def _columns(name: str) -> tuple[str, ...]:
    return {"delta_interval": ("delta_low", "delta_high"), "groups": ()}.get(name, (name,))


def _values(name: str, value: object) -> tuple[object, ...]:
    if name == "groups":
        return ()
    if name != "delta_interval":
        return ("" if value is None else value,)
    return (value.low, value.high) if isinstance(value, Interval) else ("", "")
