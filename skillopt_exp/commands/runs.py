"""``runs``: what was launched in this folder, and how far it came."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.commands.arguments import Verb, parse
from skillopt_exp.config.key import Affects, key
from skillopt_exp.reading import named_path

VERB = Verb(
    "runs",
    "List the runs and sweeps of a launch folder, the oldest first: status, scores, cost. A stale run was "
    "killed; resume goes on with it.",
    "python -m skillopt_exp runs",
)


@dataclass(kw_only=True)
class RunsArguments:
    """Keys of the verb."""

    folder: str = key(".", affects=Affects.nothing, help="the folder that holds outputs and multirun")


def run(arguments: Sequence[str]) -> int:
    """Print the list."""
    asked = parse(RunsArguments, arguments, VERB)
    if asked is None:
        return 0

    from rich.console import Console

    from skillopt_exp.sweeps.listing import runs_in
    from skillopt_exp.sweeps.table import print_runs

    base = Path(os.path.normpath(named_path(asked.folder, base=Path.cwd(), key="folder")))
    print_runs(Console(), base, runs_in(base))
    return 0
