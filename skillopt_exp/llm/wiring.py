"""Putting the parts of a client together: who shares what with whom."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import httpx2

from skillopt_exp.config.model import EndpointConfig, Provider
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.client import ChatClient, Lane, open_http
from skillopt_exp.llm.endpoint import locate
from skillopt_exp.llm.limits import Clock, EndpointLimit
from skillopt_exp.llm.meter import Meter
from skillopt_exp.llm.parameters import dialect_of
from skillopt_exp.records import Role


class _Borrowed(httpx2.AsyncBaseTransport):
    """Somebody else's transport: used, and left open."""

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await self._transport.handle_async_request(request)


@asynccontextmanager
async def open_clients(
    roles: Mapping[Role, EndpointConfig],
    meter: Meter,
    transport: httpx2.AsyncBaseTransport | None,
    caps: Mapping[Stage, AbstractAsyncContextManager[Any]],
    clock: Clock,
) -> AsyncIterator[Mapping[Role, ChatClient]]:
    """One client a role. Roles that ask one model at one host share its limit, the lower of the two."""
    endpoints = {role: locate(role, settings) for role, settings in roles.items()}
    places = {role: (endpoint.host, endpoint.model) for role, endpoint in endpoints.items()}
    lanes: dict[tuple[str, str], Lane] = {}
    for place in places.values():
        at_once = min(roles[role].max_concurrency for role in roles if places[role] == place)
        limit = EndpointLimit(f"{place[1]} at {place[0]}", at_once, clock)
        lanes.setdefault(place, Lane(limit, dialect_of(*place)))
    clients = {}
    async with AsyncExitStack() as stack:
        for role, settings in roles.items():
            http = open_http(endpoints[role], settings, _route(role, settings, transport))
            stack.push_async_callback(http.close)
            clients[role] = ChatClient(endpoints[role], settings, http, lanes[places[role]], meter, caps)
        yield clients


def _route(
    role: Role, settings: EndpointConfig, transport: httpx2.AsyncBaseTransport | None
) -> httpx2.AsyncBaseTransport | None:
    """How a role is reached: through the caller's transport when simulated, else over the network."""
    if settings.provider is not Provider.simulated:
        return None
    if transport is None:
        raise ValueError(f"model.{role} is simulated, but no transport to the simulation was given")
    return _Borrowed(transport)
