"""The simulated models as a server: a process of its own, trained against over HTTP."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import all_files, run

ROOT = Path(__file__).parents[2]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a running server, and its log."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = tmp_path / "requests.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-m", "skillopt_exp", "serve-simulated", "dataset=demo", f"port={port}", f"log={log}"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        for _ in range(200):
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1", log
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_training_over_http_is_training_in_process(server: tuple[str, Path], tmp_path: Path) -> None:
    address, log = server
    served, embedded = tmp_path / "served", tmp_path / "embedded"
    served.mkdir()
    embedded.mkdir()
    roles = [
        override
        for role in ("target", "optimizer")
        for override in (
            f"model.{role}.base_url={address}",
            f"model.{role}.name=simulated-{role}",
            f"model.{role}.api_key_env=null",
        )
    ]
    common = ("dataset.limit=40", "cache.mode=none")
    summary = run(served, "model=openai_compatible", *roles, *common)
    run(embedded, *common)
    for name in ("best_skill.md", "history.jsonl"):
        assert all_files(served)[name] == all_files(embedded)[name]
    asked = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert {row["model"] for row in asked} == {"simulated-target", "simulated-optimizer"}
    assert len(asked) == sum(usage.calls for usage in summary.usage.values())
