"""``report``: one run on one page."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.commands.arguments import Verb, parse
from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import InterruptedRun, UsageError

VERB = Verb(
    "report",
    "Write report.html into a run's folder: what it came to, why, what to do next, and how the skill came "
    "about. Every run writes it at its end; of a run at work or killed this tells how far it came.",
    "python -m skillopt_exp report run=latest",
)


@dataclass(kw_only=True)
class ReportArguments:
    """Keys of the verb."""

    run: str = key("latest", affects=Affects.nothing, help="a run's folder, or latest")


def run(arguments: Sequence[str]) -> int:
    """Write the page and say where it is.

    Raises:
        UsageError: no run is there, or the page cannot be written.
        DataError: what the run stands on is damaged.
    """
    asked = parse(ReportArguments, arguments, VERB)
    if asked is None:
        return 0
    from skillopt_exp.report.keeper import write_report
    from skillopt_exp.runs.find import find_run

    folder = find_run(asked.run, base=Path.cwd())
    try:
        write_report(folder)
    except InterruptedRun as error:
        raise UsageError(
            f"{folder.report} cannot be written ({error.__cause__}); allow writing there, or copy the run's "
            "folder and report the copy"
        ) from error
    sys.stdout.write(f"{folder.report}\n")
    return 0
