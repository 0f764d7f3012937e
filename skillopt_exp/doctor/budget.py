"""The caps on spending: a run refuses to begin with one that it cannot hold."""

from collections.abc import Iterator

from skillopt_exp.config import Config
from skillopt_exp.doctor.finding import Finding, raised, warned
from skillopt_exp.errors import BudgetError
from skillopt_exp.llm.budget import loosely_held, unenforceable


def examine_budget(config: Config) -> Iterator[Finding]:
    """A problem for each cap that cannot be held, a warning for each that holds loosely."""
    for problem in unenforceable(config.model, config.budget):
        yield raised("budget", BudgetError(problem))
    for remark in loosely_held(config.model, config.budget):
        yield warned("budget", remark)
