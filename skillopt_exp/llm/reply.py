"""Reading one chat completion as it came over the wire. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillopt_exp.llm.failure import CallFailed, Failure, codes_of
from skillopt_exp.llm.reasoning import separate
from skillopt_exp.records import ToolCall

FILTERED_REPLY = "content_filter"
"""The finish reason of a reply that the provider's filter withheld or cut."""

_INTERRUPTED = ("insufficient_system_resource", "error")
"""Finish reasons by which a server says that it broke off; the reply is nobody's answer."""


@dataclass(frozen=True, slots=True)
class CallUsage:
    """Tokens of one call. None is what the provider did not say, which is not zero."""

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answered call: visible text, hidden reasoning, why it ended, and by which model."""

    content: str
    reasoning: str = ""
    finish_reason: str = "stop"
    model: str = ""
    usage: CallUsage | None = None
    complete: bool = True
    tool_calls: tuple[ToolCall, ...] = ()

    @property
    def truncated(self) -> bool:
        """Cut by an output limit, or ended inside its own reasoning."""
        return self.finish_reason == "length" or not self.complete

    @property
    def blank(self) -> bool:
        return not self.content.strip()


def read_reply(body: str) -> Reply:
    """The reply in the body of a successful response.

    A reply without text (null, parts of other kinds, a call of a tool that nobody offered) is the model's
    own doing, and has empty ``content``. So is one that a filter withheld, with or without a message.

    Raises:
        CallFailed: the body is no chat completion: a web page (refused for good), an error object in
            disguise (by its code), or something broken, such as a number where text should be (asked
            again).
    """
    try:
        data = json.loads(body)
    except (ValueError, RecursionError) as error:
        if body.lstrip().startswith("<"):
            raise CallFailed(Failure("an HTML page", status=200, html=True)) from error
        raise _broken(body) from error
    if not isinstance(data, Mapping):
        raise _broken(body)
    if isinstance(data.get("error"), Mapping):
        raise CallFailed(_embedded(data["error"]))
    choice = _first(data.get("choices"))
    finish = _text(choice.get("finish_reason")) or "stop"
    message = choice.get("message")
    if message is None and finish == FILTERED_REPLY:
        message = {}
    if not isinstance(message, Mapping):
        raise _broken(body)
    if finish in _INTERRUPTED:
        raise CallFailed(Failure(f"the provider broke the reply off ({finish})"))
    content = _content(message)
    if content is None:
        raise _broken(body)
    text = separate(content)
    hidden = [_text(message.get(name)) for name in ("reasoning_content", "reasoning")]
    return Reply(
        content=text.visible,
        reasoning="\n".join(dict.fromkeys(part for part in (*hidden, text.reasoning) if part)),
        finish_reason=finish,
        model=_text(data.get("model")),
        usage=_usage(data.get("usage")),
        complete=text.complete,
        tool_calls=_tool_calls(message.get("tool_calls")),
    )


def well_formed(text: str) -> str:
    """``text`` with halves of surrogate pairs replaced, which no file and no request can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _broken(body: str) -> CallFailed:
    start = " ".join(body[:100].split())
    return CallFailed(Failure(f"the answer is not a chat completion: {start!r}"))


def _embedded(error: Mapping[str, Any]) -> Failure:
    """An error inside a response that claims success, as some gateways send it."""
    code, said = error.get("code"), _text(error.get("message")) or "no message"
    status = code if isinstance(code, int) and 400 <= code <= 599 else None
    return Failure(said, status=status, codes=codes_of(error))


def _content(message: Mapping[str, Any]) -> str | None:
    """The visible text: a string, parts, or (where the model declined) its refusal. None if it is no text."""
    content = message.get("content")
    match content:
        case None:
            text = ""
        case str():
            text = content
        case list():
            if content and not any(isinstance(part, str | Mapping) for part in content):
                return None
            text = "".join(map(_part, content))
        case _:
            return None
    return well_formed(text) or _text(message.get("refusal"))


def _tool_calls(calls: Any) -> tuple[ToolCall, ...]:
    """The calls of functions; what has no name is no call."""
    found = []
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and _text(function.get("name")):
            arguments = function.get("arguments")
            said = arguments if isinstance(arguments, str) else json.dumps(arguments)
            found.append(ToolCall(_text(call.get("id")), _text(function.get("name")), well_formed(said)))
    return tuple(found)


def _part(part: Any) -> str:
    """The text of one part of a message; parts of other kinds have none."""
    return _text(part.get("text") if isinstance(part, Mapping) else part)


def _usage(usage: Any) -> CallUsage | None:
    if not isinstance(usage, Mapping):
        return None
    asked = _count(usage, "prompt_tokens")
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    if cached is None:
        cached = _count(usage, "prompt_cache_hit_tokens")
    if asked is not None and cached is not None and cached > asked:
        cached = None  # more than there was: whatever it counts, it is not this
    return CallUsage(
        input_tokens=asked,
        cached_tokens=cached,
        output_tokens=_count(usage, "completion_tokens"),
        reasoning_tokens=_count(usage.get("completion_tokens_details"), "reasoning_tokens"),
    )


def _count(counts: Any, name: str) -> int | None:
    value = counts.get(name) if isinstance(counts, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _first(choices: Any) -> Mapping[str, Any]:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else {}


def _text(value: Any) -> str:
    return well_formed(value) if isinstance(value, str) else ""
