"""The caps on spending: a run refuses to begin with one that it cannot hold."""

from collections.abc import Iterator

from skillopt_exp.checks.models import check_budget
from skillopt_exp.config import Config
from skillopt_exp.doctor.finding import Finding, told
from skillopt_exp.records import Role


def examine_budget(config: Config) -> Iterator[Finding]:
    """A problem for each cap that cannot be held, a warning for each that holds loosely."""
    yield from told("budget", check_budget(config.model, config.budget, tuple(Role)))
