"""Running a composed experiment in a folder: what `train` does, and what goes on with a run."""

from collections.abc import Mapping
from pathlib import Path

from omegaconf import DictConfig
from rich.console import Console

from skillopt_exp import experiment
from skillopt_exp.config import Config, to_config
from skillopt_exp.config.resolved import resolve
from skillopt_exp.config.tracking import Backend
from skillopt_exp.llm.connect import Models
from skillopt_exp.records import Summary
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.recorder import RunRecorder
from skillopt_exp.terminal import Terminal
from skillopt_exp.tracking.mlflow_tracker import MlflowTracker
from skillopt_exp.watch import Watcher


def run_experiment(
    composed: DictConfig, *, folder: Path, base: Path, choices: Mapping[str, str], console: Console
) -> Summary:
    """Check everything, then train. ``base`` is the launch folder, ``choices`` names the chosen groups.

    Raises:
        SkillOptError: see ``experiment.prepare`` and ``experiment.run``. Nothing is written before
            everything was checked.
    """
    config = to_config(composed)
    prepared = experiment.prepare(config, base=base)
    opening = experiment.opening_of(
        prepared, folder=folder, choices=choices, resolved=resolve(composed, prepared.decision.decided)
    )
    return experiment.run(prepared, opening, lambda models: _watchers(config, folder, base, models, console))


def _watchers(config: Config, folder: Path, base: Path, models: Models, console: Console) -> list[Watcher]:
    """The folder first: nothing is shown or logged that is not kept."""
    # The tracker before the folder is claimed: an impossible tracking.uri leaves nothing behind.
    tracker = MlflowTracker(config.tracking, base=base) if config.tracking.backend is Backend.mlflow else None
    recorder = RunRecorder(RunFolder.create(folder))
    terminal = Terminal(
        console, usage=models.meter.by_stage, tracked=lambda: tracker.run if tracker is not None else None
    )
    return [recorder, *([tracker] if tracker is not None else []), terminal]
