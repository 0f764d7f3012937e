"""``resume``: go on with a run that ended early, from its last completed step."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from skillopt_exp.commands.arguments import Verb, parse, split_own
from skillopt_exp.commands.safety import check_composed
from skillopt_exp.config import register
from skillopt_exp.config.key import Affects, key
from skillopt_exp.config.names import nearest
from skillopt_exp.config.root import known_keys, no_such_key, refuse_unknown_keys, typed
from skillopt_exp.errors import DataError, UsageError

VERB = Verb(
    "resume",
    "Go on with a run that was stopped, killed or paused, from its last completed step. Keys that affect "
    "the cost or nothing may be given anew (see docs/keys.md): a higher budget, more slots, another "
    "tracking.uri.",
    "python -m skillopt_exp resume run=outputs/demo/2026-12-01_15-01-52-11dc58",
)


@dataclass(kw_only=True)
class ResumeArguments:
    """Keys of the verb; all others are keys of the run's own configuration."""

    run: str = key(affects=Affects.nothing, help="the run's folder")
    other_prompts: bool = key(
        False, affects=Affects.nothing, help="go on although the optimizer's prompts have changed since"
    )


def run(arguments: Sequence[str]) -> int:
    """Go on with the run, or say that it is complete."""
    own, overrides = split_own(ResumeArguments, arguments)
    asked = parse(ResumeArguments, own, VERB)
    if asked is None:
        return 0

    from rich.console import Console

    from skillopt_exp.commands.running import Launch, go_on
    from skillopt_exp.runs.folder import RunFolder

    folder = RunFolder.open(Path(asked.run).expanduser().resolve())
    summary = folder.read_summary()
    if summary is not None and summary.complete:
        sys.stdout.write(f"{folder.path} is complete: {summary.verdict}; its skill is {folder.best_skill}\n")
        return 0
    register()
    composed = read_composed(folder.path / ".hydra" / "config.yaml", overrides)
    launched = _load(folder.path / ".hydra" / "hydra.yaml").hydra.runtime
    base = Path(launched.cwd)
    choices = {
        group: name for group, name in launched.choices.items() if name and not group.startswith("hydra/")
    }
    go_on(
        composed,
        folder,
        Launch(base=base if base.is_dir() else Path.cwd(), choices=choices, console=Console()),
        other_prompts=asked.other_prompts,
    )
    return 0


def read_composed(file: Path, overrides: Sequence[str]) -> DictConfig:
    """The configuration that Hydra saved, typed again, with ``overrides`` (key=value) on top.

    Raises:
        UsageError: an override names no key, or a value does not fit.
        DataError: the file is missing or damaged.
    """
    try:
        composed = typed(_load(file))
        known = known_keys(composed)
        for override in overrides:
            name, equals, _ = override.partition("=")
            if not equals:
                raise UsageError(f"{override!r} sets no key of a run; {nearest(name, known)}")
            if name not in known:
                raise no_such_key(name, known)
        composed.merge_with_dotlist(list(overrides))
    except (OmegaConfBaseException, YAMLError) as error:
        raise UsageError(str(error).strip().splitlines()[0]) from error
    refuse_unknown_keys(composed)
    check_composed(composed)
    return composed


def _load(file: Path) -> DictConfig:
    try:
        loaded = OmegaConf.load(file)
    except (OSError, ValueError, YAMLError, OmegaConfBaseException) as error:
        raise DataError(f"{file} cannot be read ({error}); a run needs it to be resumed") from error
    if not isinstance(loaded, DictConfig):
        raise DataError(f"{file} holds no configuration; a run needs it to be resumed")
    return loaded
