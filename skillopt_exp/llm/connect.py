"""From a configuration to two models that can be asked. The one factory for every verb.

Cheap to import: what talks HTTP is imported when ``connect`` is entered.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from skillopt_exp.llm.activity import A_RUN, Activity
from skillopt_exp.llm.answers import Answers
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.llm.books import Books
from skillopt_exp.llm.budget import Budget
from skillopt_exp.llm.endpoint import read_key
from skillopt_exp.llm.ledger import Ledger
from skillopt_exp.llm.limits import Clock, Turns
from skillopt_exp.llm.meter import Meter
from skillopt_exp.llm.underway import Underway
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


@dataclass(frozen=True, slots=True)
class Accounts:
    """What is kept of calls, and what they may come to.

    ``answers`` is asked before a provider is, and keeps what a provider answers; without it every
    question is sent. What ``ledger`` holds of earlier processes counts from the start; every call is
    written into it. ``budget`` caps all of it (see ``llm.budget``). ``turns`` makes, by an endpoint's name
    and its limit, what processes share that call the same endpoint.
    """

    answers: Answers | None = None
    ledger: Ledger | None = None
    budget: "BudgetConfig | None" = None
    turns: "Callable[[str, int], Turns] | None" = None


NOTHING_KEPT = Accounts()


@asynccontextmanager
async def connect(
    config: "ModelConfig",
    *,
    transport: "httpx2.AsyncBaseTransport | None" = None,
    caps: Mapping[Stage, AbstractAsyncContextManager[Any]] | None = None,
    revisions: "Mapping[Provider, str] | None" = None,
    accounts: Accounts = NOTHING_KEPT,
    activity: Activity = A_RUN,
    clock: Clock | None = None,
    grace: float = GRACE,
) -> AsyncIterator[Models]:
    """Both roles, open until the block ends. Nothing is sent yet.

    ``transport`` leads to the embedded models and serves the roles whose provider is ``simulated``;
    it stays the caller's to close. ``caps`` (semaphores, say) hold a stage to fewer calls at once
    than its endpoint allows; stages may share one. ``revisions`` tells apart, by provider, what a
    configured revision cannot. ``activity`` is what messages say of what was going on.

    At the end of the block requests under way get ``grace`` seconds to finish: their answers are kept
    and counted, though nobody waits for them.

    Raises:
        UsageError: an address or a key is missing or impossible.
        DataError: the ledger or the store is damaged.
    """
    from skillopt_exp.llm.desk import Desk
    from skillopt_exp.llm.wiring import open_clients

    prices = prices_of(config)
    budget = Budget(accounts.budget, prices, go_on=activity.command)
    books = Books(prices, budget, accounts.ledger)
    desk = Desk(books, accounts.answers, clock or Clock(), activity, Underway(activity), turns=accounts.turns)
    async with open_clients(config, desk, transport, caps or {}, revisions or {}) as clients:
        try:
            yield Models(clients[Role.target], clients[Role.optimizer], books.meter)
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
