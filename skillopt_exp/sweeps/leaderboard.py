"""The jobs of a sweep side by side, and which of them wins: by val, never by test."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillopt_exp.errors import DataError
from skillopt_exp.records import Usage
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.sweeps.folder import Job, JobPlace

_OF_THE_TEST = "/test"


class JobStatus(StrEnum):
    """How far a job came."""

    finished = "finished"
    failed = "failed"
    stopped = "stopped"
    """It can go on: interrupted, paused by an outage or a budget, or killed."""
    waiting = "not begun"


@dataclass(frozen=True, slots=True)
class Row:
    """One job. Scores are fractions, ``cost_usd`` is None where a price or a token count is unknown.

    ``calls`` were paid, ``reused_calls`` came from the store of answers; ``reused`` is whether the job had
    ended before this command began. ``training_calls`` (paid or not) and ``training_cost_usd`` leave out the
    test, which the winner alone has made. ``cause`` says why it failed or stopped.
    """

    job: Job
    status: JobStatus
    val_hard: float | None = None
    test_hard: float | None = None
    cost_usd: float | None = None
    calls: int = 0
    reused_calls: int = 0
    reused: bool = False
    cause: str = ""
    exit_code: int = 0
    training_calls: int = 0
    training_cost_usd: float | None = None


def row_of(place: JobPlace, *, reused: bool = False) -> Row:
    """What the job's folder says of it."""
    summary = ended = cause = None
    try:
        failure = place.failure()
        if RunFolder.is_run(place.path):
            folder = RunFolder.open(place.path)
            summary, ended = folder.read_summary(), folder.ended(tested=False)
    except DataError as error:
        failure, cause = None, str(error)
    if failure is not None:
        status = JobStatus.stopped if failure.resumable else JobStatus.failed
        cause, exit_code = failure.message, failure.exit_code
    elif cause is not None:
        status, exit_code = JobStatus.failed, DataError.exit_code
    elif ended is not None:
        status, exit_code = JobStatus.finished, 0
    elif RunFolder.is_run(place.path):
        status, exit_code, cause = JobStatus.stopped, 75, "its process ended without a word"
    else:
        status, exit_code = JobStatus.waiting, 75
    if summary is None:
        return Row(place.job, status, cause=cause or "", exit_code=exit_code, reused=reused)
    usage = list(summary.usage.values())
    training = [each for name, each in summary.usage.items() if not name.endswith(_OF_THE_TEST)]
    return Row(
        job=place.job,
        status=status,
        val_hard=summary.best_selection_hard,
        test_hard=summary.test_hard,
        cost_usd=total_cost(usage),
        calls=sum(each.calls for each in usage),
        reused_calls=sum(each.reused for each in usage),
        reused=reused,
        cause=cause or "",
        exit_code=exit_code,
        training_calls=sum(each.calls + each.reused for each in training),
        training_cost_usd=total_cost(training),
    )


def ranked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The best first: finished jobs by val, equal ones in their order, then all others in theirs.

    What a job cost breaks no tie: it depends on what others had paid for before.
    """
    return tuple(sorted(rows, key=_rank))


def winner(rows: Sequence[Row]) -> Row | None:
    """The finished job that is best on val; None where there is none."""
    scored = [row for row in rows if row.status is JobStatus.finished and row.val_hard is not None]
    return min(scored, key=_rank) if scored else None


HEAD = (
    "rank", "job", "name", "status", "val_hard", "test_hard", "cost_usd", "calls", "reused_calls", "reused",
    "key", "overrides", "cause",
)  # fmt: skip
"""The columns of ``leaderboard.csv``."""


def to_csv(rows: Sequence[Row]) -> str:
    """``leaderboard.csv``: the best first, scores as fractions, nothing where there is no figure."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows(table_rows(rows))
    return out.getvalue()


def table_rows(rows: Sequence[Row]) -> list[list[str | int | float | None]]:
    """The cells under ``HEAD``, the best job first."""
    return [
        [
            rank if row.status is JobStatus.finished else None,
            row.job.number,
            _in_one_line(row.job.name),
            str(row.status),
            row.val_hard,
            row.test_hard,
            row.cost_usd,
            row.calls,
            row.reused_calls,
            str(row.reused).lower(),
            row.job.key,
            _in_one_line(" ".join(row.job.overrides)),
            _in_one_line(row.cause),
        ]
        for rank, row in enumerate(ranked(rows), 1)
    ]


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _rank(row: Row) -> tuple[bool, float, int]:
    finished = row.status is JobStatus.finished and row.val_hard is not None
    score = row.val_hard if finished and row.val_hard is not None else 0.0
    return (not finished, -score, row.job.number)


def total_cost(usage: Sequence[Usage]) -> float | None:
    """US dollars; None where a price or a token count is unknown."""
    costs = [each.cost_usd for each in usage]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) else None
