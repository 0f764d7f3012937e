"""A project folder with a real MLflow store, for tests of what a run leaves there."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import sample_run
from sample_run import SAMPLE

from skillopt_exp.config.tracking import Backend, TrackingConfig
from skillopt_exp.records import StepTrace
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.recorder import RunRecorder
from skillopt_exp.tracking.mlflow_tracker import MlflowTracker
from skillopt_exp.watch import Broadcast, Opening, Watcher

if TYPE_CHECKING:
    from mlflow import MlflowClient
    from mlflow.entities import Run


@dataclass(frozen=True)
class Project:
    """A folder that commands are given in, with its store and a client of it."""

    base: Path
    client: "MlflowClient"
    dataset: str

    def tracker(self, **config: str) -> MlflowTracker:
        return MlflowTracker(TrackingConfig(backend=Backend.mlflow, **config), base=self.base)

    def folder(self, name: str) -> Path:
        return self.base / "outputs" / self.dataset / name

    def opening(self, folder: Path) -> Opening:
        return replace(sample_run.opening(folder), dataset=self.dataset)

    def watched(self, tracker: MlflowTracker, folder: Path) -> Watcher:
        """The folder's recorder and the tracker, in the order of a real run."""
        made = RunFolder.open(folder) if RunFolder.is_run(folder) else RunFolder.create(folder, prompts="p")
        return Broadcast([RunRecorder(made), tracker])

    def metrics(self, tracker: MlflowTracker, name: str) -> dict[int, float]:
        """Step to value; the last one where a step has several."""
        assert tracker.run is not None
        return {point.step: point.value for point in self.client.get_metric_history(tracker.run.run_id, name)}

    def run(self, tracker: MlflowTracker) -> "Run":
        """What MLflow has of the tracker's run."""
        assert tracker.run is not None
        return self.client.get_run(tracker.run.run_id)

    def artifact(self, tracker: MlflowTracker, name: str) -> str:
        """The text of one of the run's artifacts."""
        assert tracker.run is not None
        return Path(self.client.download_artifacts(tracker.run.run_id, name)).read_text(encoding="utf-8")

    def train(self, watcher: Watcher, folder: Path, steps: tuple[StepTrace, ...] = SAMPLE.traces) -> None:
        """From the opening to the last of ``steps``."""
        watcher.opened(self.opening(folder))
        watcher.baseline(sample_run.seed(), sample_run.selection(0))
        for trace in steps:
            watcher.step(trace)

    def whole(self, name: str) -> MlflowTracker:
        """A run from its opening to its end."""
        tracker, folder = self.tracker(), self.folder(name)
        watcher = self.watched(tracker, folder)
        self.train(watcher, folder)
        SAMPLE.tell_result(watcher)
        return tracker
