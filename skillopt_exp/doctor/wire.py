"""Requests as they go over the wire, and what comes back: what the training's client would hide.

That client renames or leaves out what a provider refuses, and asks again; here one request is one
request, so that it can be told what was taken. Both send by the same HTTP client.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx2
import openai

from skillopt_exp.config.model import EndpointConfig
from skillopt_exp.llm.endpoint import Endpoint
from skillopt_exp.llm.errors import failure_of
from skillopt_exp.llm.failure import CallFailed, Failure
from skillopt_exp.llm.reply import Reply, read_reply
from skillopt_exp.llm.transport import open_http


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and its outcome: a reply, or a failure whose words are fit to be shown."""

    reply: Reply | None = None
    failure: Failure | None = None
    said: str = ""

    @property
    def refused(self) -> bool:
        """Whether the request itself was at fault, so that another one may pass."""
        return self.failure is not None and self.failure.bad_request

    @property
    def nothing_there(self) -> bool:
        """Whether the address is that of something else, or of nothing."""
        return self.failure is not None and (self.failure.status == 404 or self.failure.html)


class Wire:
    """One role's endpoint, asked exactly as told. ``seconds`` is the patience with one request."""

    def __init__(self, endpoint: Endpoint, http: openai.AsyncOpenAI, seconds: float) -> None:
        self._endpoint = endpoint
        self._http = http
        self._seconds = seconds

    async def send(
        self, prompt: str, fields: Mapping[str, object], *, base_url: str | None = None
    ) -> Exchange:
        """One user message with these optional fields; ``base_url`` is another place at the same host."""
        http = self._http if base_url is None else self._http.copy(base_url=base_url)
        messages = [{"role": "user", "content": prompt}]
        body = {"model": self._endpoint.model, "messages": messages, **fields}
        try:
            async with asyncio.timeout(self._seconds):
                response = await http.post("/chat/completions", cast_to=httpx2.Response, body=body)
            return Exchange(read_reply(response.text))
        except TimeoutError:
            failure = Failure(f"no complete answer within {self._seconds:g} s")
        except openai.APIError as error:
            failure = failure_of(error, now=time.time())
        except CallFailed as error:
            failure = error.failure
        return Exchange(failure=failure, said=self._endpoint.clean(str(failure)))


@asynccontextmanager
async def open_wire(
    endpoint: Endpoint, settings: EndpointConfig, transport: httpx2.AsyncBaseTransport | None
) -> AsyncIterator[Wire]:
    """The way to ``endpoint``; ``transport`` leads to the embedded models, for a role that is one."""
    http = open_http(endpoint, settings, transport)
    try:
        yield Wire(endpoint, http, settings.timeout)
    finally:
        await http.close()
