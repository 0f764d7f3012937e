"""The models that will be asked: their keys, where they are, and the caps on what they may cost."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from skillopt_exp import llm
from skillopt_exp.checks.check import Check, Subject
from skillopt_exp.config.model import ModelConfig, Provider
from skillopt_exp.config.spending import BudgetConfig
from skillopt_exp.errors import BudgetError, UsageError
from skillopt_exp.llm.budget import loosely_held, unenforceable
from skillopt_exp.llm.connect import by_role, prices_of
from skillopt_exp.llm.endpoint import Endpoint, locate, read_key
from skillopt_exp.llm.price import overstated
from skillopt_exp.records import Role


def check_keys(model: ModelConfig, asks: Collection[Role]) -> Check:
    """A problem for each variable that should hold a key and does not."""
    sentences = llm.missing_keys(_asked(model, asks)) if asks else ()
    return Check(Subject.keys, tuple(map(UsageError, sentences)))


def check_addresses(model: ModelConfig, asks: Collection[Role]) -> tuple[Check, Mapping[Role, Endpoint]]:
    """The endpoints of the roles that can be asked. Of a missing key ``check_keys`` tells."""
    problems, endpoints = [], {}
    for role, settings in by_role(model).items():
        if role not in asks:
            continue
        keyless = settings.api_key_env is not None and not read_key(settings.api_key_env)
        try:
            endpoint = locate(role, replace(settings, api_key_env=None) if keyless else settings)
        except UsageError as error:
            problems.append(error)
            continue
        if not keyless or settings.provider is Provider.simulated:
            endpoints[role] = endpoint
    return Check(Subject.addresses, tuple(problems)), endpoints


def check_budget(model: ModelConfig, budget: BudgetConfig, asks: Collection[Role]) -> Check:
    """A problem for each cap that cannot be held, a warning for each that holds loosely, and
    for each cost that is overstated."""
    if not asks:
        return Check(Subject.budget)
    asked = _asked(model, asks)
    remarks = loosely_held(asked, budget) + overstated(prices_of(asked))
    return Check(Subject.budget, tuple(map(BudgetError, unenforceable(asked, budget))), remarks)


def _asked(model: ModelConfig, asks: Collection[Role]) -> ModelConfig:
    return model if Role.optimizer in asks else model.target_alone()
