"""Conversations and tools as requests hold them. Pure."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from skillopt_exp.llm.reply import well_formed
from skillopt_exp.records import Message, Tool, ToolCall

Conversation = list[dict[str, Any]]
"""Messages under the names of the wire."""


def as_sent(messages: Iterable[Message]) -> Conversation:
    """The conversation to send.

    Of an assistant's message with tool calls, its reasoning goes back as well: providers that reason
    between calls (DeepSeek) refuse a conversation in which what led to a call is missing. Without calls it
    is nobody's business.
    """
    return [_message(each) for each in messages]


def tools_as_sent(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """The functions that may be called."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools
    ]


def texts_of(conversation: Sequence[dict[str, Any]]) -> Iterable[str]:
    """Everything of a conversation that costs tokens: each message's content, and the rest of it as JSON."""
    for message in conversation:
        yield message["content"]
        rest = {name: value for name, value in message.items() if name not in ("role", "content")}
        if rest:
            yield json.dumps(rest, ensure_ascii=False)


def _message(message: Message) -> dict[str, Any]:
    sent: dict[str, Any] = {"role": message.role, "content": well_formed(message.content)}
    if message.answers_call:
        sent["tool_call_id"] = message.answers_call
    if message.tool_calls:
        sent["tool_calls"] = [_call(call) for call in message.tool_calls]
        if message.reasoning:
            sent["reasoning_content"] = well_formed(message.reasoning)
    return sent


def _call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": well_formed(call.arguments)},
    }
