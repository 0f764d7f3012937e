"""``train``: compose an experiment with Hydra and run it. The default verb."""

import os
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from skillopt_exp.commands import help_lines
from skillopt_exp.commands.composing import explained
from skillopt_exp.commands.safety import check_composed, refuse_secret_files
from skillopt_exp.config import register
from skillopt_exp.config.locate import conf_dir
from skillopt_exp.errors import SkillOptError


def run(arguments: Sequence[str]) -> int:
    """Hand the arguments to Hydra: one run, a sweep (``-m``), or Hydra's own ``--help`` and ``--cfg``."""
    refuse_secret_files(arguments)
    register()
    OmegaConf.register_new_resolver("skillopt_verbs", help_lines, replace=True)
    # Hydra re-raises instead of printing when asked to: the message and the exit code are ours.
    os.environ["HYDRA_FULL_ERROR"] = "1"
    sys.argv = ["skillopt_exp", *arguments]
    failures: list[SkillOptError] = []

    def job(composed: DictConfig) -> float | None:
        try:
            return train(composed)
        except SkillOptError as error:
            if HydraConfig.get().mode is RunMode.MULTIRUN:
                raise
            failures.append(error)  # raised through Hydra, it would be printed twice
            return None

    try:
        hydra.main(version_base="1.3", config_path=str(conf_dir()), config_name="config")(job)()
    except (HydraException, OmegaConfBaseException) as error:
        raise explained(error) from error
    for failure in failures:
        raise failure
    return 0


def train(composed: DictConfig) -> float | None:
    """One run. Returns the best skill's selection score, what a sweeper optimises."""
    # Loads the model client: not before there is work, so that Hydra's --help answers at once.
    from rich.console import Console

    from skillopt_exp.commands.running import Launch, start

    runtime = HydraConfig.get().runtime
    folder = Path(runtime.output_dir)
    try:
        check_composed(composed)
        choices = {group: str(name) for group, name in runtime.choices.items() if _is_ours(group, name)}
        launch = Launch(base=Path(runtime.cwd), choices=choices, console=Console())
        summary = start(composed, folder, launch)
    except SkillOptError:
        _remove_unused(folder)
        raise
    return summary.best_selection_hard


def _is_ours(group: str, name: object) -> bool:
    return name is not None and not group.startswith("hydra/")


def _remove_unused(folder: Path) -> None:
    """Hydra makes the run's folder before anything is checked; a run that never began leaves none."""
    if {each.name for each in folder.iterdir()} <= {".hydra", f"{HydraConfig.get().job.name}.log"}:
        shutil.rmtree(folder)
        for parent in (folder.parent, folder.parent.parent):
            with suppress(OSError):  # not empty: other runs are there
                parent.rmdir()
