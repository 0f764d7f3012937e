"""The simulated models as a web application, with a log by which calls can be counted."""

import json
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from skillopt_exp.simulation.wire import Reply, Simulation, digest


def application(served: Simulation, log: Path | None) -> Starlette:
    """Every path goes to ``served``; completion requests go to ``log`` too, one JSON line each."""

    async def answer(request: Request) -> Response:
        body = await request.body()
        reply = served.handle(request.method, request.url.path, body)
        if log is not None and request.method == "POST":
            _append(log, body, reply)
        return Response(reply.body, reply.status, media_type="application/json")

    return Starlette(routes=[Route("/{path:path}", answer, methods=["GET", "POST"])])


def _append(log: Path, body: bytes, reply: Reply) -> None:
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    asked = parsed if isinstance(parsed, dict) else {}
    line = {"model": asked.get("model"), "status": reply.status, "messages": digest(asked.get("messages"))}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
