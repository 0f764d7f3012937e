"""A simulated provider in a process of its own, and runs against it that are killed."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


@contextmanager
def served(folder: Path, *overrides: str) -> Iterator[tuple[str, Path]]:
    """The address of a running server, and the file that gets one line a request."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = folder / f"requests-{port}.jsonl"
    command = [sys.executable, "-m", "skillopt_exp", "serve-simulated", "dataset=demo", *overrides]
    process = subprocess.Popen(
        [*command, f"port={port}", f"log={log}"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        for _ in range(300):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1", log
    finally:
        process.terminate()
        process.communicate(timeout=20)


def roles_at(address: str) -> list[str]:
    """The overrides that send both roles to ``address``."""
    return ["model=openai_compatible"] + [
        override
        for role in ("target", "optimizer")
        for override in (
            f"model.{role}.base_url={address}",
            f"model.{role}.name=simulated-{role}",
            f"model.{role}.api_key_env=null",
        )
    ]


def requests(log: Path) -> list[dict[str, object]]:
    """What the server has answered so far."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines() if line.endswith("}")]


def skillopt(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The command line, run to its end."""
    return subprocess.run(
        [sys.executable, "-m", "skillopt_exp", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def killed_after(
    count: int, log: Path, *arguments: str, cwd: Path, how: signal.Signals = signal.SIGKILL
) -> subprocess.CompletedProcess[str]:
    """The command line, sent ``how`` once ``log`` has ``count`` lines more than now (or it has ended)."""
    target = len(requests(log)) + count
    process = subprocess.Popen(
        [sys.executable, "-m", "skillopt_exp", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while process.poll() is None and len(requests(log)) < target:
        time.sleep(0.005)
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
