"""The jobs of a sweep as points: what each scores on val against what its training took."""

import io
from collections.abc import Sequence

from skillopt_exp.sweeps.leaderboard import JobStatus, Row

_INCHES, _DPI = (7.0, 4.5), 120


def score_against_cost(rows: Sequence[Row], best: Row | None) -> bytes | None:
    """A PNG; None where no job has a score.

    Cost is in US dollars where that is known of every job and not zero for all; else it is counted in calls,
    those that the store answered included, so that no job looks cheap because another had paid before.
    """
    from matplotlib.figure import Figure

    shown = [row for row in rows if row.status is JobStatus.finished and row.val_hard is not None]
    if not shown:
        return None
    dollars = all(row.training_cost_usd is not None for row in shown) and any(
        row.training_cost_usd for row in shown
    )
    figure = Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
    axes = figure.add_subplot()
    for row in shown:
        cost = row.training_cost_usd if dollars and row.training_cost_usd is not None else row.training_calls
        score = 100 * row.val_hard if row.val_hard is not None else 0.0
        wins = best is not None and row.job.key == best.job.key
        axes.scatter([cost], [score], s=60 if wins else 30, color="tab:red" if wins else "tab:blue")
        axes.annotate(
            str(row.job.number), (cost, score), xytext=(4, 4), textcoords="offset points", fontsize=8
        )
    axes.set_xlabel("paid in training, US dollars" if dollars else "calls in training, from the store or not")
    axes.set_ylabel("best skill on val, % solved")
    axes.set_title("Jobs by number; the winner is red", fontsize=10)
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()
