"""``serve-simulated``: the simulated models as an OpenAI-compatible server, to measure other tools on."""

import socket
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.commands.arguments import Verb, parse, split_own
from skillopt_exp.commands.composing import compose
from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError
from skillopt_exp.reading import named_path

VERB = Verb(
    "serve-simulated",
    "Serve the simulated models over HTTP. They know the items of the chosen data set; every key of "
    "`dataset` can be given as for training.",
    "python -m skillopt_exp serve-simulated dataset=demo port=8765",
)


_LAST_PORT = 65_535


@dataclass(kw_only=True)
class ServeArguments:
    """Keys of the verb; all others choose the data set."""

    host: str = key("127.0.0.1", affects=Affects.nothing, help="address to listen on")
    port: int = key(8765, affects=Affects.nothing, help="port to listen on")
    log: str | None = key(None, affects=Affects.nothing, help="a file that gets one JSON line a request")


def run(arguments: Sequence[str]) -> int:
    """Serve until interrupted."""
    own, others = split_own(ServeArguments, arguments)
    asked = parse(ServeArguments, own, VERB)
    if asked is None:
        return 0
    config = compose(["model=simulated", *others])
    _check_address(asked.host, asked.port)
    log = None if asked.log is None else _log(asked.log)

    from skillopt_exp import data, simulation

    loaded = data.load(config.dataset, base=Path.cwd())
    address = f"http://{asked.host}:{asked.port}/v1"
    sys.stdout.write(
        f"SIMULATED models for {len(loaded.knowledge):,} items of {config.dataset.name} at {address}\n"
        f"models: simulated-target, simulated-optimizer; stop with Ctrl-C\n"
    )
    sys.stdout.flush()
    simulation.serve(loaded.knowledge, asked.host, asked.port, log)
    return 0


def _check_address(host: str, port: int) -> None:
    """Refuse an address that cannot be listened on, before the items are loaded."""
    if not 1 <= port <= _LAST_PORT:
        raise UsageError(f"port is {port}; give 1 to {_LAST_PORT}")
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        raise UsageError(
            f"nothing can listen at {host}:{port} ({error}); give another: host=... port=..."
        ) from error


def _log(given: str) -> Path:
    path = named_path(given, base=Path.cwd(), key="log")
    try:
        path.open("ab").close()
    except OSError as error:
        raise UsageError(f"log={given} cannot be written ({error.strerror}); give another file") from error
    return path
