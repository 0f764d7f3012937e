"""One MLflow run that is open: what it is told at the start, in each step, at the end.

What MLflow does not take, once training has begun, never ends the run: metrics are kept and sent with
the next step, and what is still missing at the end is said. The run folder has everything.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from skillopt_exp.records import Summary
from skillopt_exp.redaction import redact
from skillopt_exp.runs.codec import from_json, to_json
from skillopt_exp.runs.files import read_text, write_atomic
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.tracking.metrics import step_metrics, summary_metrics
from skillopt_exp.tracking.names import PARAM_LIMIT, TAG_LIMIT, cut, safe_keys
from skillopt_exp.tracking.store import in_brief
from skillopt_exp.watch import Opening

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Metric as Point
    from mlflow.entities import Run

T = TypeVar("T")

_log = logging.getLogger(__name__)

_PARAMS_A_CALL = 100
_METRICS_A_CALL = 1000
_STEP_MARK = "train/failures"
"""The metric that says that a step was logged: every step has it."""
_ARTIFACTS_OF_AN_END = (
    "best_skill.md",
    "best_skill.json",
    "summary.json",
    "history.jsonl",
    "items.csv",
    "items.png",
    "report.html",
)
_TAGS_OF_AN_END = ("cause", "traceback", "verdict", "evidence", "meets_seed_rule")


@dataclass(frozen=True, slots=True)
class TrackedRun:
    """``mlflow.json`` in the run folder: where MLflow keeps this run. ``uri`` is without its password."""

    uri: str
    experiment_id: str
    run_id: str
    ui_command: str
    link: str


def tracked_run(folder: Path) -> TrackedRun | None:
    """What ``mlflow.json`` in ``folder`` says; None where a run was never tracked.

    Raises:
        DataError: the file is damaged.
    """
    file = _tracked_file(folder)
    return from_json(TrackedRun, read_text(file), str(file)) if file.exists() else None


class RunSession:
    """An open run, and the metrics that MLflow has not taken yet."""

    def __init__(self, client: "MlflowClient", run: TrackedRun, folder: Path) -> None:
        self.run = run
        self.last_step = 0
        self._client = client
        self._folder = folder
        self._waiting: list[Point] = []

    def describe(self, opening: Opening, run: "Run", tags: Mapping[str, str]) -> None:
        """Write ``mlflow.json``; log parameters, tags and the opening's artifacts.

        ``run`` is what MLflow has: a run that goes on gets the parameters that are missing (one can be
        written only once), a changed value becomes the tag ``changed.<key>``.

        Raises:
            MlflowException: the store refuses something.
        """
        write_atomic(_tracked_file(self._folder), to_json(self.run, indent=2) + "\n")
        keys = safe_keys(opening.params)
        params = {keys[key]: cut(redact(value), PARAM_LIMIT) for key, value in opening.params.items()}
        known = run.data.params
        changed = {
            f"changed.{key}": value for key, value in params.items() if key in known and known[key] != value
        }
        for key in _TAGS_OF_AN_END:
            if key in run.data.tags:
                self._client.delete_tag(self.run.run_id, key)
        self._set_tags({**tags, **changed})
        self._log_params({key: value for key, value in params.items() if key not in known})
        for name, text in (
            ("config.yaml", redact(opening.config_yaml)),
            ("origins.json", to_json(opening.origins, indent=2)),
            ("split_manifest.json", opening.manifest_json),
        ):
            self._client.log_text(self.run.run_id, text, name)
        self._catch_up()

    def log(self, step: int, metrics: Mapping[str, float]) -> None:
        """Send these metrics, and those that wait, in one call."""
        from mlflow.entities import Metric as Point

        now = int(time.time() * 1000)
        self.last_step = step
        self._waiting += [Point(name, float(value), now, step) for name, value in metrics.items()]
        self._try("take the metrics", self._send)

    def end(self, status: str, summary: Summary | None, tags: Mapping[str, str]) -> None:
        """The last metrics, tags and files, and ``status``: FINISHED, FAILED or KILLED."""
        result = {"status": status.lower()}
        if summary is not None:
            self.log(summary.total_steps, summary_metrics(summary))
            result = {
                "status": summary.status,
                "verdict": summary.verdict,
                "evidence": "untested" if summary.evidence is None else summary.evidence,
                "meets_seed_rule": str(summary.meets_seed_rule).lower(),
            }
        self._try("take the tags", lambda: self._set_tags({**result, **tags}))
        self._try("take the run's files", self._upload)
        self._try("take the last metrics", self._send)
        self._try("end the run", lambda: self._client.set_terminated(self.run.run_id, status))
        if self._waiting:
            _log.warning(
                "MLflow lacks %d metrics of run %s; the run folder has everything: %s",
                len(self._waiting),
                self.run.run_id,
                self._folder,
            )

    def _catch_up(self) -> None:
        """Log the completed steps that MLflow lacks: a kill may come between the folder and MLflow."""
        if not RunFolder.is_run(self._folder):
            return
        logged = {point.step for point in self._client.get_metric_history(self.run.run_id, _STEP_MARK)}
        for record in RunFolder.open(self._folder).read_history():
            if record.step not in logged:
                self.log(record.step, step_metrics(record))

    def _send(self) -> None:
        while self._waiting:
            self._client.log_batch(self.run.run_id, metrics=self._waiting[:_METRICS_A_CALL])
            del self._waiting[:_METRICS_A_CALL]

    def _log_params(self, params: Mapping[str, str]) -> None:
        from mlflow.entities import Param

        for some in _chunks([Param(key, value) for key, value in params.items()], _PARAMS_A_CALL):
            self._client.log_batch(self.run.run_id, params=some)

    def _set_tags(self, tags: Mapping[str, str]) -> None:
        from mlflow.entities import RunTag

        keys = safe_keys(tags)
        entries = [RunTag(keys[key], cut(redact(value), TAG_LIMIT)) for key, value in tags.items()]
        for some in _chunks(entries, _PARAMS_A_CALL):
            self._client.log_batch(self.run.run_id, tags=some)

    def _upload(self) -> None:
        for name in _ARTIFACTS_OF_AN_END:
            file = self._folder / name
            if file.exists():
                self._client.log_artifact(self.run.run_id, str(file))

    def _try(self, what: str, action: Callable[[], None]) -> None:
        from mlflow.exceptions import MlflowException

        try:
            action()
        except (MlflowException, OSError) as error:
            _log.warning("MLflow at %s did not %s (%s); the run goes on", self.run.uri, what, in_brief(error))


def _tracked_file(folder: Path) -> Path:
    return folder / "mlflow.json"


def _chunks(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    for start in range(0, len(values), size):
        yield values[start : start + size]
