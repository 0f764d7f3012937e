"""A small HTTP server that answers as it is told to: well, badly, late, or not at all."""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Asked:
    """One request as it arrived."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What to send back. ``drop`` closes the connection without a word; ``delay`` is in seconds."""

    body: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay: float = 0.0
    drop: bool = False


def says(
    text: str | None,
    *,
    finish: str | None = "stop",
    usage: Mapping[str, Any] | None = None,
    delay: float = 0.0,
    **message: Any,
) -> Answer:
    """An ordinary chat completion."""
    completion = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model-0813",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, **message},
            }
        ],
    }
    if usage is not None:
        completion["usage"] = usage
    return Answer(json.dumps(completion), delay=delay)


def refuses(status: int, message: str, *, headers: Mapping[str, str] | None = None, **error: Any) -> Answer:
    """An error object in OpenAI's form."""
    return Answer(json.dumps({"error": {"message": message, **error}}), status, headers or {})


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128  # as many as may connect at once without waiting for a second


class MisbehavingServer:
    """Serves on a free local port. ``answers`` come one a request; the last one repeats.

    ``decide``, if set, makes the answer from the request instead.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answers: list[Answer] = [says("hello")]
        self.decide: Callable[[Asked], Answer] | None = None
        self.most_at_once = 0
        self._at_once = 0
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [each.body for each in self.asked]

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _next(self, asked: Asked) -> Answer:
        with self._lock:
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            turn = len(self.asked)
            self.asked.append(asked)
        answer = self.decide(asked) if self.decide else self.answers[min(turn, len(self.answers) - 1)]
        time.sleep(answer.delay)
        with self._lock:
            self._at_once -= 1
        return answer

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                raw = self.rfile.read(int(self.headers["content-length"]))
                answer = server._next(Asked(self.path, dict(self.headers.items()), json.loads(raw)))
                if answer.drop:
                    self.close_connection = True
                    return
                body = answer.body.encode()
                try:
                    self.send_response(answer.status)
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.send_header("content-type", answer.content_type)
                    self.send_header("content-length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                except ConnectionError:
                    self.close_connection = True  # the client gave up waiting

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        return Handler
