"""An evaluation as one run in MLflow: of its own, in the experiment of the data set."""

import logging
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp import experiment
from skillopt_exp.config.tracking import Backend, TrackingConfig
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.evaluate import Evaluation
from skillopt_exp.tracking import store
from skillopt_exp.tracking.metrics import (
    a_call_metrics,
    gain_metrics,
    group_metrics,
    known,
    standing_metrics,
)
from skillopt_exp.tracking.names import safe_key
from skillopt_exp.tracking.provenance import experiment_name, provenance, tracked
from skillopt_exp.tracking.session import RunSession, TrackedRun

if TYPE_CHECKING:
    from mlflow import MlflowClient

_log = logging.getLogger(__name__)


class Tracking:
    """Made before anything is paid for: a store that cannot be used is an error then, later a warning.

    Raises:
        UsageError: the store cannot be used.
    """

    def __init__(self, config: TrackingConfig, *, dataset: str, base: Path) -> None:
        self._store = store.resolve(config.uri, base)
        self._client: MlflowClient = store.connect(self._store)
        name = experiment_name(config, dataset)
        self._experiment_id = store.experiment(self._client, self._store, name)
        self._base = base.absolute()

    def keep(self, evaluation: Evaluation, folder: Path) -> TrackedRun | None:
        """Log what is in ``folder``; None where MLflow does not take it."""
        from mlflow.exceptions import MlflowException

        try:
            return self._keep(evaluation, folder)
        except (MlflowException, OSError) as error:
            _log.warning(
                "MLflow at %s did not take the evaluation (%s); the folder has everything: %s",
                self._store.shown, store.in_brief(error), folder,
            )  # fmt: skip
            return None

    def _keep(self, evaluation: Evaluation, folder: Path) -> TrackedRun:
        bench = evaluation.bench
        run = self._client.create_run(self._experiment_id, run_name=folder.name)
        session = RunSession(self._client, tracked(self._store, run), folder)
        opening = experiment.opening_of(bench.prepared, folder=folder, choices={}, resolved=bench.resolved)
        status = "FAILED"
        try:
            surroundings = provenance(
                folder=folder,
                base=self._base,
                manifest_json=opening.manifest_json,
                called="evaluation_folder",
            )
            session.describe(opening, run, tags_of(evaluation) | surroundings)
            session.log(0, metrics_of(evaluation))
            status = "FINISHED"
        finally:
            session.end(status, None, {})
        return session.run


def tracking_for(bench: Bench) -> Tracking | None:
    """Where evaluations on ``bench`` are kept, if anywhere.

    Raises:
        UsageError: the store cannot be used.
    """
    config = bench.prepared.config.tracking
    if config.backend is not Backend.mlflow:
        return None
    return Tracking(config, dataset=bench.dataset, base=bench.base)


def tags_of(evaluation: Evaluation) -> dict[str, str]:
    """What the run is, for searching."""
    bench, found = evaluation.bench, evaluation.difference
    tags = {
        "verb": evaluation.question.verb,
        "dataset": bench.dataset,
        "split": str(bench.split),
        "scores_are": bench.split.meaning,
        "target": bench.target,
        "simulated": str(bench.prepared.simulated).lower(),
    }
    if found is not None:
        tags["evidence"] = str(found.gain.evidence)
    for name, scored in evaluation.scored.items():
        tags |= {f"{name}.label": scored.named.label, f"{name}.digest": scored.named.skill.digest}
    return tags


def metrics_of(evaluation: Evaluation) -> dict[str, float]:
    """Figures by name, scores under that of the split; one that is not known has none."""
    split = evaluation.bench.split
    values: dict[str, float | None] = {"num_items": len(evaluation.bench.items)}
    for name, scored in evaluation.scored.items():
        values |= standing_metrics(f"{split}/{name}", evaluation.standings[name])
        values |= a_call_metrics(f"{split}/{name}", scored.a_call)
        values |= {f"usage/{safe_key(name)}/{what}": value for what, value in asdict(scored.usage).items()}
    if evaluation.difference is not None:
        values |= gain_metrics(f"{split}/difference", evaluation.difference.gain)
    values |= group_metrics(str(split), evaluation.groups)
    return known(values)
