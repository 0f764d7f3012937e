"""``doctor``: is everything ready for this experiment? A table of checks, with what to do."""

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp.commands.composing import compose
from skillopt_exp.redaction import redact

if TYPE_CHECKING:
    from rich.console import Console

    from skillopt_exp.doctor import Finding

HELP = """python -m skillopt_exp doctor key=value ...

Check what an experiment needs before it is paid for: Python, data, MLflow, keys, and both models with
a handful of tiny calls each. Takes the keys of training; leaves nothing behind. Exits with 0, or with
the code of the worst problem: 2 use, 3 data, 4 provider, 5 budget.

Example: python -m skillopt_exp doctor dataset=demo model=deepseek
"""

_STYLES = {"ok": "green", "warning": "yellow", "problem": "bold red"}
_WIDTH_OF_STATE, _WIDTH_OF_SUBJECT = 7, 13


def run(arguments: Sequence[str]) -> int:
    """Examine, tell, and say by the exit code whether a run could go on."""
    if any(argument in ("-h", "--help") for argument in arguments):
        sys.stdout.write(HELP)
        return 0
    config = compose(arguments)

    from rich.console import Console

    from skillopt_exp.doctor import State, examine, worst

    console = Console()
    findings: list[Finding] = []
    with _quiet_client():
        for finding in examine(config, base=Path.cwd()):
            findings.append(finding)
            _show(console, finding)
    counts = {state: sum(finding.state is state for finding in findings) for state in State}
    code = worst(findings)
    console.print(_verdict(counts[State.problem], counts[State.warning], code), soft_wrap=True)
    return code


@contextmanager
def _quiet_client() -> Iterator[None]:
    """What the client warns of while it negotiates is in the table."""
    client = logging.getLogger("skillopt_exp.llm")
    before = client.level
    client.setLevel(logging.ERROR)
    try:
        yield
    finally:
        client.setLevel(before)


def _show(console: "Console", finding: "Finding") -> None:
    """One row; long texts wrap within their column."""
    from rich.table import Table
    from rich.text import Text

    told = Text(redact(finding.said))
    if finding.advice:
        told.append(f"\ndo: {redact(finding.advice)}", style="bold")
    row = Table.grid(padding=(0, 2))
    row.add_column(min_width=_WIDTH_OF_STATE, no_wrap=True)
    row.add_column(width=_WIDTH_OF_SUBJECT, overflow="fold")
    row.add_column(overflow="fold")
    row.add_row(Text(finding.state, style=_STYLES[finding.state]), Text(finding.subject), told)
    console.print(row)


def _verdict(problems: int, warnings: int, code: int) -> str:
    told = ", ".join(
        f"{count} {noun}{'' if count == 1 else 's'}"
        for count, noun in ((problems, "problem"), (warnings, "warning"))
        if count
    )
    if code:
        return f"\n{told}: a run would stop (exit code {code})"
    return f"\nready{f', with {told}' if told else ''}: leave out 'doctor' to train"
