"""``train``: compose an experiment with Hydra and run it. The default verb."""

import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from skillopt_exp.commands import help_lines
from skillopt_exp.commands.composing import COMPOSING_ERRORS, explained
from skillopt_exp.commands.options import as_hydra_reads, parse_options
from skillopt_exp.commands.overrides import check_overrides
from skillopt_exp.commands.safety import check_composed, refuse_secret_files
from skillopt_exp.config import register
from skillopt_exp.config.locate import conf_dir
from skillopt_exp.errors import SkillOptError, UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from skillopt_exp.sweeps.folder import JobPlace

_COLUMNS = 110

_OF_HYDRA = (OSError, ValueError, TypeError, KeyError, AttributeError, AssertionError)
"""What Hydra fails with on settings of its own (``hydra.*``) that cannot be."""


def run(arguments: Sequence[str]) -> int:
    """Hand the arguments to Hydra: one run, a sweep (``-m``), or Hydra's own ``--help`` and ``--cfg``."""
    options = parse_options(arguments)
    refuse_secret_files(options)
    register()
    OmegaConf.register_new_resolver("skillopt_verbs", help_lines, replace=True)
    # Hydra re-raises instead of printing when asked to: the message and the exit code are ours.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    sys.argv = ["skillopt_exp", *as_hydra_reads(arguments, options)]
    job = _Job()
    try:
        check_overrides(options.overrides, options.config_dir)
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(job)()
    except COMPOSING_ERRORS as error:
        raise explained(error) from error
    except _OF_HYDRA as error:
        if job.under_way:
            raise
        raise _before_the_run(error, options) from error
    for failure in job.failures:
        raise failure
    return 0


class _Job:
    """What Hydra calls for one run, or for each job of a sweep.

    ``under_way`` tells an error of a run from one of Hydra's own; ``failures`` are those of a single run.
    """

    def __init__(self) -> None:
        self.under_way = False
        self.failures: list[SkillOptError] = []

    def __call__(self, composed: DictConfig) -> float | None:
        register()  # a launcher may have started this process, and not the command line
        self.under_way = True
        try:
            score = train(composed)
        except SkillOptError as error:
            self.under_way = False
            if HydraConfig.get().mode is RunMode.MULTIRUN:
                raise
            self.failures.append(error)  # raised through Hydra, it would be printed twice
            return None
        self.under_way = False
        return score


def train(composed: DictConfig) -> float | None:
    """One run. Returns the best skill's selection score, what a sweeper optimises.

    Raises:
        SkillOptError: as ``running.start``; nothing is left of a run that never began.
    """
    # Loads the model client: not before there is work, so that Hydra's --help answers at once.
    from rich.console import Console

    from skillopt_exp.commands.running import Launch, start
    from skillopt_exp.commands.sweep_job import run_job
    from skillopt_exp.runs.composed import Composed
    from skillopt_exp.sweeps.folder import job_place

    launched = HydraConfig.get()
    folder = Path(launched.runtime.output_dir)
    place = job_place(folder)
    try:
        check_composed(composed)
        choices = {
            group: str(name) for group, name in launched.runtime.choices.items() if _is_ours(group, name)
        }
        kept = Composed(
            config=OmegaConf.to_yaml(composed),
            hydra=OmegaConf.to_yaml(OmegaConf.create({"hydra": launched})),
            overrides=OmegaConf.to_yaml(launched.overrides.task),
        )
        launch = Launch(base=Path(launched.runtime.cwd), choices=choices, console=Console(), composed=kept)
        if place is not None:
            with _console(place, alone=launched.runtime.choices["hydra/launcher"] == "basic") as console:
                return run_job(composed, place, replace(launch, console=console))
        summary = start(composed, folder, launch)
    except (SkillOptError, OmegaConfBaseException) as error:
        _remove_unused(folder)
        if isinstance(error, OmegaConfBaseException):
            raise explained(error) from error
        raise
    return summary.best_selection_hard


@contextmanager
def _console(place: "JobPlace", *, alone: bool) -> Iterator["Console"]:
    """Where a job prints: jobs at work at the same time would print over each other."""
    from rich.console import Console

    if alone:
        yield Console()
        return
    with place.console_file.open("a", encoding="utf-8", errors="backslashreplace") as file:
        yield Console(file=file, width=_COLUMNS)


def _is_ours(group: str, name: object) -> bool:
    return name is not None and not group.startswith("hydra/")


def _remove_unused(folder: Path) -> None:
    """Hydra makes the run's folder before anything is checked; a run that never began leaves none.

    What was there before stays: only an empty log and empty folders go, and never the launch folder.
    """
    log = folder / f"{HydraConfig.get().job.name}.log"
    with suppress(OSError):
        if log.stat().st_size == 0:
            log.unlink()
    for each in (folder, folder.parent, folder.parent.parent):
        if each == Path.cwd() or each in Path.cwd().parents:
            return
        with suppress(OSError):  # not empty: other runs are there
            each.rmdir()


def _before_the_run(error: BaseException, options: Namespace) -> UsageError:
    """About what Hydra could not do before it called the job; most often it could not make the folder."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__ or cause.__context__
    if cause is None:
        text = " ".join(str(error).split()) or type(error).__name__
        return UsageError(f"Hydra cannot begin: {text}; look at its options and the keys of hydra")
    key = "hydra.sweep.dir" if options.multirun else "hydra.run.dir"
    return UsageError(
        f"the folder of the run cannot be used: {_shortened(cause.filename)}: {cause.strerror}. Allow "
        f"writing there, or give another: {key}=..."
    )


def _shortened(name: object) -> str:
    text = str(name)
    return text if len(text) <= 200 else f"{text[:200]}..."
