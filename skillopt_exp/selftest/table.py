"""The findings as a person reads them: two tables that fit 80 columns, and what they rest on in words."""

import math
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from skillopt_exp.display import percent
from skillopt_exp.records import Metric
from skillopt_exp.selftest.trials import Findings, Plan
from skillopt_exp.stats.power import smallest_gain, wins_needed
from skillopt_exp.summary import SEED_RULE_ACCEPTS, SEED_RULE_DELTA


def print_findings(console: Console, plan: Plan, findings: Sequence[Findings]) -> None:
    """The gate in words, what it makes of edits that do nothing, and of edits that help."""
    console.print(Text.assemble(("gate  ", "dim"), str(plan.settings)))
    for title, table in (
        (
            f"Edits that do nothing, in runs of {plan.num_steps} steps: how often they are accepted",
            _useless(findings),
        ),
        ("Edits that help: how often one comparison accepts them", _useful(plan, findings)),
    ):
        console.print()
        console.print(Text(title, "bold"))
        console.print(table)
    console.print()
    for note in _notes(plan):
        console.print(Padding(Text(note), (0, 0, 0, 2), expand=False), highlight=False)


def _useless(findings: Sequence[Findings]) -> Table:
    table = _table(
        "val\nitems",
        "in one\ncomparison",
        "once or more\nin a run",
        "twice or\nmore",
        "val score\nabove truth",
        "seed rule\nmet",
    )
    for each in findings:
        rates = (each.false_accept, each.runs_with_one, each.runs_with_two)
        optimism = f"{round(100 * each.optimism, 1) + 0.0:+.1f} points"  # adding zero: no -0.0
        table.add_row(f"{each.num_val:,}", *map(percent, rates), optimism, percent(each.seed_rule))
    return table


def _useful(plan: Plan, findings: Sequence[Findings]) -> Table:
    exact = plan.settings.metric is Metric.hard
    gains = (f"gain of\n{100 * gain:g} points" for gain in plan.gains)
    columns = ("seen 4 times\nof 5 from", "items to win,\nnone lost") if exact else ()
    table = _table("val\nitems", *gains, *columns)
    for each in findings:
        known = _known(plan, each.num_val) if exact else ()
        table.add_row(f"{each.num_val:,}", *map(percent, each.power), *known)
    return table


def _known(plan: Plan, num_val: int) -> tuple[str, str]:
    """What needs no simulation."""
    gain = smallest_gain(plan.settings.criterion, num_val, plan.answers)
    wins = wins_needed(plan.settings.criterion, num_val)
    return (
        "never" if gain is None else f"{100 * gain:.1f} points",
        "never enough" if wins is None else f"{wins:,}",
    )


def _table(first: str, *others: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in (first, *others):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _notes(plan: Plan) -> list[str]:
    answers, error = plan.answers, 1.96 * math.sqrt(0.25 / plan.num_runs)
    changing = answers.alike * answers.most_churn
    notes = [
        f"Answers: {_share(answers.baseline)} of the items are solved; asked again, {_share(changing)} of "
        "them change between solved and not.",
        "Val score above truth: how far the last accepted skill's recorded score lies above its real one.",
        f"Each rate is of {plan.num_runs:,} tries (seed {plan.seed}), so luck moves it by up to "
        f"{100 * error:.1f} points.",
        f"The seed rule asks for over {100 * SEED_RULE_DELTA:g} points on test, here of {plan.num_test:,} "
        f"items, and {SEED_RULE_ACCEPTS} accepted steps.",
    ]
    if plan.settings.metric is not Metric.hard:
        notes.append("Partial credit of a failed answer is 0, 1/4, 1/2 or 3/4, each as often.")
    return notes


def _share(share: float) -> str:
    return f"{100 * share:.3g} %"
