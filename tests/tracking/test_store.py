"""Where runs are kept: said absolutely, opened safely, refused with what to type."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from skillopt_exp.errors import UsageError
from skillopt_exp.tracking.session import tracked_run
from skillopt_exp.tracking.source import git_commit
from skillopt_exp.tracking.store import Store, connect, experiment, resolve

BASE = Path("/work space/ü")


def test_nothing_given_is_a_database_in_the_launch_folder_with_its_artifacts_beside_it() -> None:
    store = resolve(None, BASE)
    assert store.uri == "sqlite:////work space/ü/mlflow.db"
    assert store.artifacts == "file:///work%20space/%C3%BC/mlartifacts"
    assert store.ui_command == "mlflow ui --backend-store-uri 'sqlite:////work space/ü/mlflow.db'"
    assert store.link("3", "abc") == "http://127.0.0.1:5000/#/experiments/3/runs/abc"


@pytest.mark.parametrize(
    ("uri", "database"),
    [
        ("sqlite:///runs/all.db", "/work space/ü/runs/all.db"),
        ("sqlite:////srv/all.db", "/srv/all.db"),
        ("sqlite:////srv/100%25%3F.db", "/srv/100%?.db"),
    ],
)
def test_a_database_file_is_taken_from_the_launch_folder(uri: str, database: str) -> None:
    store = resolve(uri, BASE)
    assert store.database == Path(database)
    assert resolve(store.uri, Path("/elsewhere")) == store


@pytest.mark.parametrize(
    "uri", ["http://host:5000", "https://host/mlflow/", "postgresql+psycopg2://host/db", "databricks://me"]
)
def test_servers_and_other_databases_keep_their_own_artifacts(uri: str) -> None:
    store = resolve(uri, BASE)
    assert (store.uri, store.database, store.artifacts) == (uri, None, None)


def test_the_page_of_a_run_on_a_server_is_the_servers() -> None:
    store = resolve("https://host/mlflow/", BASE)
    assert store.link("3", "abc") == "https://host/mlflow/#/experiments/3/runs/abc"
    assert store.ui_command == "python -m webbrowser https://host/mlflow/"


def test_a_password_is_never_shown() -> None:
    store = Store("postgresql://me:geheim@host/db")
    assert "geheim" not in store.shown + store.ui_command + store.link("1", "2")
    assert store.shown.endswith("@host/db")


@pytest.mark.parametrize(
    ("uri", "typed"),
    [
        ("file:///srv/mlruns", "tracking.uri=sqlite:////srv/mlflow.db"),
        ("./mlruns", "tracking.uri=sqlite:////work space/ü/mlflow.db"),
        ("/srv/mlruns", "tracking.uri=sqlite:////srv/mlflow.db"),
        ("runs/mine.db", "tracking.uri=sqlite:////work space/ü/runs/mine.db"),
        ("C:\\runs", "tracking.uri=sqlite:////work space/ü/mlflow.db"),
    ],
)
def test_a_folder_of_files_is_refused_with_what_to_type(uri: str, typed: str) -> None:
    with pytest.raises(UsageError) as caught:
        resolve(uri, BASE)
    assert typed in str(caught.value)


@pytest.mark.parametrize("uri", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite:runs.db"])
def test_a_database_that_keeps_nothing_is_refused(uri: str) -> None:
    with pytest.raises(UsageError, match=r"give a file: sqlite:///mlflow\.db"):
        resolve(uri, BASE)


def test_a_file_that_is_no_database_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_text("This is a letter to my aunt. " * 50, encoding="utf-8")
    with pytest.raises(UsageError, match=r"mlflow\.db cannot be used: file is not a database.*tracking=none"):
        connect(resolve(None, tmp_path))


def test_a_place_that_cannot_hold_a_database_is_named_at_once(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").mkdir()
    with pytest.raises(UsageError, match="cannot be used: unable to open database file"):
        connect(resolve(None, tmp_path))
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match=r"cannot be used: .*(Not a directory|File exists)"):
        connect(resolve("sqlite:///file/below/mlflow.db", tmp_path))


def test_a_database_of_another_version_is_not_touched(tmp_path: Path, store_base: Path) -> None:
    copy = tmp_path / "mlflow.db"
    copy.write_bytes((store_base / "mlflow.db").read_bytes())
    with sqlite3.connect(copy) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'future'")
    connection.close()
    with pytest.raises(UsageError, match="cannot be used: Detected out-of-date database schema"):
        connect(resolve(None, tmp_path))


def test_a_server_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    store = resolve("http://127.0.0.1:9", BASE)
    with pytest.raises(UsageError, match=r"the MLflow store http://127\.0\.0\.1:9 cannot be used"):
        experiment(connect(store), store, "skillopt/demo")


def test_a_deleted_experiment_is_named_with_the_way_back(store_base: Path) -> None:
    store = resolve(None, store_base)
    client = connect(store)
    made = experiment(client, store, "skillopt/deleted")
    assert experiment(client, store, "skillopt/deleted") == made
    client.delete_experiment(made)
    with pytest.raises(UsageError, match=rf"mlflow experiments restore -x {made}"):
        experiment(client, store, "skillopt/deleted")


def test_the_commit_of_a_folder_is_known_in_git_alone(tmp_path: Path) -> None:
    assert git_commit(tmp_path / "nowhere") is None
    environment = {
        **os.environ,
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    for command in (
        ["init", "-q"],
        ["-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", "first"],
    ):
        subprocess.run(["git", *command], cwd=tmp_path, env=environment, check=True)
    commit = git_commit(tmp_path)
    assert commit is not None
    assert len(commit) == 40


STARTERS = """
import os, sys
from pathlib import Path
import mlflow.store.tracking.sqlalchemy_store  # once for all: importing takes longer than what is tested
import sample_run
from skillopt_exp.config.tracking import TrackingConfig
from skillopt_exp.tracking.mlflow_tracker import MlflowTracker

base = Path(sys.argv[1])
wait, go = os.pipe()
children = []
for number in range(8):
    child = os.fork()
    if child == 0:
        os.close(go)
        os.read(wait, 1)  # ends for all at once, when the parent closes its end
        tracker = MlflowTracker(TrackingConfig(), base=base)
        tracker.opened(sample_run.opening(base / "outputs" / str(number)))
        os._exit(0)
    children.append(child)
os.close(go)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
sys.exit(sum(code != 0 for code in codes))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_eight_processes_that_start_on_a_fresh_store_all_succeed(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "MLFLOW_DISABLE_TELEMETRY": "true"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", STARTERS, tmp_path],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr

    client = connect(resolve(None, tmp_path))
    (made,) = [each for each in client.search_experiments() if each.name == "skillopt/demo"]
    assert made.artifact_location == (tmp_path / "mlartifacts").as_uri()
    runs = {run.info.run_id for run in client.search_runs([made.experiment_id])}
    folders = [tmp_path / "outputs" / str(number) for number in range(8)]
    assert {known.run_id for folder in folders if (known := tracked_run(folder))} == runs
    assert len(runs) == 8
    assert not (tmp_path / "mlruns").exists()
