"""A server on this machine that does not run: how it is started."""

import asyncio
import shlex
from contextlib import suppress
from urllib.parse import urlsplit

from skillopt_exp.llm.endpoint import Endpoint

SECONDS = 2.0
"""How long a connection to this very machine may take."""

_STARTED_BY = {
    11434: "ollama serve, and once: ollama pull {model}",
    8000: "vllm serve {model}",
    8080: "llama-server -m FILE.gguf",
    1234: "lms server start (LM Studio)",
}
"""By the port that each server listens on unless it is told otherwise."""


async def how_to_start(endpoint: Endpoint) -> str:
    """What to do when ``endpoint`` is on this machine and nothing listens there; else empty."""
    parts = urlsplit(endpoint.base_url)
    # Unencrypted is allowed to this machine alone, so that this tells it from all others.
    local = parts.scheme == "http" and parts.hostname is not None
    if not local or await _listens(str(parts.hostname), parts.port):
        return ""
    command = _STARTED_BY.get(parts.port or 0, "")
    start = f"start the server ({command.format(model=shlex.quote(endpoint.model))})" if command else ""
    elsewhere = f"model.{endpoint.role}.base_url=..."
    return (
        f"nothing listens at {parts.netloc}: {start or 'start the server'}, or say where it is: {elsewhere}"
    )


async def _listens(host: str, port: int | None) -> bool:
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(SECONDS):
            _, writer = await asyncio.open_connection(host, 80 if port is None else port)
        writer.close()
        return True
    return False
