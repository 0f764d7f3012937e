"""Composing without a run, and Hydra's complaints in one message with what to type instead."""

import re
import shlex
from collections.abc import Sequence

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException
from yaml import MarkedYAMLError, YAMLError

from skillopt_exp.commands import no_such_verb
from skillopt_exp.commands.overrides import check_overrides
from skillopt_exp.commands.safety import check_composed
from skillopt_exp.config import Config, register, to_config
from skillopt_exp.config.locate import conf_dir
from skillopt_exp.config.names import did_you_mean, meant
from skillopt_exp.config.root import no_such_key, schema_keys
from skillopt_exp.errors import UsageError

COMPOSING_ERRORS = (HydraException, OmegaConfBaseException, YAMLError)
"""What composing raises on a user's input."""


def explained(error: Exception) -> UsageError:
    """One of ``COMPOSING_ERRORS`` as a user should read it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, UsageError):
            return cause
        cause = cause.__cause__
    if isinstance(error, OverrideParseException):
        return UsageError(_unparsable(error.override))
    if isinstance(error, YAMLError):
        return UsageError(_no_yaml(error))
    if isinstance(error, OmegaConfBaseException):
        return UsageError(_of_omegaconf(error))
    text = str(error).strip()
    ambiguous = re.match(r"Ambiguous value for argument '(.*)'", text)
    if ambiguous:
        return UsageError(f"{_unparsable(ambiguous[1])}; to sweep over the values add -m")
    inner = error.__cause__
    if isinstance(inner, OmegaConfBaseException):
        return UsageError(_of_override(text, inner))
    return UsageError(_no_file(text) or text.splitlines()[0])


def _of_override(text: str, inner: OmegaConfBaseException) -> str:
    """About an override that the schema does not take; ``text`` is Hydra's, ``inner`` what is behind it."""
    unknown = re.match(r"Could not override '([^']+)'", text)
    if unknown and "not in" in str(inner).splitlines()[0]:
        # In a mapping of several keys it is one of them, which only the error behind it knows.
        return str(no_such_key(inner.full_key or unknown[1], schema_keys()))
    merging = re.match(r"Error merging override (.*)", text)
    where = merging[1] if merging else text.splitlines()[0]
    return f"{where}: {_complaint(inner)}"


def _of_omegaconf(error: OmegaConfBaseException) -> str:
    where = f"{error.full_key}: " if error.full_key else ""
    return f"{where}{_complaint(error)}"


def _complaint(error: OmegaConfBaseException) -> str:
    text = (str(error).strip().splitlines() or [type(error).__name__])[0]
    required = re.match(r"field '(.+)' is not Optional", text)
    return f"{required[1]} cannot be null; give a value" if required else text


def _no_file(text: str) -> str | None:
    """About a group that has no file of the name that was chosen."""
    own = re.search(r"Could not find 'dataset/([^']+\.(?:jsonl?|csv)[^']*)'", text)
    if own:
        return (
            f"dataset={own[1]} names no file of conf/dataset; for a file of your own: "
            f"dataset=qa dataset.path={own[1]}"
        )
    asked = re.search(r"Could not find '([^']+)/([^'/]*)'", text)
    if not asked:
        return None
    group, name = asked[1], asked[2]
    # Those of the schema are for files to begin with, not to be chosen.
    options = re.findall(r"^\t(?!base_)(\S+)$", text, re.MULTILINE)
    close = meant(name, options)
    hint = f"; {did_you_mean(close)}" if close else ""
    return f"{group}={name} names no file of conf/{group}{hint} (files: {', '.join(options)})"


def _no_yaml(error: YAMLError) -> str:
    mark = error.problem_mark if isinstance(error, MarkedYAMLError) else None
    if mark is None:
        return f"a configuration file is not valid YAML: {' '.join(str(error).split())}"
    assert isinstance(error, MarkedYAMLError)
    return (
        f"{mark.name}:{mark.line + 1}: not valid YAML ({error.problem}); correct it, or choose another file"
    )


def _unparsable(override: str) -> str:
    name, equals, value = override.partition("=")
    if override.startswith("-"):
        return f"{override!r} is an option of training's; give key=value"
    if not equals:
        return f"{override!r} is no key=value, and a verb comes first. {no_such_verb(override)}"
    quoted = shlex.quote(f'{name}="{value}"' if '"' not in value else f"{name}='{value}'")
    return f"{override!r} does not follow Hydra's grammar; if the value is plain text, quote it: {quoted}"


def compose(overrides: Sequence[str]) -> Config:
    """The checked experiment of ``overrides``, for verbs that leave no run folder.

    Raises:
        UsageError: as for training.
    """
    return to_config(compose_raw(overrides))


def compose_raw(overrides: Sequence[str]) -> DictConfig:
    """The composed configuration itself, not yet checked.

    Raises:
        UsageError: as for training.
    """
    register()
    try:
        check_overrides(overrides)
        with initialize_config_dir(config_dir=str(conf_dir()), version_base="1.3"):
            composed = hydra_compose("config", overrides=list(overrides))
        check_composed(composed)
    except COMPOSING_ERRORS as error:
        raise explained(error) from error
    return composed
