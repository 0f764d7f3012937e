"""Composing without a run, and Hydra's complaints in one message with what to type instead."""

import re
import shlex
from collections.abc import Sequence

from hydra import compose as hydra_compose
from hydra import initialize_config_dir
from hydra.errors import HydraException, OverrideParseException
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from skillopt_exp.commands.safety import check_composed
from skillopt_exp.config import Config, register, to_config
from skillopt_exp.config.locate import conf_dir
from skillopt_exp.config.root import no_such_key, schema_keys
from skillopt_exp.errors import UsageError


def explained(error: HydraException | OmegaConfBaseException) -> UsageError:
    """The error as a user should read it."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, UsageError):
            return cause
        cause = cause.__cause__
    if isinstance(error, OverrideParseException):
        return UsageError(_unparsable(error.override))
    text = str(error).strip()
    ambiguous = re.match(r"Ambiguous value for argument '(.*)'", text)
    if ambiguous:
        return UsageError(f"{_unparsable(ambiguous[1])}; to sweep over the values add -m")
    unknown = re.match(r"Could not override '([^']+)'", text)
    if unknown and isinstance(error.__cause__, OmegaConfBaseException) and _is_missing_key(error.__cause__):
        return no_such_key(unknown[1], schema_keys())
    asked = re.search(r"Could not find '(\w+)/([^']+\.(?:jsonl?|csv)[^']*)'", text)
    if asked and asked[1] == "dataset":
        return UsageError(
            f"dataset={asked[2]} names no file of conf/dataset; for a file of your own: "
            f"dataset=qa dataset.path={asked[2]}"
        )
    detail = str(error.__cause__).strip().splitlines()[0] if error.__cause__ else ""
    return UsageError(text if not detail or detail in text else f"{text.splitlines()[0]} {detail}")


def _is_missing_key(error: OmegaConfBaseException) -> bool:
    return "not in" in str(error).splitlines()[0]


def _unparsable(override: str) -> str:
    name, _, value = override.partition("=")
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
        with initialize_config_dir(config_dir=str(conf_dir()), version_base="1.3"):
            composed = hydra_compose("config", overrides=list(overrides))
    except (HydraException, OmegaConfBaseException) as error:
        raise explained(error) from error
    check_composed(composed)
    return composed
