"""The watcher that keeps a run in MLflow."""

import logging
import traceback
from asyncio import CancelledError
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp.config.tracking import TrackingConfig
from skillopt_exp.errors import InterruptedRun, OutageError, SkillOptError
from skillopt_exp.records import (
    NO_CALLS,
    ACall,
    Metric,
    Rollout,
    ScoredSkill,
    Skill,
    StepTrace,
    Summary,
    mean,
)
from skillopt_exp.redaction import redact
from skillopt_exp.tracking.metrics import baseline_metrics, step_metrics
from skillopt_exp.tracking.names import TAG_LIMIT
from skillopt_exp.tracking.provenance import experiment_name, provenance, tracked
from skillopt_exp.tracking.session import RunSession, TrackedRun, tracked_run
from skillopt_exp.tracking.stale import mark_stale
from skillopt_exp.tracking.store import Store, connect, experiment, resolve, unusable
from skillopt_exp.watch import Opening, Watcher

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run

_log = logging.getLogger(__name__)

_STOPS = (KeyboardInterrupt, CancelledError)

PARENT_TAG, NAME_TAG = "mlflow.parentRunId", "mlflow.runName"
"""What MLflow nests a run by, and reads its name from."""


@dataclass(frozen=True, slots=True)
class Child:
    """What the MLflow run of a sweep's job is: its name, and the run of the sweep that it is nested in.

    ``parent`` is None where MLflow does not keep the sweep.
    """

    name: str
    parent: str | None

    @property
    def tags(self) -> dict[str, str]:
        """What nests the run, and what it is called; a run that goes on may have a new parent."""
        nested = {} if self.parent is None else {PARENT_TAG: self.parent}
        return {NAME_TAG: self.name, **nested}


class MlflowTracker(Watcher):
    """Logs to one MLflow run. Stands after the run folder's recorder among the watchers: at the end it
    uploads what the recorder wrote.

    ``base`` is the folder that the command was given in. ``run_id`` continues that MLflow run; without
    it, a run folder that names its run in ``mlflow.json`` continues that one, any other starts a new one.
    ``child`` is what the run is in a sweep; without it, the run is called as its folder is.

    Raises:
        UsageError: ``tracking.uri`` names a kind of store that MLflow does not keep runs in.
    """

    def __init__(
        self, config: TrackingConfig, *, base: Path, run_id: str | None = None, child: Child | None = None
    ) -> None:
        self._store: Store = resolve(config.uri, base)
        self._config = config
        self._base = base.absolute()
        self._wanted_run_id = run_id
        self._child = child
        self._session: RunSession | None = None

    @property
    def run(self) -> TrackedRun | None:
        """Where the run is found in MLflow; None before ``opened``."""
        return None if self._session is None else self._session.run

    @property
    def ui_command(self) -> str:
        """What to type to see the runs; the page of this one is ``run.link``."""
        return self._store.ui_command

    def opened(self, opening: Opening) -> None:
        """Starts the run, or goes on with it.

        Raises:
            UsageError: the store cannot be used. Nothing was paid for yet.
        """
        client = connect(self._store)
        from mlflow.exceptions import MlflowException

        name = experiment_name(self._config, opening.dataset)
        try:
            run = self._earlier_run(client, opening.folder)
            if run is None:
                experiment_id = experiment(client, self._store, name)
                run_name = opening.folder.name if self._child is None else self._child.name
                run = client.create_run(experiment_id, run_name=run_name)
            self._session = RunSession(client, tracked(self._store, run), opening.folder)
            self._session.describe(opening, run, self._tags(opening))
            mark_stale(client, run.info.experiment_id, self._base, own=run.info.run_id)
        except (MlflowException, OSError) as error:
            raise unusable(self._store, error) from error

    def baseline(self, seed: ScoredSkill, selection: Sequence[Rollout]) -> None:
        self._open_session.log(0, baseline_metrics(seed))

    def step(self, trace: StepTrace) -> None:
        record = trace.record
        self._open_session.log(record.step, step_metrics(record))

    def tested(self, which: str, skill: Skill, rollouts: Sequence[Rollout], a_call: ACall = NO_CALLS) -> None:
        values = {
            f"test/{which}_{metric}": mean(rollout.score.value(metric) for rollout in rollouts)
            for metric in (Metric.hard, Metric.soft)
        }
        session = self._open_session
        session.log(session.last_step, {name: value for name, value in values.items() if value is not None})

    def finished(self, summary: Summary, best: ScoredSkill) -> None:
        self._open_session.end("FINISHED", summary, {})

    def failed(self, error: BaseException, summary: Summary | None) -> None:
        """FAILED, or KILLED when it was stopped from outside; the cause is a tag."""
        if self._session is not None:
            self._session.end(_status(error), summary, _cause(error))

    @property
    def _open_session(self) -> RunSession:
        assert self._session is not None, "opened comes first"
        return self._session

    def _earlier_run(self, client: "MlflowClient", folder: Path) -> "Run | None":
        """The MLflow run to go on with, running again; None where there is none."""
        from mlflow.exceptions import MlflowException

        earlier = tracked_run(folder)
        run_id = self._wanted_run_id
        if run_id is None and earlier is not None:
            run_id = earlier.run_id
        if run_id is None:
            return None
        try:
            run = client.get_run(run_id)
        except MlflowException as error:
            if error.error_code != "RESOURCE_DOES_NOT_EXIST":
                raise
            _log.warning("MLflow at %s has no run %s; a new one is started", self._store.shown, run_id)
            return None
        client.update_run(run_id, status="RUNNING")
        return run

    def _tags(self, opening: Opening) -> dict[str, str]:
        return {
            "dataset": opening.dataset,
            "target": opening.target,
            "optimizer": opening.optimizer,
            "simulated": str(opening.simulated).lower(),
            "status": "running",
            "gate": opening.gate,
            **{f"choice.{group}": name for group, name in opening.choices.items()},
            **provenance(
                folder=opening.folder,
                base=self._base,
                manifest_json=opening.manifest_json,
                called="run_folder",
            ),
            **({} if self._child is None else self._child.tags),
        }


def _status(error: BaseException) -> str:
    stopped = isinstance(error, (*_STOPS, InterruptedRun)) and not isinstance(error, OutageError)
    return "KILLED" if stopped else "FAILED"


def _cause(error: BaseException) -> dict[str, str]:
    """The message; of an error that nobody foresaw, also the end of its traceback."""
    if isinstance(error, _STOPS):
        return {"cause": f"stopped by the user or the system ({type(error).__name__})"}
    if isinstance(error, SkillOptError):
        return {"cause": str(error)}
    trace = redact("".join(traceback.format_exception(error)))  # before it is cut: half a key has no shape
    return {"cause": f"{type(error).__name__}: {error}".rstrip(": "), "traceback": trace[-TAG_LIMIT:]}
