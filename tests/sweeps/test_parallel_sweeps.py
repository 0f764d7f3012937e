"""Jobs of a sweep at the same time, each in a process of its own."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm.misbehaving import Answer, Asked, MisbehavingServer
from serving import ROOT, roles_at, skillopt

from skillopt_exp import data, simulation
from skillopt_exp.commands.composing import compose

pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
pytestmark = pytest.mark.slow

SMALL = ("dataset=demo", "dataset.limit=30", "train.num_epochs=1", "tracking=none")
AT_ONCE = ("hydra/launcher=joblib", "hydra.launcher.n_jobs=4")


@pytest.fixture
def provider() -> Iterator[MisbehavingServer]:
    """The simulated models over HTTP, each answer a moment late."""
    items = data.load(compose(["model=simulated", *SMALL]).dataset, base=Path.cwd()).knowledge
    served = simulation.simulation(items)

    def answer(asked: Asked) -> Answer:
        reply = served.handle("POST", asked.path, json.dumps(asked.body).encode())
        return Answer(reply.body.decode(), reply.status, delay=0.01)

    server = MisbehavingServer()
    server.decide = answer
    yield server
    server.close()


def test_jobs_at_once_stay_within_the_limit_of_one(provider: MisbehavingServer, tmp_path: Path) -> None:
    limits = [f"model.{role}.max_concurrency=5" for role in ("target", "optimizer")]
    done = skillopt(
        "-m", *roles_at(provider.url), *SMALL, *limits, *AT_ONCE, "train.seed=1,2,3,4,5", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    # Target and optimizer are two models, and have a limit each.
    assert 5 <= provider.most_at_once <= 10
    assert len(list(tmp_path.glob("multirun/*/*/console.txt"))) == 5


def test_a_sweep_goes_on_after_a_worker_was_killed(provider: MisbehavingServer, tmp_path: Path) -> None:
    command = ("-m", *roles_at(provider.url), *SMALL, *AT_ONCE, "train.seed=1,2,3,4,5")
    process = subprocess.Popen(
        [sys.executable, "-m", "skillopt_exp", *command],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # The canary has ended, and others are under way.
    while not workers_of(process.pid) or len(list(tmp_path.glob("multirun/*/*/calls.jsonl"))) < 3:
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    os.kill(workers_of(process.pid)[-1], signal.SIGKILL)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 75, err
    assert err.count("error: ") == 1
    done = skillopt(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (file,) = tmp_path.glob("multirun/*/leaderboard.csv")
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert [row["status"] for row in rows] == ["finished"] * 5


def workers_of(pid: int) -> list[int]:
    """The processes that joblib has begun for ``pid``."""
    found = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if b"popen_loky" in Path(f"/proc/{child}/cmdline").read_bytes():
            found.append(int(child))
    return found
