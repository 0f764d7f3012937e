"""The leaderboard, and the list of runs, on the terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from skillopt_exp.display import dollars, percent
from skillopt_exp.sweeps.folder import SweepFolder
from skillopt_exp.sweeps.leaderboard import JobStatus, Row, ranked
from skillopt_exp.sweeps.listing import Listed

_LONGEST_CAUSE = 300


def print_leaderboard(console: Console, folder: SweepFolder, rows: Sequence[Row], best: Row | None) -> None:
    """All jobs, the best first, then what failed and why, and where it all is."""
    console.print()
    console.print(_table(rows, best))
    for row in rows:
        if row.cause:
            cause = row.cause if len(row.cause) <= _LONGEST_CAUSE else f"{row.cause[:_LONGEST_CAUSE]}..."
            console.print(
                f"job {row.job.number} {row.status}: {cause}", markup=False, highlight=False, soft_wrap=True
            )
    console.print(
        "chosen by val, and optimistic there; reused: answers of the store; kept: a job that was done before",
        soft_wrap=True,
    )
    if best is not None:
        console.print(f"winner      {best.job.name}", markup=False, highlight=False, soft_wrap=True)
        console.print(f"skill       {folder.best_skill}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"leaderboard {folder.leaderboard}", markup=False, highlight=False, soft_wrap=True)


def print_runs(console: Console, base: Path, runs: Sequence[Listed]) -> None:
    """One line a run; a job stands under the name that tells it from its siblings."""
    if not runs:
        console.print(f"no run was launched in {base}", markup=False, highlight=False, soft_wrap=True)
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("begun (UTC)", "status", "val", "test", "cost", "folder", "job"):
        number = column in ("val", "test", "cost")
        table.add_column(
            column,
            justify="right" if number else "left",
            overflow="fold",
            no_wrap=column in ("begun (UTC)", "status"),
        )
    for run in runs:
        scored = run.val_hard is not None
        table.add_row(
            "" if run.begun is None else f"{run.begun:%Y-%m-%d %H:%M}",
            run.status,
            percent(run.val_hard) if scored else "",
            percent(run.test_hard) if run.test_hard is not None else "",
            ("unknown" if run.cost_usd is None else dollars(run.cost_usd)) if scored else "",
            str(run.path.relative_to(base)),
            "" if run.sweep is None else run.name,
        )
    console.print(table)


def _table(rows: Sequence[Row], best: Row | None) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("job", "overrides", "status", "val", "test", "cost", "calls", "reused"):
        words = column in ("overrides", "status")
        table.add_column(column, justify="left" if words else "right", overflow="fold")
    for row in ranked(rows):
        began = row.val_hard is not None
        table.add_row(
            str(row.job.number),
            row.job.name,
            "kept" if row.reused and row.status is JobStatus.finished else str(row.status),
            percent(row.val_hard),
            percent(row.test_hard) if row.test_hard is not None else "",
            ("unknown" if row.cost_usd is None else dollars(row.cost_usd)) if began else "",
            f"{row.calls:,}" if began else "",
            f"{row.reused_calls:,}" if began else "",
            style="bold" if best is not None and row.job.key == best.job.key else None,
        )
    return table
