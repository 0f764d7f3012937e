"""What is said of a run when it ends: rows of a name, a value and a remark."""

import shlex
from collections.abc import Iterator
from pathlib import Path

from skillopt_exp.display import Row, bare_percent, bracketed, percent, points, span, spent, taken
from skillopt_exp.records import FINISHED, Split, Summary
from skillopt_exp.summary import SEED_RULE_ACCEPTS, SEED_RULE_DELTA

HELD_OUT = f"{Split.test} ({Split.test.meaning})"


def rows_of_end(summary: Summary, folder: Path, *, evaluates_only: bool) -> list[Row]:
    """Of a run that came to its end: the result, what it cost, and where everything lies."""
    rows = [("result", _result(summary), "" if summary.status == FINISHED else summary.status)]
    if summary.cause:
        rows.append(("likely cause", summary.cause, ""))
    rows += _held_out(summary)
    if summary.skill_cost_a_call is not None:
        rows.append(("a call", taken(summary.skill_cost_a_call), "best minus no skill, on test"))
    if evaluates_only:
        rows.append(("selection", f"val {percent(summary.baseline_selection_hard)}", ""))
    else:
        rows += _of_training(summary)
    return [
        *rows,
        ("spent", spent(summary.usage), _spared(summary)),
        *_failed_requests(summary),
        ("skill", str(folder / "best_skill.md"), _unchanged(summary)),
        ("items", str(folder / "items.csv"), "which step fixed or broke each val item; drawn in items.png"),
        ("summary", str(folder / "summary.json"), ""),
        ("report", str(folder / "report.html"), "the whole run on one page, for a browser"),
    ]


def rows_of_stop(status: str, summary: Summary | None, folder: Path) -> list[Row]:
    """Of a run that ended before: how far it came, if training had begun, and how to go on."""
    rows = [("status", status, "")]
    if summary is not None:
        rows += [("steps", _outcomes(summary), ""), ("spent", spent(summary.usage), "")]
        rows += _failed_requests(summary)
        rows.append(("best so far", str(folder / "best_skill.md"), ""))
    rows.append(("go on with", f"python -m skillopt_exp resume run={shlex.quote(str(folder))}", ""))
    return rows


def _of_training(summary: Summary) -> list[Row]:
    return [
        (
            "selection",
            f"val {percent(summary.baseline_selection_hard)} -> {percent(summary.best_selection_hard)}",
            "optimistic: the skill was chosen on these items",
        ),
        ("steps", _outcomes(summary), ""),
        (
            "seed rule",
            "met" if summary.meets_seed_rule else "not met",
            f"asks for over {100 * SEED_RULE_DELTA:g} points on test and at least {SEED_RULE_ACCEPTS} "
            "accepted steps",
        ),
    ]


def _failed_requests(summary: Summary) -> list[Row]:
    """How many requests failed, by role and status; no row where none did."""
    said = [
        f"{role}: " + ", ".join(f"{count:,} × {status}" for status, count in counts.items())
        for role, counts in summary.failed_requests.items()
    ]
    return [("failed requests", "; ".join(said), "sent again where that can help; not paid")] if said else []


def _result(summary: Summary) -> str:
    if summary.test_delta_hard is None:
        score = "" if summary.test_hard is None else f": test {percent(summary.test_hard)}"
        return f"{summary.verdict}{score}"
    text = f"{summary.verdict}: test {percent(summary.baseline_test_hard)} -> {percent(summary.test_hard)}"
    text += f", {points(summary.test_delta_hard)} points{bracketed(summary.test_delta_interval)}"
    return f"{text} on {summary.num_test_items:,} items"


def _spared(summary: Summary) -> str:
    count = summary.val_attempts_not_needed
    return f"{count:,} attempts at val items were not needed" if count > 0 else ""


def _held_out(summary: Summary) -> Iterator[Row]:
    """The tested skills, equal texts in one row, each with its interval and its paired differences."""
    hards = {
        "control": (summary.control_test_hard, summary.control_test_hard_interval),
        "baseline": (summary.baseline_test_hard, summary.baseline_test_hard_interval),
        "best": (summary.test_hard, summary.test_hard_interval),
        "final": (summary.final_test_hard, summary.final_test_hard_interval),
    }
    rows: dict[str, list[str]] = {}
    for name in hards:
        if name in summary.test_digests:
            rows.setdefault(summary.test_digests[name], []).append(name)
    title = HELD_OUT
    for names in rows.values():
        share, interval = hards[names[0]]
        gains = (
            f"{points(gain.hard)} ({span(gain.hard_interval, points)}) over {_called(gain.second)}"
            for gain in summary.test_gains
            if gain.first in names
        )
        called = " and ".join(map(_called, names))
        yield title, f"{called} {percent(share)}{bracketed(interval, bare_percent)}", "; ".join(gains)
        title = ""


def _called(which: str) -> str:
    return "no skill" if which == "control" else which


def _unchanged(summary: Summary) -> str:
    return "the one that the run began with" if summary.best_digest == summary.seed_digest else ""


def _outcomes(summary: Summary) -> str:
    counts = [f"{count} {outcome}" for outcome, count in summary.outcomes.items() if count]
    return f"{summary.total_steps}: {', '.join(counts)}" if counts else "0"
