"""How a role's requests reach its endpoint: over the network, or through the embedded simulation."""

import httpx2
import openai

from skillopt_exp.config.model import EndpointConfig, Provider
from skillopt_exp.llm.endpoint import Endpoint

SECONDS_TO_CONNECT = 15.0

_HEADERS_SENT = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length"}
)


class _Borrowed(httpx2.AsyncBaseTransport):
    """Somebody else's transport: used, and left open."""

    def __init__(self, transport: httpx2.AsyncBaseTransport) -> None:
        self._transport = transport

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        return await self._transport.handle_async_request(request)


def open_http(
    endpoint: Endpoint, config: EndpointConfig, simulation: httpx2.AsyncBaseTransport | None
) -> openai.AsyncOpenAI:
    """A client that talks to ``endpoint`` alone: nothing from OPENAI_* variables reaches the host.

    Headers outside of a short list are removed and the key is set last, whatever the environment
    says about organisations, projects or custom headers. Redirects are not followed. ``simulation``
    leads to the embedded models and serves a role whose provider is ``simulated``.
    """

    async def purify(request: httpx2.Request) -> None:
        for name in [name for name in request.headers if name.lower() not in _HEADERS_SENT]:
            del request.headers[name]
        request.headers["Authorization"] = f"Bearer {endpoint.key}"

    http_client = httpx2.AsyncClient(
        transport=_route(endpoint, config, simulation),
        timeout=httpx2.Timeout(config.timeout, connect=min(config.timeout, SECONDS_TO_CONNECT)),
        limits=httpx2.Limits(max_connections=config.max_concurrency),
        follow_redirects=False,
        event_hooks={"request": [purify]},
    )
    return openai.AsyncOpenAI(
        api_key=endpoint.key, base_url=endpoint.base_url, max_retries=0, http_client=http_client
    )


def _route(
    endpoint: Endpoint, config: EndpointConfig, simulation: httpx2.AsyncBaseTransport | None
) -> httpx2.AsyncBaseTransport | None:
    """Through the caller's transport when simulated, else over the network."""
    if config.provider is not Provider.simulated:
        return None
    if simulation is None:
        raise ValueError(f"model.{endpoint.role} is simulated, but no transport to the simulation was given")
    return _Borrowed(simulation)
