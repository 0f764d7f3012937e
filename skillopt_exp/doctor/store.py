"""The stores of answers and of MLflow: whether they can be used. What is not there is not made."""

import sqlite3
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from skillopt_exp.checks.stores import check_answers, check_tracking
from skillopt_exp.config.spending import CacheConfig, CacheMode
from skillopt_exp.config.tracking import Backend, TrackingConfig
from skillopt_exp.doctor.finding import Finding, fine, problem, raised, warned
from skillopt_exp.errors import UsageError
from skillopt_exp.runs.answers import answers_path
from skillopt_exp.tracking.store import Store, connect, resolve, unusable

SECONDS = 10.0
"""How long a tracking server may take to tell its version."""

_WITHOUT = "mend it, name another with tracking.uri=..., or go without: tracking=none"


def examine_answers(cache: CacheConfig, *, base: Path) -> Finding:
    """Where answers are kept, and how large that is. ``base`` is the launch folder."""
    for error in check_answers(cache, base=base).problems:
        return raised("answers", error)
    if cache.mode is CacheMode.none:
        return fine("answers", "not kept: what is asked again is paid for again")
    file = answers_path(cache, base=base)
    if not file.exists():
        return fine("answers", f"the first run makes {file}")
    return fine("answers", f"{file} holds {file.stat().st_size / 1e6:,.1f} MB")


def examine_store(config: TrackingConfig, *, base: Path) -> Finding:
    """Where runs would be kept besides their folders. ``base`` is the launch folder."""
    if config.backend is not Backend.mlflow:
        return fine("mlflow", "not used: runs are kept in their folders alone")
    for error in check_tracking(config, base=base).problems:
        return raised("mlflow", error)
    try:
        store = resolve(config.uri, base)
        if store.database is not None:
            return _database(store, store.database)
        if store.is_server:
            return _server(store)
        return _opened(store, f"MLflow {version('mlflow')} at {store.shown}")
    except UsageError as error:
        return raised("mlflow", error)


def _database(store: Store, file: Path) -> Finding:
    mlflow = f"MLflow {version('mlflow')}"
    if not file.exists():
        return fine("mlflow", f"{mlflow}; the first run makes {file}")
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
            revision = (
                connection.execute("SELECT version_num FROM alembic_version").fetchone()
                if "alembic_version" in tables
                else None
            )
    except sqlite3.Error as error:
        return problem("mlflow", f"{file} is no database that can be read ({error})", UsageError, _WITHOUT)
    if revision is None:
        if tables:
            return problem("mlflow", f"{file} is a database of something else", UsageError, _WITHOUT)
        return fine("mlflow", f"{mlflow}; {file} is empty, and the first run fills it")
    return _opened(store, f"{mlflow} at {file}, schema {revision[0]}")


def _server(store: Store) -> Finding:
    """Asked without MLflow's own client, which takes minutes to give up."""
    import httpx2

    ours = version("mlflow")
    try:
        response = httpx2.get(f"{store.uri.rstrip('/')}/version", timeout=SECONDS)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        said = f"nothing answers at {store.shown} ({type(error).__name__})"
        return problem("mlflow", said, UsageError, "start the server, or " + _WITHOUT)
    if response.status_code != 200:
        said = f"{store.shown} answers HTTP {response.status_code} when asked for its version"
        return problem("mlflow", said, UsageError, _WITHOUT)
    theirs = response.text.strip()[:40]
    finding = _opened(store, f"MLflow {ours} here, server {theirs} at {store.shown}")
    if not finding.exit_code and theirs.split(".")[0] != ours.split(".")[0]:
        return warned("mlflow", finding.said, "the major versions differ; use the same on both sides")
    return finding


def _opened(store: Store, said: str) -> Finding:
    """Open it as a run would, and count its experiments."""
    client = connect(store)
    from mlflow.exceptions import MlflowException

    try:
        count = len(client.search_experiments(max_results=1000))
    except (MlflowException, OSError) as error:
        raise unusable(store, error) from error
    return fine("mlflow", f"{said}: reachable, {count} experiment{'' if count == 1 else 's'}")
