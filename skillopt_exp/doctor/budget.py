"""The caps on spending: a run refuses to begin with one that it cannot hold."""

from collections.abc import Iterator

from skillopt_exp.config import Config
from skillopt_exp.doctor.finding import Finding, raised, warned
from skillopt_exp.errors import BudgetError
from skillopt_exp.llm.budget import loosely_held, unenforceable
from skillopt_exp.llm.connect import prices_of
from skillopt_exp.llm.price import overstated


def examine_budget(config: Config) -> Iterator[Finding]:
    """A problem for each cap that cannot be held, a warning for each that holds loosely,
    and for each cost that is overstated."""
    for problem in unenforceable(config.model, config.budget):
        yield raised("budget", BudgetError(problem))
    remarks = loosely_held(config.model, config.budget) + overstated(prices_of(config.model))
    for remark in remarks:
        yield warned("budget", remark)
