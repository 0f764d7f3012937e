"""What stops a command says how to go on with that command, and not with another."""

import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm.misbehaving import MisbehavingServer, refuses
from serving import ROOT, roles_at, skillopt

DEMO = ("dataset=demo", "dataset.limit=40", "tracking=none")
HASTY = ("model.target.max_retries=0", "model.max_error_rate=0")


@pytest.fixture
def down() -> Iterator[MisbehavingServer]:
    """A provider that is out."""
    server = MisbehavingServer()
    server.answers = [refuses(503, "down")]
    yield server
    server.close()


@pytest.fixture(autouse=True)
def _skill(tmp_path: Path) -> None:
    (tmp_path / "good.md").write_text("- Answer with the bare name.\n", encoding="utf-8")


def test_an_outage_of_training_is_resumed(down: MisbehavingServer, tmp_path: Path) -> None:
    stopped = skillopt(*DEMO, *roles_at(down.url), *HASTY, cwd=tmp_path)
    assert stopped.returncode == 75, stopped.stderr
    assert stopped.stderr.startswith("error: the run pauses, and nothing was scored because of it: ")
    assert "Look at the provider's status page, then resume the run" in stopped.stderr
    assert "python -m skillopt_exp resume run=" in stopped.stdout


def test_an_outage_of_an_evaluation_is_given_again(down: MisbehavingServer, tmp_path: Path) -> None:
    stopped = skillopt("eval", "skill=good.md", *DEMO, *roles_at(down.url), *HASTY, cwd=tmp_path)
    assert stopped.returncode == 75, stopped.stderr
    assert "error: the evaluation stops, and nothing was scored because of it: " in stopped.stderr
    assert stopped.stderr.count("give the same command again") == 1
    assert "resume" not in stopped.stderr + stopped.stdout


def test_an_outage_in_a_cell_of_a_matrix_is_given_again(down: MisbehavingServer, tmp_path: Path) -> None:
    stopped = skillopt("transfer", "skill=good.md", *DEMO, *roles_at(down.url), *HASTY, cwd=tmp_path)
    assert stopped.returncode == 75, stopped.stderr
    told = " ".join((stopped.stderr + stopped.stdout).split())
    assert "the evaluation stops" in told
    assert "resume" not in told


def test_a_check_of_a_provider_that_is_out_speaks_of_no_run(down: MisbehavingServer, tmp_path: Path) -> None:
    checked = skillopt("doctor", *DEMO, *roles_at(down.url), *HASTY, cwd=tmp_path)
    assert checked.returncode == 4, checked.stderr
    told = " ".join(checked.stdout.split())
    assert "then check again" in told
    assert "resume" not in told
    assert "scored" not in told
    assert "the run pauses" not in told


def on_a_small_disk(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """The command line, where no file may have more than so many bytes."""
    return subprocess.run(
        [sys.executable, "-m", "skillopt_exp", *arguments],
        cwd=cwd,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000)),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_a_full_disk_under_an_evaluation_is_no_matter_of_resuming(tmp_path: Path) -> None:
    stopped = on_a_small_disk("eval", "skill=good.md", *DEMO, "model=simulated", cwd=tmp_path)
    assert stopped.returncode == 75, stopped.stderr
    assert "cannot be written: File too large" in stopped.stderr
    assert "make room on the disk, or allow writing there" in stopped.stderr
    assert "give the same command again" in stopped.stderr
    assert "resume" not in stopped.stderr
