"""Putting the parts of a client together: who shares what with whom."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2

from skillopt_exp.config.model import EndpointConfig, ModelConfig, Provider
from skillopt_exp.llm.asking import Asker, Lane
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.client import ChatClient
from skillopt_exp.llm.desk import Desk
from skillopt_exp.llm.endpoint import Endpoint, locate
from skillopt_exp.llm.health import Health
from skillopt_exp.llm.limits import NOT_SHARED, EndpointLimit
from skillopt_exp.llm.parameters import dialect_of
from skillopt_exp.llm.transport import open_http
from skillopt_exp.records import Role


@asynccontextmanager
async def open_clients(
    config: ModelConfig,
    desk: Desk,
    transport: httpx2.AsyncBaseTransport | None,
    caps: Mapping[Stage, AbstractAsyncContextManager[Any]],
    revisions: Mapping[Provider, str],
) -> AsyncIterator[Mapping[Role, ChatClient]]:
    """One client a role, both at ``desk``."""
    roles = {Role.target: config.target, Role.optimizer: config.optimizer}
    endpoints = {role: locate(role, settings) for role, settings in roles.items()}
    lanes = _lanes(roles, endpoints, desk, config.max_error_rate)
    clients = {}
    async with AsyncExitStack() as stack:
        for role, settings in roles.items():
            endpoint = endpoints[role]
            http = open_http(endpoint, settings, transport)
            stack.push_async_callback(http.close)
            revision = (settings.revision, revisions.get(settings.provider))
            asker = Asker(endpoint, settings, http, lanes[role], desk, revision)
            clients[role] = ChatClient(endpoint, settings, asker, caps)
        yield clients


def _lanes(
    roles: Mapping[Role, EndpointConfig],
    endpoints: Mapping[Role, Endpoint],
    desk: Desk,
    max_error_rate: float,
) -> dict[Role, Lane]:
    """Roles that ask one model at one host share its limit, the lower of the two."""
    places = {role: (endpoint.host, endpoint.model) for role, endpoint in endpoints.items()}
    lanes: dict[tuple[str, str], Lane] = {}
    for host, model in dict.fromkeys(places.values()):
        at_once = min(roles[role].max_concurrency for role in roles if places[role] == (host, model))
        name = f"{model} at {host}"
        # The embedded models are in each process anew: there is nothing to share.
        served = any(
            places[role] == (host, model) and roles[role].provider is not Provider.simulated for role in roles
        )
        turns = desk.turns(name, at_once) if served and desk.turns is not None else NOT_SHARED
        limit = EndpointLimit(name, at_once, desk.clock, desk.underway, turns)
        lanes[host, model] = Lane(limit, dialect_of(host, model), Health(max_error_rate))
    return {role: lanes[place] for role, place in places.items()}
