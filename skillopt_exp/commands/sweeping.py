"""Leading a sweep: which jobs there are, which are done, who begins, who wins, and what is said at the end.

The first job to run is the canary: where it cannot run at all, no other begins.
"""

import logging
import sys
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor
from dataclasses import dataclass
from pathlib import Path

from hydra._internal.core_plugins.basic_sweeper import BasicSweeper  # Hydra's own product of a grid
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import setup_globals
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext
from omegaconf import DictConfig, OmegaConf, open_dict, read_write
from rich.console import Console

from skillopt_exp.commands.overrides import quoted
from skillopt_exp.commands.running import Launch, go_on
from skillopt_exp.commands.sweep_job import failure_of, in_sweep
from skillopt_exp.config.resolved import flat
from skillopt_exp.config.sweep import SweepConfig
from skillopt_exp.config.tracking import Backend, TrackingConfig
from skillopt_exp.errors import SkillOptError
from skillopt_exp.runs.files import read_text, write_atomic, write_bytes
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.sweeps.folder import Job, JobPlace, SweepFolder, SweepRecord
from skillopt_exp.sweeps.keys import JobConfig, job_keys
from skillopt_exp.sweeps.leaderboard import JobStatus, Row, row_of, to_csv, winner
from skillopt_exp.sweeps.names import job_name, sweep_name
from skillopt_exp.sweeps.plot import score_against_cost
from skillopt_exp.sweeps.table import print_leaderboard
from skillopt_exp.tracking.sweep_run import SweepRun


class SweepEnded(SkillOptError):
    """Not every job of the sweep came to its end; the exit code is that of the jobs that did not."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class Hydra:
    """What Hydra gives a sweeper: how to compose a job, its configuration of the sweep, who runs jobs."""

    context: HydraContext
    config: DictConfig
    launcher: Launcher


@dataclass(frozen=True, slots=True)
class _Composed:
    """A job with its configuration, and what was chosen for each group."""

    job: Job
    config: DictConfig
    choices: dict[str, str]


def lead(arguments: Sequence[str], hydra: Hydra) -> list[float | None]:
    """Run the jobs of the overrides ``arguments``, those that are done excepted.

    Returns each job's selection score, in order.

    Raises:
        UsageError: a job cannot be composed, the folder or the MLflow store cannot be used.
        SweepEnded: a job failed or was stopped.
    """
    setup_globals()
    _hush()
    base = Path.cwd()
    jobs, path = _jobs(arguments, hydra, base)
    with read_write(hydra.config):  # launchers make the folder that stands here
        hydra.config.hydra.sweep.dir = str(path)
    first = jobs[0].config
    settings = OmegaConf.to_object(first.sweep)
    assert isinstance(settings, SweepConfig)
    folder, console = SweepFolder(path), Console()
    folder.path.mkdir(parents=True, exist_ok=True)
    if settings.fresh:
        aside = folder.move_aside()
        if aside is not None:
            console.print(f"an earlier sweep was moved to {aside}", soft_wrap=True, highlight=False)
    with folder.lock():
        record = folder.begin(tuple(sys.argv[1:]), tuple(each.job for each in jobs), base)
        write_atomic(folder.multirun, OmegaConf.to_yaml(hydra.config))
        tracked = _tracked(first, base)
        if tracked is not None:
            record = folder.adopt(record, tracked.open(folder, record, jobs[0].choices))
        return _Sweep(folder, record, jobs, hydra, tracked, console, settings).run()


def _jobs(arguments: Sequence[str], hydra: Hydra, base: Path) -> tuple[list[_Composed], Path]:
    """The jobs of the grid, and the sweep's folder."""
    loader = hydra.context.config_loader
    overrides = OverridesParser.create(config_loader=loader).parse_overrides(list(arguments))
    swept = [each.get_key_element() for each in overrides if each.is_sweep_override()]
    grid = [tuple(job) for batch in BasicSweeper.split_arguments(overrides, None) for job in batch]
    whole = [loader.load_sweep_config(hydra.config, list(job)) for job in grid]
    configs = [_without_hydra(each) for each in whole]
    given = any(each.startswith("hydra.sweep.dir=") for each in hydra.config.hydra.overrides.hydra)
    name = configs[0].sweep.name
    if given:
        path = Path(str(hydra.config.hydra.sweep.dir))
    else:
        path = Path("multirun", sweep_name(configs[0].dataset.name, swept) if name is None else name)
    chosen = [_choices(each) for each in whole]
    described = [JobConfig(flat(config), each) for config, each in zip(configs, chosen, strict=True)]
    keys = job_keys(described, base=base)
    jobs: dict[str, _Composed] = {}
    for choices, config, job, key in zip(chosen, configs, grid, keys, strict=True):
        values = dict(override.split("=", 1) for override in job)
        named = job_name({name: values[name] for name in swept})
        jobs.setdefault(key, _Composed(Job(len(jobs) + 1, named, key, job), config, choices))
    return list(jobs.values()), (base / path).absolute()


def _choices(composed: DictConfig) -> dict[str, str]:
    return {
        group: str(choice)
        for group, choice in composed.hydra.runtime.choices.items()
        if choice is not None and not group.startswith("hydra/")
    }


def _without_hydra(composed: DictConfig) -> DictConfig:
    config = composed.copy()
    with read_write(config), open_dict(config):
        del config["hydra"]
    return config


def _tracked(config: DictConfig, base: Path) -> SweepRun | None:
    """The sweep's MLflow run; opening it makes the tables of a new store before any job asks for them."""
    tracking = OmegaConf.to_object(config.tracking)
    assert isinstance(tracking, TrackingConfig)
    if tracking.backend is not Backend.mlflow:
        return None
    return SweepRun(tracking, base=base, dataset=config.dataset.name)


@dataclass(frozen=True, slots=True)
class _Sweep:
    folder: SweepFolder
    record: SweepRecord
    jobs: Sequence[_Composed]
    hydra: Hydra
    tracked: SweepRun | None
    console: Console
    settings: SweepConfig

    def run(self) -> list[float | None]:
        done = {each.job.key for each in self.jobs if self._ended(each.job)}
        waiting = [each for each in self.jobs if each.job.key not in done]
        try:
            self._launch(waiting, canary=not done)
            self._test_winner(done)
        except BaseException:
            # A launcher may let a Ctrl-C through; what is known is kept and shown all the same.
            self._close(done)
            raise
        rows = self._close(done)
        failed = [row for row in rows if row.status is not JobStatus.finished]
        if failed:
            raise _ended(failed, len(rows), self.folder)
        return [row.val_hard for row in rows]

    def _ended(self, job: Job) -> bool:
        path = self.folder.job(job.key)
        if not RunFolder.is_run(path) or JobPlace(path, job).failure() is not None:
            return False
        return RunFolder.open(path).ended(tested=self.settings.test_all) is not None

    def _launch(self, waiting: Sequence[_Composed], *, canary: bool) -> None:
        if canary and waiting:
            first, *waiting = waiting
            self._hand_over([first])
            if row_of(self._place(first.job)).status is JobStatus.failed:
                return
        self._hand_over(waiting)

    def _hand_over(self, some: Sequence[_Composed]) -> None:
        """Hydra's launcher takes all at once; each job finds its place by its folder."""
        if not some:
            return
        given = [
            [
                *each.job.overrides,
                f"hydra.sweep.dir={quoted(str(self.folder.path))}",
                f"hydra.sweep.subdir={quoted(each.job.key)}",
            ]
            for each in some
        ]
        try:
            self.hydra.launcher.launch(given, initial_job_idx=some[0].job.number - 1)
        except BrokenExecutor as error:
            self.console.print(
                f"a worker process was killed, and with it those beside it ({type(error).__name__})",
                soft_wrap=True,
            )
        finally:
            _hush()

    def _test_winner(self, done: set[str]) -> None:
        """Score the winner on test, once no job that might still win is left."""
        rows = self._rows(done)
        best = winner(rows)
        unfinished = any(row.status in (JobStatus.stopped, JobStatus.waiting) for row in rows)
        if best is None or unfinished:
            return
        place = self._place(best.job)
        run_folder = RunFolder.open(place.path)
        if run_folder.ended() is not None:
            return
        composed = next(each for each in self.jobs if each.job.key == best.job.key)
        self.console.print(f"\n[bold]the winner, on test[/bold]  {best.job.name}", highlight=False)
        launch = Launch(base=Path(self.record.base), choices=composed.choices, console=self.console)
        try:
            go_on(composed.config, run_folder, in_sweep(launch, place, tests=True))
        except SkillOptError as error:
            place.failed(failure_of(error))

    def _rows(self, done: set[str]) -> list[Row]:
        return [row_of(self._place(each.job), reused=each.job.key in done) for each in self.jobs]

    def _close(self, done: set[str]) -> list[Row]:
        """Write and show the leaderboard; the winner's skill stands beside it."""
        rows = self._rows(done)
        write_atomic(self.folder.leaderboard, to_csv(rows))
        best = winner(rows)
        picture = score_against_cost(rows, best)
        if picture is not None:
            write_bytes(self.folder.plot, picture)
        if best is not None:
            skill = RunFolder.open(self.folder.job(best.job.key)).best_skill
            write_atomic(self.folder.best_skill, read_text(skill))
        print_leaderboard(self.console, self.folder, rows, best)
        if self.tracked is not None:
            self.tracked.end(self.folder, rows, best, [self._place(each.job) for each in self.jobs])
            self.console.print(f"MLflow      {self.tracked.ui_command}", soft_wrap=True, highlight=False)
            self.console.print(f"            {self.tracked.link}", soft_wrap=True, highlight=False)
        return rows

    def _place(self, job: Job) -> JobPlace:
        return JobPlace(self.folder.job(job.key), job)


def _ended(failed: Sequence[Row], total: int, folder: SweepFolder) -> SweepEnded:
    """What to say of a sweep of ``total`` jobs of which some ``failed`` or were stopped."""
    codes = {row.exit_code for row in failed if row.status is not JobStatus.waiting}
    code = codes.pop() if len(codes) == 1 else SkillOptError.exit_code
    first = next((row for row in failed if row.cause), failed[0])
    lost = [row for row in failed if row.status is JobStatus.failed]
    open_still = len(failed) - len(lost)
    counted = " and ".join(
        f"{count} {what}" for count, what in ((len(lost), "failed"), (open_still, "have not ended")) if count
    )
    why = f" (job {first.job.number}, {first.job.name}: {first.cause})" if first.cause else ""
    again = "the same command, or python -m skillopt_exp resume sweep="
    return SweepEnded(
        f"of {total} jobs {counted}{why}; see {folder.leaderboard}. Put right what failed, then "
        f"{again}{folder.path}, goes on with these alone",
        code,
    )


def _hush() -> None:
    """Hydra lets everything at INFO through while it launches: each request of each library a line."""
    logging.getLogger().setLevel(logging.WARNING)
