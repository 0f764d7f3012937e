"""The wire format of both simulated models: OpenAI's chat completions, as pure functions of bytes.

A reply depends on the request alone: no clock, no counter, no random identifier.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

TARGET = "simulated-target"
OPTIMIZER = "simulated-optimizer"

_CHARS_PER_TOKEN = 4
_SYSTEM_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP answer: status and JSON bytes."""

    status: int
    body: bytes


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a simulated model reads of a request."""

    model: str
    system: str
    """The system messages, joined; empty when there is none."""
    conversation: str
    """All other messages, joined."""
    seed: int
    """The attempt, 1 the first."""
    max_tokens: int | None


class Model(Protocol):
    """A simulated model."""

    def __call__(self, request: ChatRequest) -> str:
        """The text of its reply."""


class Simulation:
    """The endpoint that serves ``models`` by name."""

    def __init__(self, models: Mapping[str, Model]) -> None:
        self._models = models

    def handle(self, method: str, path: str, body: bytes) -> Reply:
        """The answer to one HTTP request; ``path`` may carry any prefix, such as ``/v1``."""
        if method == "POST" and path.endswith("/chat/completions"):
            return self.complete_bytes(body)
        if method == "GET" and path.endswith("/models"):
            return self.list_models()
        message = f"there is no {method} {path} here; use POST /v1/chat/completions"
        return _error(404, message, None, "unknown_url")

    def list_models(self) -> Reply:
        shared = {"object": "model", "created": 0, "owned_by": "simulation"}
        return _reply(200, {"object": "list", "data": [{"id": name, **shared} for name in self._models]})

    def complete_bytes(self, body: bytes) -> Reply:
        """The answer to a chat completion request as it comes over the wire."""
        try:
            parsed = json.loads(body)
        except ValueError as error:
            return _error(400, f"the request body is not JSON: {error}", None, "invalid_json")
        if not isinstance(parsed, dict):
            return _error(400, "the request body must be a JSON object", None, "invalid_json")
        return self.complete(parsed)

    def complete(self, body: Mapping[str, Any]) -> Reply:
        """The answer to a chat completion request; equal bodies get equal bytes."""
        request = _read(body)
        if isinstance(request, Reply):
            return request
        model = self._models.get(request.model)
        if model is None:
            known = ", ".join(self._models)
            message = f"the model {request.model!r} does not exist here; known are {known}"
            return _error(404, message, "model", "model_not_found")
        text, finish_reason = _limited(model(request), request.max_tokens)
        return _reply(200, _completion(request, digest(body), text, finish_reason))


def digest(value: object) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys; 64 hex digits."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _read(body: Mapping[str, Any]) -> ChatRequest | Reply:
    model, messages, seed = body.get("model"), body.get("messages"), body.get("seed")
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    if not isinstance(model, str) or not model:
        return _error(400, "`model` must be the name of a model", "model", "invalid_type")
    if not isinstance(messages, list) or not messages:
        return _error(400, "`messages` must be a list of at least one message", "messages", "invalid_type")
    if not (seed is None or _is_int(seed)):
        return _error(400, "`seed` must be an integer", "seed", "invalid_type")
    if not (limit is None or (_is_int(limit) and limit >= 1)):
        return _error(400, "the output limit must be 1 token or more", "max_tokens", "invalid_value")
    if body.get("stream"):
        return _error(400, "streaming is not simulated; send `stream: false`", "stream", "unsupported_value")
    if body.get("n") not in (None, 1):
        return _error(400, "one choice a request is simulated; send `n: 1`", "n", "unsupported_value")
    system: list[str] = []
    conversation: list[str] = []
    for position, message in enumerate(messages):
        text = _text(message)
        if text is None:
            where = f"messages[{position}]"
            return _error(400, f"`{where}` must have a role, and content of text", where, "invalid_type")
        (system if message["role"] in _SYSTEM_ROLES else conversation).append(text)
    return ChatRequest(
        model=model,
        system="\n\n".join(system),
        conversation="\n\n".join(conversation),
        seed=1 if seed is None else seed,
        max_tokens=limit,
    )


def _is_int(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _text(message: object) -> str | None:
    """A message's text, or None when the message is malformed."""
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        return None
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    parts = [part.get("text") if isinstance(part, dict) else None for part in content]
    texts = [part for part in parts if isinstance(part, str)]
    return "\n".join(texts) if len(texts) == len(parts) else None


def _limited(text: str, max_tokens: int | None) -> tuple[str, str]:
    """The text, cut at the limit, with its finish reason."""
    if max_tokens is None or _tokens(text) <= max_tokens:
        return text, "stop"
    return text[: max_tokens * _CHARS_PER_TOKEN], "length"


def _tokens(text: str) -> int:
    return max(1, len(text) // _CHARS_PER_TOKEN)


def _completion(request: ChatRequest, request_digest: str, text: str, finish_reason: str) -> dict[str, Any]:
    asked, answered = _tokens(request.system + request.conversation), _tokens(text)
    return {
        "id": f"chatcmpl-{request_digest[:24]}",
        "object": "chat.completion",
        "created": 0,
        "model": request.model,
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "logprobs": None,
                "finish_reason": finish_reason,
            }
        ],
        "usage": {"prompt_tokens": asked, "completion_tokens": answered, "total_tokens": asked + answered},
    }


def _error(status: int, message: str, param: str | None, code: str) -> Reply:
    return _reply(
        status,
        {"error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}},
    )


def _reply(status: int, value: dict[str, Any]) -> Reply:
    # A lone surrogate, which JSON can carry, has no UTF-8 form; escaping everything outside ASCII is safe.
    return Reply(status, json.dumps(value).encode())
