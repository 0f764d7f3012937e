"""What was launched in a folder: runs and sweeps, as their own folders tell of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.sweeps.folder import job_place
from skillopt_exp.sweeps.leaderboard import total_cost

RUNNING = "running"
STALE = "stale"
"""The status of a run whose process ended without a word: it can be resumed."""
DAMAGED = "damaged"


@dataclass(frozen=True, slots=True)
class Listed:
    """One run. Scores are fractions; ``cost_usd`` is None where it is unknown. ``begun`` is in UTC.

    ``sweep`` is the folder of the sweep that the run is a job of.
    """

    path: Path
    name: str
    status: str
    begun: datetime | None = None
    val_hard: float | None = None
    test_hard: float | None = None
    cost_usd: float | None = None
    sweep: Path | None = None


def runs_in(base: Path) -> tuple[Listed, ...]:
    """The runs under ``outputs`` and ``multirun`` of ``base``, the oldest first."""
    found = [_listed(path) for path in _folders(base)]
    return tuple(sorted(found, key=lambda each: (each.begun is None, _moment(each), str(each.path))))


def _folders(base: Path) -> Iterator[Path]:
    for pattern in ("outputs/*/*", "multirun/*/*", "multirun/*/*/*"):
        yield from (path for path in sorted(base.glob(pattern)) if RunFolder.is_run(path))


def _listed(path: Path) -> Listed:
    name, sweep = path.name, None
    try:
        place = job_place(path)
        if place is not None:
            name, sweep = place.job.name, place.sweep.path
        folder = RunFolder.open(path)
        summary = folder.read_summary()
        begun = datetime.fromisoformat(folder.marker.created)
    except (DataError, UsageError, ValueError):
        return Listed(path, name, DAMAGED, sweep=sweep)
    if folder.in_use:
        status = RUNNING
    elif summary is None:
        status = STALE
    else:
        status = summary.status
    if summary is None:
        return Listed(path, name, status, begun, sweep=sweep)
    return Listed(
        path=path,
        name=name,
        status=status,
        begun=begun,
        val_hard=summary.best_selection_hard,
        test_hard=summary.test_hard,
        cost_usd=total_cost(tuple(summary.usage.values())),
        sweep=sweep,
    )


def _moment(run: Listed) -> float:
    return 0.0 if run.begun is None else run.begun.timestamp()
