"""The MLflow run of a sweep: the runs of its jobs are nested in it, their comparison is kept in it.

What MLflow does not take once jobs have run never ends the sweep: its folder has everything.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp import __version__
from skillopt_exp.config.tracking import TrackingConfig
from skillopt_exp.errors import DataError
from skillopt_exp.redaction import redact
from skillopt_exp.runs.codec import to_json
from skillopt_exp.runs.files import write_atomic
from skillopt_exp.sweeps.folder import Failure, JobPlace, Parent, SweepFolder, SweepRecord
from skillopt_exp.sweeps.leaderboard import HEAD, JobStatus, Row, table_rows
from skillopt_exp.tracking.mlflow_tracker import NAME_TAG, PARENT_TAG, Child
from skillopt_exp.tracking.names import PARAM_LIMIT, TAG_LIMIT, cut, safe_key
from skillopt_exp.tracking.provenance import experiment_name, tracked
from skillopt_exp.tracking.session import TrackedRun, tracked_run
from skillopt_exp.tracking.source import git_commit
from skillopt_exp.tracking.store import Store, connect, experiment, in_brief, resolve, unusable

if TYPE_CHECKING:
    from mlflow import MlflowClient

_log = logging.getLogger(__name__)
_TABLE = "leaderboard.json"


class SweepRun:
    """Opened before the first job, so that the tables of a new store are there when jobs want them.

    Raises:
        UsageError: ``tracking.uri`` names a kind of store that MLflow does not keep runs in.
    """

    def __init__(self, config: TrackingConfig, *, base: Path, dataset: str) -> None:
        self._store: Store = resolve(config.uri, base)
        self._name = experiment_name(config, dataset)
        self._base = base.absolute()
        self._client: MlflowClient | None = None
        self._parent: Parent | None = None

    @property
    def ui_command(self) -> str:
        """What to type to see the runs."""
        return self._store.ui_command

    @property
    def link(self) -> str:
        """The page of the sweep's run."""
        assert self._parent is not None, "open comes first"
        return self._store.link(self._parent.experiment_id, self._parent.run_id)

    def open(self, folder: SweepFolder, record: SweepRecord, choices: Mapping[str, str]) -> Parent:
        """Begin the run, or go on with the one that ``record`` names.

        Raises:
            UsageError: the store cannot be used. Nothing was paid for yet.
        """
        self._client = client = connect(self._store)
        from mlflow.exceptions import MlflowException

        try:
            parent = self._earlier(client, record.parent)
            if parent is None:
                experiment_id = experiment(client, self._store, self._name)
                run = client.create_run(experiment_id, run_name=folder.path.name)
                parent = Parent(experiment_id, run.info.run_id)
            self._parent = parent
            tags = {
                NAME_TAG: folder.path.name,
                "kind": "sweep",
                "status": "running",
                "sweep_folder": self._relative(folder.path),
                "skillopt_exp": __version__,
                "command": " ".join(record.arguments),
                **{f"choice.{group}": name for group, name in choices.items()},
            }
            commit = git_commit(self._base)
            if commit is not None:
                tags["mlflow.source.git.commit"] = commit
            self._tag(parent.run_id, tags)
            client.log_artifact(parent.run_id, str(folder.record_file))
            client.log_artifact(parent.run_id, str(folder.multirun))
        except (MlflowException, OSError) as error:
            raise unusable(self._store, error) from error
        return parent

    def end(
        self, folder: SweepFolder, rows: Sequence[Row], best: Row | None, places: Sequence[JobPlace]
    ) -> None:
        """The leaderboard, the winner's skill, the jobs that failed, and how it all ended."""
        assert self._parent is not None, "open comes first"
        run_id, client = self._parent.run_id, self._open_client
        for place, row in zip(places, rows, strict=True):
            self._try(f"take job {row.job.number}", lambda place=place: self._settle(place))  # type: ignore[misc]
        table = {"columns": list(HEAD), "data": table_rows(rows)}
        self._try("take the leaderboard", lambda: client.log_dict(run_id, table, _TABLE))
        for file in (folder.leaderboard, folder.plot, folder.best_skill):
            if file.exists():
                self._try("take the sweep's files", lambda file=file: client.log_artifact(run_id, str(file)))  # type: ignore[misc]
        ended = {status: sum(row.status is status for row in rows) for status in JobStatus}
        status = "FINISHED" if ended[JobStatus.finished] == len(rows) else "FAILED"
        if not ended[JobStatus.failed] and status == "FAILED":
            status = "KILLED"
        tags = {
            "status": status.lower(),
            # What MLflow shows as a table: the same mark that its own log_table leaves.
            "mlflow.loggedArtifacts": json.dumps([{"path": _TABLE, "type": "table"}]),
            **({} if best is None else {"winner": best.job.name, "winner_run_folder": best.job.key}),
        }
        self._try("take the tags", lambda: self._tag(run_id, tags))
        self._try("take the metrics", lambda: self._metrics(run_id, rows, best))
        self._try("end the run", lambda: client.set_terminated(run_id, status))

    def _metrics(self, run_id: str, rows: Sequence[Row], best: Row | None) -> None:
        from mlflow.entities import Metric

        costs = [row.cost_usd for row in rows if row.cost_usd is not None]
        values: dict[str, float | None] = {
            "sweep/jobs": len(rows),
            "sweep/jobs_finished": sum(row.status is JobStatus.finished for row in rows),
            "sweep/jobs_failed": sum(row.status is JobStatus.failed for row in rows),
            "sweep/cost_usd": sum(costs),
            "sweep/calls": sum(row.calls for row in rows),
            "sweep/reused_calls": sum(row.reused_calls for row in rows),
            "best_selection_hard": None if best is None else best.val_hard,
            "test_hard": None if best is None else best.test_hard,
        }
        now = int(time.time() * 1000)
        points = [Metric(name, value, now, 0) for name, value in values.items() if value is not None]
        self._open_client.log_batch(run_id, metrics=points)

    def _settle(self, place: JobPlace) -> None:
        """Nest a job's run; that of a job which failed says so, also where the job never came to begin it."""
        assert self._parent is not None
        child = Child(place.job.name, self._parent.run_id)
        failure = place.failure()
        found = tracked_run(place.path)
        if found is None:
            if failure is not None:
                self._run_of_a_failure(place, child, failure)
            return
        self._tag(found.run_id, {PARENT_TAG: self._parent.run_id, **_of(failure)})

    def _run_of_a_failure(self, place: JobPlace, child: Child, failure: Failure) -> None:
        assert self._parent is not None
        run = self._open_client.create_run(self._parent.experiment_id, run_name=child.name)
        self._tag(run.info.run_id, {**child.tags, "run_folder": self._relative(place.path), **_of(failure)})
        params = dict(override.split("=", 1) for override in place.job.overrides)
        for key, value in params.items():
            self._open_client.log_param(run.info.run_id, safe_key(key), cut(redact(value), PARAM_LIMIT))
        self._open_client.set_terminated(run.info.run_id, "KILLED" if failure.resumable else "FAILED")
        # The next attempt goes on with this run.
        kept: TrackedRun = tracked(self._store, run)
        write_atomic(place.path / "mlflow.json", to_json(kept, indent=2) + "\n")

    def _earlier(self, client: "MlflowClient", parent: Parent | None) -> Parent | None:
        from mlflow.exceptions import MlflowException

        if parent is None:
            return None
        try:
            run = client.get_run(parent.run_id)
            if run.info.lifecycle_stage == "deleted":
                return None
            client.update_run(parent.run_id, status="RUNNING")
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            _log.warning("MLflow at %s has no run %s; a new one is begun", self._store.shown, parent.run_id)
            return None
        return parent

    def _tag(self, run_id: str, tags: Mapping[str, str]) -> None:
        from mlflow.entities import RunTag

        entries = [RunTag(safe_key(key), cut(redact(value), TAG_LIMIT)) for key, value in tags.items()]
        self._open_client.log_batch(run_id, tags=entries)

    def _relative(self, path: Path) -> str:
        whole = path.absolute()
        return str(whole.relative_to(self._base) if whole.is_relative_to(self._base) else whole)

    @property
    def _open_client(self) -> "MlflowClient":
        assert self._client is not None, "open comes first"
        return self._client

    def _try(self, what: str, action: Callable[[], object]) -> None:
        from mlflow.exceptions import MlflowException

        try:
            action()
        except (MlflowException, OSError, DataError) as error:
            said = in_brief(error)
            _log.warning(
                "MLflow at %s did not %s (%s); the sweep's folder has it", self._store.shown, what, said
            )


def _of(failure: Failure | None) -> dict[str, str]:
    """Tags that say how a job failed; the end of the traceback says most."""
    if failure is None:
        return {}
    return {
        "status": "stopped" if failure.resumable else f"failed({failure.kind})",
        "cause": failure.message,
        "traceback": failure.traceback[-TAG_LIMIT:],
    }
