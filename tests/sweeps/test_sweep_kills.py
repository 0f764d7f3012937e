"""A sweep that is killed goes on: to the leaderboard of an undisturbed one, asking nothing again."""

import csv
import signal
from collections import Counter
from pathlib import Path

import pytest
from serving import killed_after, requests, roles_at, served, skillopt

from skillopt_exp.tracking.store import connect, resolve

pytestmark = pytest.mark.slow

SLOTS = 4
GRID = (
    "-m", "optimizer.learning_rate=1,2,3", "train.batch_size=3,4,5", "dataset=demo", "dataset.limit=30",
    "train.num_epochs=1", *(f"model.{role}.max_concurrency={SLOTS}" for role in ("target", "optimizer")),
)  # fmt: skip
RESULT = ("rank", "job", "name", "status", "val_hard", "test_hard", "key")


def results(cwd: Path) -> list[tuple[str, ...]]:
    """What the leaderboard says of each job but what it cost, the best first."""
    (file,) = cwd.glob("multirun/*/leaderboard.csv")
    with file.open(encoding="utf-8", newline="") as table:
        return [tuple(row[name] for name in RESULT) for row in csv.DictReader(table)]


def test_a_sweep_killed_twice_ends_as_an_undisturbed_one(tmp_path: Path) -> None:
    with served(tmp_path) as (address, log):
        command = (*roles_at(address), *GRID)
        whole, broken = tmp_path / "whole", tmp_path / "broken"
        whole.mkdir()
        broken.mkdir()
        done = skillopt(*command, cwd=whole)
        assert done.returncode == 0, done.stderr
        asked = Counter(map(str, requests(log)))
        before = len(requests(log))
        for count in (asked.total() // 5, asked.total() // 2):
            killed = killed_after(count, log, *command, cwd=broken)
            assert killed.returncode == -signal.SIGKILL
        done = skillopt(*command, cwd=broken)
        assert done.returncode == 0, done.stderr
        again = Counter(map(str, requests(log)[before:]))
    expected = results(whole)
    assert len(expected) == 9
    assert {row[3] for row in expected} == {"finished"}
    assert [bool(row[5]) for row in expected] == [True] + [False] * 8
    assert results(broken) == expected
    assert not asked - again
    assert (again - asked).total() <= 2 * 2 * SLOTS, "what was in flight, twice, and nothing else"
    client = connect(resolve(None, broken))
    (experiment,) = client.search_experiments(filter_string="name = 'skillopt/demo'")
    runs = client.search_runs([experiment.experiment_id])
    assert len(runs) == 10
    assert {run.info.status for run in runs} == {"FINISHED"}
