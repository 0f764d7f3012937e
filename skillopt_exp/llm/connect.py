"""From a configuration to two models that can be asked. The one factory for every verb.

Cheap to import: what talks HTTP is imported when ``connect`` is entered.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillopt_exp.llm.answers import Answers
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.llm.budget import Budget
from skillopt_exp.llm.endpoint import read_key
from skillopt_exp.llm.ledger import Ledger
from skillopt_exp.llm.limits import Clock
from skillopt_exp.llm.meter import Meter
from skillopt_exp.records import Role

if TYPE_CHECKING:
    import httpx2

    from skillopt_exp.config.model import EndpointConfig, ModelConfig, PriceConfig, Provider
    from skillopt_exp.config.spending import BudgetConfig

GRACE = 8.0
"""Seconds that requests under way get to finish when the models are closed."""


@dataclass(frozen=True, slots=True)
class Models:
    """The two roles, and what they have been asked and paid."""

    target: Chat
    optimizer: Chat
    meter: Meter


@asynccontextmanager
async def connect(
    config: "ModelConfig",
    *,
    transport: "httpx2.AsyncBaseTransport | None" = None,
    caps: Mapping[Stage, AbstractAsyncContextManager[Any]] | None = None,
    answers: Answers | None = None,
    ledger: Ledger | None = None,
    budget: "BudgetConfig | None" = None,
    go_on: str = "resume the run with",
    revisions: "Mapping[Provider, str] | None" = None,
    clock: Clock | None = None,
    grace: float = GRACE,
) -> AsyncIterator[Models]:
    """Both roles, open until the block ends. Nothing is sent yet.

    ``transport`` leads to the embedded models and serves the roles whose provider is ``simulated``;
    it stays the caller's to close. ``caps`` (semaphores, say) hold a stage to fewer calls at once
    than its endpoint allows; stages may share one.

    ``answers`` is asked before a provider is, and keeps what a provider answers; without it every
    question is sent. ``revisions`` tells apart, by provider, what a configured revision cannot. What
    ``ledger`` holds of earlier processes is in the meter from the start; every settled call goes into both.
    ``budget`` caps all of it (see ``llm.budget``); ``go_on`` is the command with which a higher cap is given.

    At the end of the block requests under way get ``grace`` seconds to finish: their answers are kept
    and counted, though nobody waits for them.

    Raises:
        UsageError: an address or a key is missing or impossible.
        DataError: the ledger or the store is damaged.
    """
    from skillopt_exp.llm.asking import Desk
    from skillopt_exp.llm.wiring import open_clients

    prices = prices_of(config)
    meter, purse = Meter(prices), Budget(budget, prices, go_on=go_on)
    if ledger is not None:
        for call in ledger.earlier():
            meter.record(call)
            purse.settle(call, earlier=True)
    desk = Desk(meter, answers, ledger, purse, clock or Clock())
    async with open_clients(config, desk, transport, caps or {}, revisions or {}) as clients:
        try:
            yield Models(clients[Role.target], clients[Role.optimizer], meter)
        finally:
            await desk.underway.end(grace)


def by_role(config: "ModelConfig") -> "dict[Role, EndpointConfig]":
    """The settings of each role."""
    return {Role.target: config.target, Role.optimizer: config.optimizer}


def prices_of(config: "ModelConfig") -> "dict[Role, PriceConfig]":
    """What each role's tokens cost."""
    return {role: settings.price for role, settings in by_role(config).items()}


def missing_keys(config: "ModelConfig") -> tuple[str, ...]:
    """One sentence for each environment variable that should hold a key and does not, with the ways on."""
    needed: dict[str, list[str]] = {}
    for role, settings in by_role(config).items():
        variable = settings.api_key_env
        if settings.provider.name != "simulated" and variable is not None and not read_key(variable):
            needed.setdefault(variable, []).append(f"model.{role} ({settings.name})")
    return tuple(
        f"{variable} is not set, and {' and '.join(roles)} cannot be asked without a key. Set it "
        f"(export {variable}=...), or train without one on the embedded simulation (model=simulated)"
        for variable, roles in needed.items()
    )
