"""One role's model: a conversation goes out, a usable reply comes back or a named error is raised.

Each further way of asking follows from the reply before it and from nothing that this process happens to
know, so that a resumed run takes the same ways and finds its answers.
"""

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from typing import Any, NoReturn

from skillopt_exp.config.model import EndpointConfig, Provider, Thinking
from skillopt_exp.errors import ReplyFault
from skillopt_exp.llm.asking import Asker, Question
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.conversation import as_sent, tools_as_sent
from skillopt_exp.llm.endpoint import Endpoint
from skillopt_exp.llm.errors import refusal_of
from skillopt_exp.llm.failure import CONTEXT_EXCEEDED, FILTERED, CallFailed
from skillopt_exp.llm.parameters import OUTPUT_LIMIT, RESPONSE_FORMAT, TOOLS, configured_fields
from skillopt_exp.llm.reply import FILTERED_REPLY, Reply
from skillopt_exp.records import Fault, Message, Tool

MORE_ROOM = 4
"""How many times the room a truncated reply gets at its second and last attempt."""

LEAST_ROOM = 4096
"""Tokens that a second attempt gets at least."""

CHARS_A_TOKEN = 2
"""Between English and Chinese, where the provider does not count."""

logger = logging.getLogger(__name__)


class ChatClient:
    """Implements ``Chat`` over an OpenAI-compatible endpoint.

    ``caps`` hold a stage to fewer calls at once than the endpoint allows.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        config: EndpointConfig,
        asker: Asker,
        caps: Mapping[Stage, AbstractAsyncContextManager[Any]],
    ) -> None:
        self._endpoint = endpoint
        self._config = config
        self._asker = asker
        self._caps = caps
        if config.thinking is Thinking.enabled and config.temperature is not None:
            logger.warning(
                "model.%s.temperature is set while thinking is enabled; many providers ignore it then",
                endpoint.role,
            )

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        stage: Stage,
        attempt: int = 1,
        json: bool = False,
        tools: Sequence[Tool] = (),
    ) -> Message:
        """See ``Chat.ask``."""
        fields, insists_on = self._fields(attempt, json), None
        if tools:
            fields[TOOLS] = tools_as_sent(tools)
            insists_on = TOOLS
        question = Question(as_sent(messages), fields, stage, attempt, insists_on=insists_on)
        async with self._caps.get(stage, nullcontext()):
            try:
                reply = await self._usable(question)
            except CallFailed as error:
                if error.failure.codes & FILTERED:
                    self._fault(Fault.content_filter, f"the provider's filter refused the prompt: {error}")
                if error.failure.codes & CONTEXT_EXCEEDED:
                    self._fault(Fault.too_long, f"the prompt is longer than the model's context: {error}")
                raise refusal_of(self._endpoint, error.failure) from error
        return Message("assistant", reply.content, reply.reasoning, reply.tool_calls if tools else ())

    def _fields(self, attempt: int, json: bool) -> dict[str, object]:
        fields = configured_fields(self._config)
        if json:
            fields[RESPONSE_FORMAT] = {"type": "json_object"}
        if attempt > 1 or self._config.provider is Provider.simulated:
            fields["seed"] = attempt
        return fields

    async def _usable(self, question: Question) -> Reply:
        """A reply with text, whole; each way to get one is tried once."""
        reply = await self._unfiltered(question)
        calls_tools = bool(reply.tool_calls) and TOOLS in question.fields
        ran_dry = reply.truncated and bool(reply.reasoning)
        if reply.blank and not calls_tools and not ran_dry and RESPONSE_FORMAT in question.fields:
            plain = {name: value for name, value in question.fields.items() if name != RESPONSE_FORMAT}
            question = replace(question, fields=plain, way=question.way + 1)
            reply = await self._unfiltered(question)
        if reply.truncated:
            reply = await self._with_more_room(question, reply)
        if reply.blank and not calls_tools:
            self._fault(Fault.empty, f"the reply has no text (finish_reason {reply.finish_reason})")
        return reply

    async def _with_more_room(self, question: Question, cut: Reply) -> Reply:
        """The reply to the same question with a higher output limit."""
        room = self._config.max_tokens
        if room is None:
            room = cut.usage.output_tokens if cut.usage else None
        if room is None:
            room = len(cut.content + cut.reasoning) // CHARS_A_TOKEN
        wider = {**question.fields, OUTPUT_LIMIT: max(LEAST_ROOM, MORE_ROOM * room)}
        try:
            cut = await self._unfiltered(
                replace(question, fields=wider, way=question.way + 1, insists_on=OUTPUT_LIMIT)
            )
        except CallFailed as error:
            if not error.failure.bad_request or error.failure.codes & FILTERED:
                raise
            # The endpoint has no more room to give, which is no fault in how it was asked first.
        if cut.truncated:
            self._fault(Fault.truncated, "the reply was cut by its output limit, and again with more room")
        return cut

    async def _unfiltered(self, question: Question) -> Reply:
        reply = await self._asker.reply(question)
        if reply.finish_reason == FILTERED_REPLY:
            self._fault(Fault.content_filter, "the provider's filter cut the reply")
        return reply

    def _fault(self, kind: Fault, message: str) -> NoReturn:
        raise ReplyFault(kind, self._endpoint.clean(f"{self._endpoint.model}: {message}"))
