"""Where MLflow keeps runs, and a client for it. The only module that opens a store.

The process-global parts of MLflow (its active run, its tracking URI) are never used, so that runs
in one process or in many cannot touch each other.
"""

import logging
import os
import shlex
import sqlite3
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from skillopt_exp.errors import UsageError
from skillopt_exp.redaction import redact

if TYPE_CHECKING:
    from mlflow import MlflowClient

_SQLITE = "sqlite:///"
_LOCK_SECONDS = 180.0
_ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    # It prints emoji, which a terminal that is not UTF-8 refuses with an exception.
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    # A server that is gone must not hold up a run for the four minutes of MLflow's own seven retries.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "3",
}
"""What MLflow reads, unless the user has set it."""


@dataclass(frozen=True, slots=True)
class Store:
    """A tracking URI without relative parts; ``database`` is the file of a SQLite store."""

    uri: str
    database: Path | None = None

    @property
    def artifacts(self) -> str | None:
        """Where a new experiment keeps its artifacts, as a file URI; None leaves it to the server.

        Left alone, MLflow would put those of a SQLite store into ``mlruns`` of whatever folder the
        process happens to work in.
        """
        return None if self.database is None else (self.database.parent / "mlartifacts").as_uri()

    @property
    def shown(self) -> str:
        """The URI without its password: what may be printed and written down."""
        return redact(self.uri)

    @property
    def is_server(self) -> bool:
        return urlsplit(self.uri).scheme in ("http", "https")

    @property
    def ui_command(self) -> str:
        """What to type to see the runs, for a POSIX shell."""
        if self.is_server:
            return f"python -m webbrowser {shlex.quote(self.shown)}"
        return f"mlflow ui --backend-store-uri {shlex.quote(self.shown)}"

    def link(self, experiment_id: str, run_id: str) -> str:
        """The page of one run, where ``ui_command`` serves it."""
        host = self.shown.rstrip("/") if self.is_server else "http://127.0.0.1:5000"
        return f"{host}/#/experiments/{experiment_id}/runs/{run_id}"


def resolve(uri: str | None, launch_folder: Path) -> Store:
    """The store that ``tracking.uri`` names; None is ``mlflow.db`` in the launch folder.

    Raises:
        UsageError: a kind of store that MLflow does not keep runs in.
    """
    if uri is None:
        return _sqlite_store(launch_folder.absolute() / "mlflow.db")
    scheme = urlsplit(uri).scheme
    if scheme == "sqlite":
        file = unquote(uri.removeprefix(_SQLITE).partition("?")[0])
        if not uri.startswith(_SQLITE) or file in ("", ":memory:"):
            raise UsageError(
                f"tracking.uri is {uri!r}, which keeps nothing; give a file: sqlite:///mlflow.db"
            )
        return _sqlite_store(launch_folder.absolute() / file)
    if scheme == "file" or len(scheme) <= 1:  # no scheme, or the drive of a Windows path
        folder = launch_folder.absolute() / (unquote(urlsplit(uri).path) if scheme == "file" else uri)
        database = folder if folder.suffix == ".db" else folder.parent / "mlflow.db"
        raise UsageError(
            f"tracking.uri is {uri!r}; MLflow no longer keeps runs in a folder of plain files. "
            f"Use a database, tracking.uri={_sqlite_store(database).uri}, or a server, "
            "tracking.uri=http://host:5000"
        )
    return Store(uri)


def connect(store: Store) -> "MlflowClient":
    """A client of ``store``, its tables made if they are missing. The first one imports MLflow (1.5 s).

    Raises:
        UsageError: the store cannot be opened; says why.
    """
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with warnings.catch_warnings(), _locked(store):
        # MLflow uses what its own dependencies deprecate; nobody here can act on it.
        warnings.simplefilter("ignore", DeprecationWarning)
        from alembic.util import CommandError
        from mlflow import MlflowClient
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        for noisy in ("alembic", "mlflow.store.db.utils"):
            logging.getLogger(noisy).setLevel(logging.WARNING)
        try:
            return MlflowClient(tracking_uri=store.uri)
        except (MlflowException, SQLAlchemyError, CommandError, ImportError) as error:
            raise unusable(store, error) from error


def experiment(client: "MlflowClient", store: Store, name: str) -> str:
    """The id of the experiment ``name``, made if it is missing, however many ask at once.

    Raises:
        UsageError: it was deleted, or the store refuses it.
    """
    from mlflow.exceptions import MlflowException

    try:
        found = client.get_experiment_by_name(name)
        if found is None:
            try:
                return client.create_experiment(name, artifact_location=store.artifacts)
            except MlflowException as error:
                if error.error_code != "RESOURCE_ALREADY_EXISTS":
                    raise
            found = client.get_experiment_by_name(name)
            assert found is not None, "an experiment that exists can be read"
    except (MlflowException, OSError) as error:
        raise unusable(store, error) from error
    if found.lifecycle_stage == "deleted":
        raise UsageError(
            f"the MLflow experiment {name!r} was deleted; restore it with MLFLOW_TRACKING_URI="
            f"{shlex.quote(store.shown)} mlflow experiments restore -x {found.experiment_id}, "
            "or name another with tracking.experiment=..."
        )
    return found.experiment_id


def unusable(store: Store, cause: Exception) -> UsageError:
    """The message for a store that does not work."""
    return UsageError(
        f"the MLflow store {store.shown} cannot be used: {in_brief(cause)}. "
        "Mend it or name another with tracking.uri=..., or go without: tracking=none"
    )


def in_brief(error: Exception) -> str:
    """The first line of what MLflow says (more is statements and addresses), without passwords."""
    text = str(error).strip() or type(error).__name__
    return redact(text.splitlines()[0]).rstrip(".")


def _sqlite_store(file: Path) -> Store:
    # In such a URI % begins an escape and ? the options.
    return Store(_SQLITE + file.as_posix().replace("%", "%25").replace("?", "%3F"), file)


@contextmanager
def _locked(store: Store) -> Iterator[None]:
    """One process at a time makes or migrates the tables of a SQLite store: at once they all fail."""
    if store.database is None:
        yield
        return
    from filelock import FileLock, Timeout

    try:
        store.database.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{store.database}.lock", timeout=_LOCK_SECONDS):
            # MLflow would try for two minutes to open a file that cannot be opened.
            with closing(sqlite3.connect(store.database)) as connection:
                connection.execute("PRAGMA user_version").fetchone()
            yield
    except (OSError, sqlite3.Error, Timeout) as error:
        raise unusable(store, error) from error
