"""The embedded models: no key, no network, the same reply to the same request always.

They are a simulation for demos, tests and experiments about the trainer itself, and claim nothing about
real models. The two share the wire format and nothing else: the target knows the golds of the loaded
items, the optimizer knows what its prompt shows.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp.records import Item
from skillopt_exp.simulation.optimizer import Optimizer
from skillopt_exp.simulation.target import Target
from skillopt_exp.simulation.wire import OPTIMIZER, TARGET, ChatRequest, Simulation

if TYPE_CHECKING:
    import httpx2
    from starlette.applications import Starlette

__all__ = ["OPTIMIZER", "TARGET", "app", "revision", "serve", "simulation", "transport"]


def simulation(items: Iterable[Item]) -> Simulation:
    """Both models behind one endpoint, as a pure function of requests. ``items`` may be empty.

    Raises:
        UsageError: two items ask the same and expect different answers.
    """
    target, optimizer = Target(items), Optimizer()

    def answer_task(request: ChatRequest) -> str:
        return target.reply(request.system, request.conversation, request.seed)

    def improve_skill(request: ChatRequest) -> str:
        return optimizer.reply(f"{request.system}\n\n{request.conversation}".strip())

    return Simulation({TARGET: answer_task, OPTIMIZER: improve_skill})


def transport(items: Iterable[Item]) -> "httpx2.AsyncBaseTransport":
    """Serves both models in process: hand it to ``httpx2.AsyncClient(transport=...)``.

    Raises:
        UsageError: two items ask the same and expect different answers.
    """
    import httpx2

    served = simulation(items)

    def handle(request: httpx2.Request) -> httpx2.Response:
        reply = served.handle(request.method, request.url.path, request.content)
        return httpx2.Response(reply.status, headers={"content-type": "application/json"}, content=reply.body)

    return httpx2.MockTransport(handle)


def app(items: Iterable[Item], log: Path | None = None) -> "Starlette":
    """Serves both models over HTTP as a Starlette application.

    ``log`` is appended one JSON line a completion request: model, status, SHA-256 of the messages.

    Raises:
        UsageError: two items ask the same and expect different answers.
    """
    from skillopt_exp.simulation.server import application

    return application(simulation(items), log)


def serve(items: Iterable[Item], host: str, port: int, log: Path | None = None) -> None:
    """Serves ``app`` until interrupted, and says nothing."""
    import uvicorn

    uvicorn.run(app(items, log), host=host, port=port, log_level="warning", access_log=False)


def revision() -> str:
    """SHA-256 of the simulation's source, 64 hex digits: what pins a simulated model's answers."""
    folder = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
