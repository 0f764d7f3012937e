"""One role's model: a conversation goes out, a usable reply comes back or a named error is raised."""

import asyncio
import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

import httpx2
import openai

from skillopt_exp.config.model import EndpointConfig, Provider, Thinking
from skillopt_exp.errors import ReplyFault
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.endpoint import Endpoint
from skillopt_exp.llm.errors import failure_of, raised_for
from skillopt_exp.llm.failure import FILTERED, CallFailed, Failure
from skillopt_exp.llm.limits import EndpointLimit
from skillopt_exp.llm.meter import Meter
from skillopt_exp.llm.parameters import (
    NEW_OUTPUT_LIMIT,
    OUTPUT_LIMIT,
    RESPONSE_FORMAT,
    Dialect,
    Fields,
    configured_fields,
)
from skillopt_exp.llm.reply import Reply, read_reply, well_formed
from skillopt_exp.records import Fault, Message

MORE_ROOM = 4
"""How many times the room a truncated reply gets at its second and last attempt."""

LEAST_ROOM = 4096
"""Tokens that a second attempt gets at least."""

CHARS_A_TOKEN = 2
"""Between English and Chinese, where the provider does not count."""

SECONDS_TO_CONNECT = 15.0

_HEADERS_SENT = frozenset(
    {"host", "accept", "accept-encoding", "connection", "content-type", "content-length"}
)

Conversation = list[dict[str, str]]
"""Messages as the wire holds them."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Lane:
    """What all clients of one model at one host share within a run.

    ``settling`` lets one call through at a time while it is not known which fields the endpoint
    takes, so that a refused field costs one extra call and not one for every call under way.
    """

    limit: EndpointLimit
    dialect: Dialect
    settling: asyncio.Lock = field(default_factory=asyncio.Lock)


def open_http(
    endpoint: Endpoint, config: EndpointConfig, transport: httpx2.AsyncBaseTransport | None
) -> openai.AsyncOpenAI:
    """A client that talks to ``endpoint`` alone: nothing from OPENAI_* variables reaches the host.

    Headers outside of a short list are removed and the key is set last, whatever the environment
    says about organisations, projects or custom headers. Redirects are not followed.
    """

    async def purify(request: httpx2.Request) -> None:
        for name in [name for name in request.headers if name.lower() not in _HEADERS_SENT]:
            del request.headers[name]
        request.headers["Authorization"] = f"Bearer {endpoint.key}"

    http_client = httpx2.AsyncClient(
        transport=transport,
        timeout=httpx2.Timeout(config.timeout, connect=min(config.timeout, SECONDS_TO_CONNECT)),
        limits=httpx2.Limits(max_connections=config.max_concurrency),
        follow_redirects=False,
        event_hooks={"request": [purify]},
    )
    return openai.AsyncOpenAI(
        api_key=endpoint.key, base_url=endpoint.base_url, max_retries=0, http_client=http_client
    )


class ChatClient:
    """Implements ``Chat`` over an OpenAI-compatible endpoint.

    ``caps`` hold a stage to fewer calls at once than the endpoint allows.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        config: EndpointConfig,
        http: openai.AsyncOpenAI,
        lane: Lane,
        meter: Meter,
        caps: Mapping[Stage, AbstractAsyncContextManager[Any]],
    ) -> None:
        self._endpoint = endpoint
        self._config = config
        self._http = http
        self._lane = lane
        self._meter = meter
        self._caps = caps
        if config.thinking is Thinking.enabled and config.temperature is not None:
            logger.warning(
                "model.%s.temperature is set while thinking is enabled; many providers ignore it then",
                endpoint.role,
            )

    async def ask(
        self, messages: Sequence[Message], *, stage: Stage, attempt: int = 1, json: bool = False
    ) -> Message:
        """See ``Chat.ask``."""
        conversation = [{"role": each.role, "content": well_formed(each.content)} for each in messages]
        async with self._caps.get(stage, nullcontext()):
            try:
                reply = await self._usable(_Call(conversation, stage), self._fields(attempt, json))
            except CallFailed as error:
                raise raised_for(self._endpoint, error.failure) from error
        return Message("assistant", reply.content, reply.reasoning)

    def _fields(self, attempt: int, json: bool) -> Fields:
        fields = configured_fields(self._config)
        if json:
            fields[RESPONSE_FORMAT] = {"type": "json_object"}
        if attempt > 1 or self._config.provider is Provider.simulated:
            fields["seed"] = attempt
        return fields

    async def _usable(self, call: "_Call", fields: Fields) -> Reply:
        """A reply with text, whole; each way to get one is tried once."""
        reply = await self._answer(call, fields)
        ran_dry = reply.truncated and bool(reply.reasoning)
        if reply.blank and not ran_dry and RESPONSE_FORMAT in self._lane.dialect.apply(fields):
            fields = {name: value for name, value in fields.items() if name != RESPONSE_FORMAT}
            reply = await self._answer(call, fields)
        if reply.truncated:
            reply = await self._with_more_room(call, fields, reply)
        if reply.blank:
            self._fault(Fault.empty, f"the reply has no text (finish_reason {reply.finish_reason})")
        return reply

    async def _with_more_room(self, call: "_Call", fields: Fields, cut: Reply) -> Reply:
        """The reply to the same question with a higher output limit."""
        room = self._config.max_tokens
        if room is None:
            room = cut.usage.output_tokens if cut.usage else None
        if room is None:
            room = len(cut.content + cut.reasoning) // CHARS_A_TOKEN
        wider = {**fields, OUTPUT_LIMIT: max(LEAST_ROOM, MORE_ROOM * room)}
        taken = self._lane.dialect.apply(wider)
        if OUTPUT_LIMIT in taken or NEW_OUTPUT_LIMIT in taken:
            try:
                cut = await self._answer(call, wider)
            except CallFailed as error:
                if not error.failure.bad_request:
                    raise
                # The endpoint has no more room to give, which is no fault in how it was asked first.
        if cut.truncated:
            self._fault(Fault.truncated, "the reply was cut by its output limit, and again with more room")
        return cut

    async def _answer(self, call: "_Call", fields: Fields) -> Reply:
        """The next reply, booked. Filtered ones end here."""
        try:
            reply = await self._negotiated(call, fields)
        except CallFailed as error:
            if error.failure.codes & FILTERED:
                self._fault(Fault.content_filter, f"the provider's filter refused the prompt: {error}")
            raise
        self._meter.record(self._endpoint.role, call.stage, reply)
        if reply.finish_reason == "content_filter":
            self._fault(Fault.content_filter, "the provider's filter cut the reply")
        return reply

    async def _negotiated(self, call: "_Call", fields: Fields) -> Reply:
        dialect = self._lane.dialect
        if not dialect.knows(dialect.apply(fields)):
            async with self._lane.settling:
                if not dialect.knows(dialect.apply(fields)):
                    return await self._until_taken(call, fields)
        return await self._until_taken(call, fields)

    async def _until_taken(self, call: "_Call", fields: Fields) -> Reply:
        """Send, and send again without what the endpoint refuses by name, at most once a field."""
        dialect = self._lane.dialect
        while True:
            taken = dialect.apply(fields)
            try:
                reply = await self._lane.limit.call(
                    lambda taken=taken: self._send(call, taken),  # type: ignore[misc]
                    max_retries=self._config.max_retries,
                )
            except CallFailed as error:
                if not dialect.learn(taken, error.failure):
                    raise
            else:
                dialect.took(taken)
                return reply

    async def _send(self, call: "_Call", fields: Fields) -> Reply:
        """One request over the wire. What a failure says is safe to show from here on."""
        endpoint, seconds = self._endpoint, self._config.timeout
        logger.debug("%s: %s with %s, timeout %g s", endpoint.role, endpoint.url, dict(fields), seconds)
        try:
            # The client's own timeout starts anew with every byte, and servers send blanks to keep alive.
            async with asyncio.timeout(seconds):
                return read_reply(await self._post(call, fields))
        except TimeoutError:
            failure = Failure(f"no complete answer within {seconds:g} s")
        except openai.APIError as error:
            failure = failure_of(error, now=time.time())
        except CallFailed as error:
            failure = error.failure
        raise CallFailed(replace(failure, said=endpoint.clean(failure.said)))

    async def _post(self, call: "_Call", fields: Fields) -> str:
        body = {"model": self._endpoint.model, "messages": call.conversation, **fields}
        return (await self._http.post("/chat/completions", cast_to=httpx2.Response, body=body)).text

    def _fault(self, kind: Fault, message: str) -> NoReturn:
        raise ReplyFault(kind, self._endpoint.clean(f"{self._endpoint.model}: {message}"))


@dataclass(frozen=True, slots=True)
class _Call:
    """What stays the same however often one question has to be sent."""

    conversation: Conversation
    stage: Stage
