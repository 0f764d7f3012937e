"""Recording what a server answered, and playing it back: for tests that must not pay twice.

A recording is a JSON-lines file, one exchange a line. Headers are not kept, so no key is.
"""

import json
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx2


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request (its body in canonical JSON) and the answer to it."""

    request: str
    status: int
    answer: str


class RecordingTransport(httpx2.AsyncBaseTransport):
    """Passes requests on to ``inner`` and appends each exchange to ``file``."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, file: Path) -> None:
        self._inner = inner
        self._file = file

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        asked = _canonical(await request.aread())
        response = await self._inner.handle_async_request(request)
        answer = (await response.aread()).decode("utf-8", "replace")
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(asdict(Exchange(asked, response.status_code, answer)), ensure_ascii=False))
            lines.write("\n")
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class ReplayTransport(httpx2.AsyncBaseTransport):
    """Answers from a recording. The same request asked again gets the next answer that was recorded
    for it, and at the end the last one again."""

    def __init__(self, file: Path) -> None:
        self._answers: dict[str, deque[Exchange]] = {}
        for line in file.read_text(encoding="utf-8").splitlines():
            exchange = Exchange(**json.loads(line))
            self._answers.setdefault(exchange.request, deque()).append(exchange)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """
        Raises:
            LookupError: the request was never recorded; nothing is made up for it.
        """
        asked = _canonical(await request.aread())
        exchanges = self._answers.get(asked)
        if not exchanges:
            raise LookupError(f"this request was never recorded: {asked[:500]}")
        exchange = exchanges.popleft() if len(exchanges) > 1 else exchanges[0]
        return httpx2.Response(
            exchange.status, headers={"content-type": "application/json"}, text=exchange.answer
        )


def _canonical(body: bytes) -> str:
    return json.dumps(json.loads(body), sort_keys=True, ensure_ascii=False)
