"""A matrix as a person reads it, and each of its cells as soon as it is there."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from skillopt_exp import __version__
from skillopt_exp.display import (
    LEVEL,
    group_name,
    largest,
    percent,
    plain_table,
    points,
    print_banner,
    print_head,
    print_warnings,
    span,
)
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.evaluate import Question
from skillopt_exp.evaluation.matrix import Cell, Matrix, Place, Spectator
from skillopt_exp.evaluation.scoring import Progress
from skillopt_exp.evaluation.table import progress_on
from skillopt_exp.records import Evidence, GroupResult, Split
from skillopt_exp.tracking.session import TrackedRun

_EVIDENCE = {
    Evidence.clear: "clear",
    Evidence.within_noise: "noise",
    Evidence.underpowered: "too few",
}


class Follower(Spectator):
    """Prints a line a cell to ``console``; ``total`` is how many there are."""

    def __init__(self, console: Console, total: int) -> None:
        self._console = console
        self._total = total
        self._ended = 0
        self._warned: set[str] = set()
        self.tracked: list[TrackedRun] = []
        """Where the tracker keeps the cells that have ended."""

    @contextmanager
    def progress(self, place: Place, bench: Bench) -> Iterator[Progress]:
        for warning in bench.warnings:
            if warning not in self._warned:
                self._warned.add(warning)
                print_warnings(self._console, [warning])
        with progress_on(self._console, bench) as progress:
            yield progress

    def kept(self, run: TrackedRun) -> None:
        self.tracked.append(run)

    def ended(self, cell: Cell) -> None:
        self._ended += 1
        count = f"{self._ended}/{self._total}"
        said = "failed" if cell.error else "done"
        line = Text.assemble((f"{count:>5}  ", "dim"), f"{cell.model} on {cell.dataset}: {said}")
        self._console.print(line, soft_wrap=True, highlight=False)


def print_beginning(console: Console, question: Question, split: Split, num_cells: int) -> None:
    """What is asked, before the first cell."""
    print_banner(console, f"[bold]skillopt_exp[/] {__version__}  {question.verb}", simulated=False)
    rows = [(name, each.described, "") for name, each in question.skills.items()]
    print_head(
        console, [*rows, ("cells", f"{num_cells:,}", f"each on its {split} split, {split.meaning}")], ()
    )


def print_matrix(console: Console, matrix: Matrix, folder: Path, tracked: Sequence[TrackedRun] = ()) -> None:
    """All cells, why some of them failed, and where everything lies."""
    console.print()
    console.print(_table(matrix))
    console.print()
    simulated = ", ".join(dict.fromkeys(cell.model for cell in matrix.cells if cell.simulated))
    if simulated:
        warning = f"SIMULATED: {simulated}; these numbers say nothing about real models"
        console.print(Text(warning, "bold magenta"), soft_wrap=True)
    for error, cells in _failures(matrix).items():
        told = Text.assemble(("failed  ", "bold red"), f"{', '.join(cells)}: {error}")
        console.print(told, soft_wrap=True, highlight=False)
    rows = [("results", str(folder), ""), *(("MLflow", command, "") for command in _commands(tracked))]
    print_head(console, [*rows, *(("", page, "") for page in _pages(tracked))], ())


def _commands(tracked: Sequence[TrackedRun]) -> Iterable[str]:
    return dict.fromkeys(run.ui_command for run in tracked)


def _pages(tracked: Sequence[TrackedRun]) -> Iterable[str]:
    """One page a data set: the experiment that the runs of its cells are in."""
    return dict.fromkeys(run.link.partition("/runs/")[0] for run in tracked)


def _table(matrix: Matrix) -> Table:
    columns = ("items", "no skill", "skill", "points", LEVEL, "")
    table = plain_table("data, model", *columns)
    for dataset in dict.fromkeys(cell.dataset for cell in matrix.cells):
        table.add_row(Text(dataset, "bold"))
        for cell in matrix.cells:
            if cell.dataset == dataset:
                table.add_row(Text(f"  {cell.model}"), *_figures(cell))
                for name, group in largest(cell.groups):
                    table.add_row(Text(f"    {group_name(name)}"), *_group_figures(group), style="dim")
    return table


def _group_figures(group: GroupResult) -> Iterator[str]:
    skill, control = (group.standings[name] for name in ("skill", "control"))
    assert group.gain is not None, "a matrix compares"
    yield f"{group.num_items:,}"
    yield percent(control.hard)
    yield percent(skill.hard)
    yield points(group.gain.hard)
    yield span(group.gain.hard_interval, points)
    yield "few" if group.small else _EVIDENCE[group.gain.evidence]


def _failures(matrix: Matrix) -> dict[str, list[str]]:
    """The cells that each error is about: one missing key fails a whole row."""
    failures: dict[str, list[str]] = {}
    for cell in matrix.cells:
        if cell.error:
            failures.setdefault(cell.error, []).append(f"{cell.model} on {cell.dataset}")
    return failures


def _figures(cell: Cell) -> Iterator[str]:
    if cell.baseline_hard is None or cell.skill_hard is None or cell.delta_hard is None:
        yield from ("-", "-", "-", "-", "-", "failed")
        return
    yield f"{cell.num_items:,}"
    yield percent(cell.baseline_hard)
    yield percent(cell.skill_hard)
    yield points(cell.delta_hard)
    yield span(cell.delta_interval, points)
    yield "" if cell.evidence is None else _EVIDENCE[cell.evidence]
