"""Reading one chat completion as it came over the wire. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillopt_exp.llm.failure import CallFailed, Failure, codes_of
from skillopt_exp.llm.reasoning import separate

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

    @property
    def truncated(self) -> bool:
        """Cut by an output limit, or ended inside its own reasoning."""
        return self.finish_reason == "length" or not self.complete

    @property
    def blank(self) -> bool:
        return not self.content.strip()


def read_reply(body: str) -> Reply:
    """The reply in the body of a successful response.

    Raises:
        CallFailed: the body is no chat completion: a web page (refused for good), an error object in
            disguise (by its code), or something broken (asked again).
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
    message = choice.get("message")
    if not isinstance(message, Mapping):
        raise _broken(body)
    finish = _text(choice.get("finish_reason")) or "stop"
    if finish in _INTERRUPTED:
        raise CallFailed(Failure(f"the provider broke the reply off ({finish})"))
    text = separate(_content(message))
    hidden = [_text(message.get(name)) for name in ("reasoning_content", "reasoning")]
    return Reply(
        content=text.visible,
        reasoning="\n".join(dict.fromkeys(part for part in (*hidden, text.reasoning) if part)),
        finish_reason=finish,
        model=_text(data.get("model")),
        usage=_usage(data.get("usage")),
        complete=text.complete,
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


def _content(message: Mapping[str, Any]) -> str:
    """The visible text: a string, parts, or (where the model declined) its refusal."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return _text(content) or _text(message.get("refusal"))


def _usage(usage: Any) -> CallUsage | None:
    if not isinstance(usage, Mapping):
        return None
    cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
    return CallUsage(
        input_tokens=_count(usage, "prompt_tokens"),
        cached_tokens=_count(usage, "prompt_cache_hit_tokens") if cached is None else cached,
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
