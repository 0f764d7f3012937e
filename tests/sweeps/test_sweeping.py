"""Whole sweeps on the command line: what is run, what is kept, how it ends."""

import csv
import json
from pathlib import Path

import pytest
from serving import skillopt

from skillopt_exp.sweeps.leaderboard import HEAD

SMALL = ("model=simulated", "dataset=demo", "dataset.limit=40", "train.num_epochs=1", "tracking=none")


def leaderboard(folder: Path) -> list[dict[str, str]]:
    """The rows, the best first."""
    with (folder / "leaderboard.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_wider_grid_runs_what_is_new_and_tests_the_winner_alone(tmp_path: Path) -> None:
    first = skillopt("-m", *SMALL, "optimizer.learning_rate=1,2", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    folder = tmp_path / "multirun" / "demo-learning_rate"
    before = leaderboard(folder)
    assert tuple(before[0]) == HEAD
    assert [bool(row["test_hard"]) for row in before] == [True, False]
    assert {row["name"] for row in before} == {"learning_rate=1", "learning_rate=2"}
    best = folder / before[0]["key"]
    assert (folder / "best_skill.md").read_bytes() == (best / "best_skill.md").read_bytes()
    assert json.loads((best / "summary.json").read_text())["status"] == "finished"
    other = folder / before[1]["key"]
    assert json.loads((other / "summary.json").read_text())["status"] == "trained"
    assert not (other / "test").exists()

    wider = skillopt("-m", *SMALL, "optimizer.learning_rate=1,2,3", cwd=tmp_path)
    assert wider.returncode == 0, wider.stderr
    after = {row["name"]: row for row in leaderboard(folder)}
    assert {name: row["reused"] for name, row in after.items()} == {
        "learning_rate=1": "true", "learning_rate=2": "true", "learning_rate=3": "false",
    }  # fmt: skip
    for row in before:
        assert after[row["name"]]["key"] == row["key"]
        assert after[row["name"]]["val_hard"] == row["val_hard"]

    again = skillopt("resume", f"sweep={folder}", cwd=tmp_path.parent)
    assert again.returncode == 0, again.stderr
    assert [row["reused"] for row in leaderboard(folder)] == ["true"] * 3

    # As a kill leaves a job that has its summary, and whose end nobody else has heard of.
    for name in ("done", "items.png", "report.html"):
        (other / name).unlink()
    told = skillopt("resume", f"sweep={folder}", cwd=tmp_path.parent)
    assert told.returncode == 0, told.stderr
    assert (other / "done").exists()
    assert (other / "items.png").exists()
    assert [row["reused"] for row in leaderboard(folder)].count("false") == 1


def test_a_canary_that_cannot_run_stops_the_sweep(tmp_path: Path) -> None:
    done = skillopt("-m", *SMALL, "train.batch_size=999,4", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("error: ") == 1
    assert "999" in done.stderr
    rows = leaderboard(tmp_path / "multirun" / "demo-batch_size")
    assert [row["status"] for row in rows] == ["failed", "not begun"]


def test_a_job_that_fails_leaves_its_traceback_and_its_siblings_go_on(tmp_path: Path) -> None:
    command = ("-m", *SMALL, "train.num_epochs=0", "train.batch_size=4,999,5")
    done = skillopt(*command, cwd=tmp_path)
    assert done.returncode == 2
    folder = tmp_path / "multirun" / "demo-batch_size"
    rows = {row["name"]: row for row in leaderboard(folder)}
    assert [rows[f"batch_size={size}"]["status"] for size in (4, 999, 5)] == [
        "finished",
        "failed",
        "finished",
    ]
    log = (folder / rows["batch_size=999"]["key"] / "skillopt_exp.log").read_text()
    assert "Traceback" in log
    assert "999" in log
    stopping = skillopt(*command, "sweep.on_error=stop", "sweep.fresh=true", cwd=tmp_path)
    assert stopping.returncode == 2
    statuses = {row["name"]: row["status"] for row in leaderboard(folder)}
    assert statuses["batch_size=5"] == "not begun"
    assert len(list((tmp_path / "multirun").glob("demo-batch_size.before-*/leaderboard.csv"))) == 1


@pytest.mark.slow
def test_every_job_is_tested_where_that_is_asked(tmp_path: Path) -> None:
    command = ("-m", *SMALL, "train.seed=1,2", "sweep.name=mine")
    assert skillopt(*command, cwd=tmp_path).returncode == 0
    done = skillopt(*command, "sweep.test_all=true", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    rows = leaderboard(tmp_path / "multirun" / "mine")
    assert all(row["test_hard"] for row in rows)


@pytest.mark.parametrize("name", ["a/b", "..", "", "a\nb"])
def test_a_name_that_is_no_folder_is_refused(name: str, tmp_path: Path) -> None:
    done = skillopt("-m", *SMALL, "train.seed=1,2", f"sweep.name='{name}'", cwd=tmp_path)
    assert done.returncode == 2
    assert "sweep.name" in done.stderr
    assert not (tmp_path / "multirun").exists()
