"""``resume``: go on with a run that ended early, from its last completed step, or with a sweep of them."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from skillopt_exp.commands.arguments import Verb, parse, split_own
from skillopt_exp.commands.composing import COMPOSING_ERRORS, explained
from skillopt_exp.commands.overrides import quoted
from skillopt_exp.commands.safety import check_composed
from skillopt_exp.config import register
from skillopt_exp.config.key import Affects, key
from skillopt_exp.config.names import nearest
from skillopt_exp.config.root import known_keys, no_such_key, refuse_unknown_keys, typed
from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.reading import named_path
from skillopt_exp.runs.composed import CONFIG, HYDRA
from skillopt_exp.runs.files import MEND

if TYPE_CHECKING:
    from skillopt_exp.runs.folder import RunFolder

VERB = Verb(
    "resume",
    "Go on with a run that was stopped, killed or paused, from its last completed step, or with a sweep, "
    "from the jobs that have not ended. Keys that affect the cost or nothing may be given anew (see "
    "docs/keys.md): a higher budget, more slots, another tracking.uri.",
    "python -m skillopt_exp resume run=outputs/demo/2026-12-01_15-01-52-11dc58",
)


@dataclass(kw_only=True)
class ResumeArguments:
    """Keys of the verb; all others are keys of the run's own configuration."""

    run: str | None = key(None, affects=Affects.nothing, help="the run's folder")
    sweep: str | None = key(None, affects=Affects.nothing, help="the folder of a sweep, in place of run")
    other_prompts: bool = key(
        False, affects=Affects.nothing, help="go on although the optimizer's prompts have changed since"
    )


def run(arguments: Sequence[str]) -> int:
    """Go on with the run, or say that it is complete; or with the sweep.

    Raises:
        SkillOptError: as training does.
    """
    own, overrides = split_own(ResumeArguments, arguments)
    asked = parse(ResumeArguments, own, VERB)
    if asked is None:
        return 0
    match asked.run, asked.sweep:
        case str(run), None:
            return _go_on_with_run(run, overrides, other_prompts=asked.other_prompts)
        case None, str(sweep):
            return _go_on_with_sweep(sweep, overrides)
        case None, None:
            raise UsageError(f"resume needs run; for example: {VERB.example}")
        case _:
            raise UsageError("resume takes run or sweep; give the folder of the one that shall go on")


def _go_on_with_sweep(path: str, overrides: Sequence[str]) -> int:
    """The command of the sweep again, where it was given: its jobs know how far they came."""
    from skillopt_exp.commands.train import run as train
    from skillopt_exp.sweeps.folder import SweepFolder

    folder = SweepFolder(named_path(path, base=Path.cwd(), key="sweep").resolve())
    record = folder.read()
    try:
        os.chdir(record.base)
    except OSError as error:
        raise UsageError(
            f"{record.base}, where the sweep was begun, cannot be entered ({error.strerror}); bring it back, "
            "or give the command of the sweep again where its files are now"
        ) from error
    again = [each for each in record.arguments if not each.startswith(("sweep.fresh=", "hydra.sweep.dir="))]
    return train([*again, *overrides, f"hydra.sweep.dir={quoted(str(folder.path))}"])


def _go_on_with_run(path: str, overrides: Sequence[str], *, other_prompts: bool) -> int:
    from rich.console import Console

    from skillopt_exp.commands.running import Launch, go_on
    from skillopt_exp.runs.folder import RunFolder

    folder = RunFolder.open(named_path(path, base=Path.cwd(), key="run").resolve())
    summary = folder.ended()
    if summary is not None:
        sys.stdout.write(f"{folder.path} is complete: {summary.verdict}; its skill is {folder.best_skill}\n")
        return 0
    register()
    composed = recompose(folder, overrides)
    base, choices = _launched(folder)
    go_on(
        composed,
        folder,
        Launch(base=base if base.is_dir() else Path.cwd(), choices=choices, console=Console()),
        other_prompts=other_prompts,
    )
    return 0


def recompose(folder: "RunFolder", overrides: Sequence[str]) -> DictConfig:
    """The configuration that the run was composed with, typed again, with ``overrides`` (key=value) on top.

    Raises:
        UsageError: an override names no key, or a value does not fit.
        DataError: what was kept of it is missing or damaged.
    """
    try:
        composed = typed(_parsed(folder, CONFIG))
    except OmegaConfBaseException as error:
        raise _damaged(folder, CONFIG, explained(error)) from error
    known = known_keys(composed)
    for override in overrides:
        name, equals, _ = override.partition("=")
        if not equals:
            raise UsageError(f"{override!r} sets no key of a run; {nearest(name, known)}")
        if name not in known:
            raise no_such_key(name, known)
    try:
        composed.merge_with_dotlist(list(overrides))
        refuse_unknown_keys(composed)
        check_composed(composed)
    except COMPOSING_ERRORS as error:
        raise explained(error) from error
    except ValueError as error:  # digits beyond what Python makes a number of
        raise UsageError(f"an override cannot be read ({error})") from error
    return composed


def _launched(folder: "RunFolder") -> tuple[Path, dict[str, str]]:
    """The folder that the run was launched in, and what was chosen for each group."""
    runtime = OmegaConf.select(_parsed(folder, HYDRA), "hydra.runtime")
    if not isinstance(runtime, DictConfig) or not {"cwd", "choices"} <= runtime.keys():
        raise _damaged(folder, HYDRA, "it does not say where the run was launched")
    chosen = runtime.choices.items()
    return Path(runtime.cwd), {
        group: name for group, name in chosen if name and not group.startswith("hydra/")
    }


def _parsed(folder: "RunFolder", name: str) -> DictConfig:
    try:
        tree = OmegaConf.create(folder.read_composed(name))
    except (ValueError, YAMLError, OmegaConfBaseException) as error:
        raise _damaged(folder, name, f"it is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(tree, DictConfig) or not tree:
        raise _damaged(folder, name, "it is empty")
    return tree


def _damaged(folder: "RunFolder", name: str, why: object) -> DataError:
    return DataError(f"{folder.path / '.hydra' / name} is damaged ({why}); {MEND}")
