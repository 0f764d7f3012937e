"""``doctor`` as a user meets it: the table, the exit code, nothing left behind."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from doctor.obedient import KEY, Obedient
from llm.misbehaving import refuses

ROOT = Path(__file__).parents[2]


def doctor(
    *arguments: str, cwd: Path, columns: int = 80, **environment: str
) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "skillopt_exp", "doctor", *arguments],
        cwd=cwd,
        env=clean | {"PYTHONPATH": str(ROOT), "COLUMNS": str(columns)} | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def words(done: subprocess.CompletedProcess[str]) -> str:
    """What was printed, as one line."""
    return " ".join(done.stdout.split())


@pytest.fixture
def served() -> Iterator[Obedient]:
    served = Obedient()
    yield served
    served.close()


def at(served: Obedient) -> list[str]:
    return ["model=openai_compatible"] + [
        f"model.{role}.{key}"
        for role in ("target", "optimizer")
        for key in (f"base_url={served.url}", "name=small", "api_key_env=DEEPSEEK_API_KEY", "max_retries=0")
    ]


@pytest.mark.parametrize("columns", [80, 120])
def test_the_simulated_models_are_ready_offline(columns: int, tmp_path: Path) -> None:
    done = doctor("dataset=demo", "model=simulated", cwd=tmp_path, columns=columns)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= columns
    assert {line.split()[0] for line in lines if line and not line.startswith(" ")} == {"ok", "ready:"}
    for said in ("python", "disk", "data", "mlflow", "keys", "target", "optimizer", "JSON mode: taken"):
        assert said in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_one_key_serves_every_check_and_is_never_printed(served: Obedient, tmp_path: Path) -> None:
    done = doctor(*at(served), "tracking=none", cwd=tmp_path, DEEPSEEK_API_KEY=KEY)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "DEEPSEEK_API_KEY is set" in words(done)
    assert f"at {served.url}/chat/completions" in words(done)
    assert KEY not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_worst_problem_is_the_exit_code_and_each_says_what_to_do(
    served: Obedient, tmp_path: Path
) -> None:
    served.server.decide = lambda asked: refuses(401, f"Incorrect API key provided: {KEY}")
    done = doctor("dataset=searchqa", *at(served), "tracking=none", cwd=tmp_path, DEEPSEEK_API_KEY=KEY)
    assert done.returncode == 4
    for said in ("dataset.split_dir", "Is the key in DEEPSEEK_API_KEY right", "3 problems: a run would stop"):
        assert said in words(done)
    assert KEY not in done.stdout + done.stderr


def test_a_missing_key_is_a_problem_of_use(tmp_path: Path) -> None:
    done = doctor("dataset=demo", "tracking=none", cwd=tmp_path)
    assert done.returncode == 2
    assert "DEEPSEEK_API_KEY is not set" in words(done)
    assert "export DEEPSEEK_API_KEY=..." in words(done)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["model.target.nam=x"], "did you mean model.target.name"),
        (["model.target.api_key=sk-planted-0001"], "environment variable"),
    ],
)
def test_what_cannot_be_composed_is_told_as_for_training(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    done = doctor(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert "sk-planted" not in done.stderr


def test_a_server_on_this_machine_that_does_not_run_is_told_with_how_to_start_it(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    roles = [f"model.{role}.{key}" for role in ("target", "optimizer") for key in ("name=m", "max_retries=0")]
    quiet = f"model.target.base_url=http://localhost:{port}/v1"
    done = doctor("dataset=demo", "model=vllm", *roles, quiet, "tracking=none", cwd=tmp_path)
    assert done.returncode == 4
    assert f"nothing listens at localhost:{port}: start the server, or say where it is" in words(done)
    if "nothing listens at localhost:8000" in words(done):  # unless something does
        assert "start the server (vllm serve m)" in words(done)


def test_the_store_of_answers_is_looked_at_and_not_made(tmp_path: Path) -> None:
    done = doctor("dataset=demo", "model=simulated", "tracking=none", "cache.path=.", cwd=tmp_path)
    assert done.returncode == 2
    assert "is a folder, not a database" in words(done)
    assert list(tmp_path.iterdir()) == []


def test_help_names_the_exit_codes(tmp_path: Path) -> None:
    done = doctor("--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "2 use, 3 data, 4 provider" in done.stdout
