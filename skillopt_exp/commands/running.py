"""Running a composed experiment in a folder: from its beginning, or from where it ended."""

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from omegaconf import DictConfig
from rich.console import Console

from skillopt_exp import experiment
from skillopt_exp.config import Config, to_config
from skillopt_exp.config.changes import allowed_changes
from skillopt_exp.config.resolved import resolve
from skillopt_exp.config.tracking import Backend
from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.experiment import Exchanges, Experiment, Watching
from skillopt_exp.items.keeper import ItemKeeper
from skillopt_exp.llm.connect import Accounts, Models
from skillopt_exp.llm.limits import Turns
from skillopt_exp.outlook import visible
from skillopt_exp.records import Progress, Summary
from skillopt_exp.report.keeper import ReportKeeper
from skillopt_exp.runs.answers import answers_path, open_answers
from skillopt_exp.runs.calls import CallLog
from skillopt_exp.runs.composed import Composed
from skillopt_exp.runs.files import MEND, read_text, write_atomic
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.progress import read_progress
from skillopt_exp.runs.recorder import RunRecorder
from skillopt_exp.runs.turns import FileTurns
from skillopt_exp.terminal import Terminal, warnings_on
from skillopt_exp.tracking.mlflow_tracker import Child, MlflowTracker
from skillopt_exp.watch import Opening, Watcher


@dataclass(frozen=True, slots=True)
class Launch:
    """Where and how a command was given. ``base`` is the folder that relative paths start from.

    ``composed`` is what Hydra made of the command, where it was asked: what the run can be resumed by.
    ``child`` says what the run is in a sweep; without ``tests`` it ends when it has trained.
    """

    base: Path
    choices: Mapping[str, str]
    console: Console
    composed: Composed | None = None
    child: Child | None = None
    tests: bool = True


def start(composed: DictConfig, folder: Path, launch: Launch) -> Summary:
    """Check everything, then train in ``folder``, which becomes this run's alone.

    Raises:
        SkillOptError: see ``experiment.prepare`` and ``experiment.run``. Nothing is written before
            everything was checked.
    """
    prepared, opening = _prepared(composed, folder, launch)
    tracker = _tracker(prepared.config, launch)
    run_folder = RunFolder.create(
        folder, prompts=prepared.decision.settings.prompts.digest, composed=launch.composed
    )
    with run_folder.lock():
        return _run(prepared, opening, run_folder, tracker, launch, progress=None)


def go_on(
    composed: DictConfig, run_folder: RunFolder, launch: Launch, *, other_prompts: bool = False
) -> Summary:
    """Train on from the last completed step of the run in ``run_folder``.

    Raises:
        UsageError: a key that affects the result has changed, or the optimizer's prompts have, unless
            ``other_prompts`` allows it.
        DataError: the items are not those that the run began with, or the folder is damaged.
        SkillOptError: see ``start``.
    """
    prepared, opening = _prepared(composed, run_folder.path, launch)
    if run_folder.marker.prompts != prepared.decision.settings.prompts.digest and not other_prompts:
        raise UsageError(
            f"{run_folder.path} was begun by skillopt_exp {run_folder.marker.skillopt_exp} with other "
            "optimizer prompts; going on would mix two experiments. Use that version and those templates, "
            "start a new run, or say other_prompts=true"
        )
    tracker = _tracker(prepared.config, launch)
    with run_folder.lock():
        progress = read_progress(run_folder, prepared.seed_skill)
        # Both are written before the first call; a run without progress may not have come that far.
        if progress is not None or run_folder.config.exists():
            before = read_text(run_folder.config)
            changes = allowed_changes(before, opening.config_yaml, where=str(run_folder.config))
            opening = replace(opening, warnings=(*opening.warnings, *changes))
        if progress is not None or run_folder.manifest.exists():
            _check_items(run_folder.manifest, opening)
        return _run(prepared, opening, run_folder, tracker, launch, progress)


def _check_items(manifest: Path, opening: Opening) -> None:
    """Refuse other items than those that the run began with."""
    before = read_text(manifest)
    if before == opening.manifest_json:
        return
    try:
        json.loads(before)
    except ValueError as error:
        raise DataError(f"{manifest} is damaged ({error}); {MEND}") from error
    raise DataError(
        f"the items of dataset {opening.dataset!r} are not those that the run began with "
        f"(see {manifest}); bring the old files back, or start a new run"
    )


def _run(
    prepared: Experiment,
    opening: Opening,
    run_folder: RunFolder,
    tracker: MlflowTracker | None,
    launch: Launch,
    progress: Progress | None,
) -> Summary:
    """With the store of answers of the launch folder, and the run's own ledger of calls.

    A run whose seed skill is scored has called before: without its ledger nobody would know what it spent.
    """
    items = ItemKeeper(run_folder, prepared.splits.val)
    gate, num_val = prepared.decision.settings.gate, len(prepared.splits.val)
    watching = _watching(
        run_folder, items, tracker, launch.console, sees=lambda baseline: visible(gate, num_val, baseline)
    )
    with (
        warnings_on(launch.console),
        open_answers(prepared.config.cache, base=launch.base) as answers,
        closing(CallLog(run_folder.calls, begun=progress is not None)) as ledger,
    ):
        turns = None if launch.child is None else _turns(prepared, launch)
        accounts = Accounts(answers, ledger, prepared.config.budget, turns)
        run_folder.done.unlink(missing_ok=True)  # of a run that goes on after its training
        summary = experiment.run(prepared, opening, watching, progress, accounts=accounts, tests=launch.tests)
        write_atomic(run_folder.done, "")
        if answers is not None:
            kept = f"{answers.count:,} answers, {answers.size_bytes / 1e6:,.1f} MB, in {answers.path}"
            launch.console.print(f"store     {kept}", soft_wrap=True, highlight=False)
        return summary


def _turns(prepared: Experiment, launch: Launch) -> Callable[[str, int], Turns]:
    """The jobs of a sweep on a host share what an endpoint allows, as they share the store of answers."""
    folder = answers_path(prepared.config.cache, base=launch.base).parent / "turns"
    return lambda name, at_once: FileTurns(folder, name, at_once)


def _prepared(composed: DictConfig, folder: Path, launch: Launch) -> tuple[Experiment, Opening]:
    prepared = experiment.prepare(to_config(composed), base=launch.base)
    resolved = resolve(composed, prepared.decision.decided)
    opening = experiment.opening_of(prepared, folder=folder, choices=launch.choices, resolved=resolved)
    return prepared, opening


def _tracker(config: Config, launch: Launch) -> MlflowTracker | None:
    """Made before the folder is claimed: an impossible tracking.uri leaves nothing behind."""
    if config.tracking.backend is not Backend.mlflow:
        return None
    return MlflowTracker(config.tracking, base=launch.base, child=launch.child)


def _watching(
    run_folder: RunFolder,
    items: ItemKeeper,
    tracker: MlflowTracker | None,
    console: Console,
    *,
    sees: Callable[[float], str],
) -> Watching:
    def watchers(models: Models, exchanges: Exchanges) -> list[Watcher]:
        """The folder first: nothing is shown or logged that is not kept."""
        terminal = Terminal(
            console,
            usage=models.meter.by_stage,
            tracked=lambda: tracker.run if tracker is not None else None,
            sees=sees,
        )
        kept = [RunRecorder(run_folder, exchanges), items, ReportKeeper(run_folder)]
        return [*kept, *([tracker] if tracker is not None else []), terminal]

    return watchers
