"""Whole runs in real processes, two of them on one store at the same time: the provider is asked once."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from running import all_files
from serving import ROOT, requests, roles_at, served, skillopt

SLOTS = 4
pytestmark = pytest.mark.slow

SMALL = (
    "dataset=demo",
    "dataset.limit=40",
    "train.num_epochs=1",
    "tracking=none",
    *(f"model.{role}.max_concurrency={SLOTS}" for role in ("target", "optimizer")),
)


class Solo:
    """One undisturbed run, and the provider that answered it."""

    def __init__(self, address: str, log: Path, cwd: Path) -> None:
        self.log = log
        self.arguments = [*roles_at(address), *SMALL]
        done = skillopt(*self.arguments, cwd=cwd)
        assert done.returncode == 0, done.stderr
        self.asked = Counter(map(str, requests(log)))
        self.history = all_files(next((cwd / "outputs").glob("*/*")))["history.jsonl"]

    def asked_since(self, before: int) -> Counter[str]:
        """What the provider has logged since it had logged so many lines."""
        return Counter(map(str, requests(self.log)[before:]))


@pytest.fixture(scope="module")
def solo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Solo]:
    folder = tmp_path_factory.mktemp("solo")
    with served(folder) as (address, log):
        yield Solo(address, log, folder)


def begin(solo: Solo, cwd: Path, name: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "skillopt_exp", *solo.arguments, f"hydra.run.dir={cwd / name}"],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_two_runs_at_once_pay_what_one_pays(solo: Solo, tmp_path: Path) -> None:
    before = len(requests(solo.log))
    processes = [begin(solo, tmp_path, name) for name in ("one", "two")]
    for process in processes:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert solo.asked_since(before) == solo.asked
    for name in ("one", "two"):
        assert (tmp_path / name / "history.jsonl").read_bytes() == solo.history


def test_when_one_of_two_is_killed_the_other_asks_again_what_was_in_flight_alone(
    solo: Solo, tmp_path: Path
) -> None:
    before = len(requests(solo.log))
    killed, left = (begin(solo, tmp_path, name) for name in ("killed", "left"))
    while len(requests(solo.log)) < before + 30:
        assert killed.poll() is None, killed.communicate()
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    _, err = left.communicate(timeout=120)
    assert left.returncode == 0, err
    again = solo.asked_since(before) - solo.asked
    assert again.total() <= 2 * SLOTS
    assert not solo.asked - solo.asked_since(before)
    assert (tmp_path / "left" / "history.jsonl").read_bytes() == solo.history
