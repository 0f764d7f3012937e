"""Parsing the small verbs: ``key=value`` against a dataclass, lists as ``[a,b]``, help from its fields."""

import sys
from collections.abc import Sequence
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import Field, dataclass, fields
from typing import Any, TypeVar, cast

from omegaconf import MISSING, DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from skillopt_exp.config.names import nearest
from skillopt_exp.errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Verb:
    """What a verb is called and what it says of itself."""

    name: str
    summary: str
    example: str


def parse(schema: type[T], arguments: Sequence[str], verb: Verb) -> T | None:
    """The arguments as ``schema``; None when ``--help`` was asked for and shown.

    Raises:
        UsageError: an unknown key (with the nearest known one), a value that does not fit, a missing one.
    """
    if any(argument in ("-h", "--help") for argument in arguments):
        sys.stdout.write(help_text(schema, verb))
        return None
    known = {each.name for each in fields(schema)}  # type: ignore[arg-type]
    config = OmegaConf.structured(schema)
    for argument in arguments:
        name, equals, _ = argument.partition("=")
        if not equals:
            raise UsageError(f"{argument!r} is no key=value; for example: {verb.example}")
        if name not in known:
            raise UsageError(f"{verb.name} has no key {name!r}; {nearest(name, known)}")
        try:
            config.merge_with_dotlist([argument])
            value = config[name]  # refers to another key where it holds ${...}
        except (OmegaConfBaseException, YAMLError) as error:
            raise UsageError(f"{argument}: {str(error).splitlines()[0]}") from error
        except ValueError as error:
            if "digits" not in str(error):
                raise
            raise UsageError(
                f"{name} is a number of too many digits ({len(argument):,} characters)"
            ) from error
        if isinstance(value, ListConfig) and any(isinstance(each, DictConfig | ListConfig) for each in value):
            raise UsageError(f"{argument}: a list of plain values is wanted, as [a,b]")
    missing = sorted(OmegaConf.missing_keys(config))
    if missing:
        raise UsageError(f"{verb.name} needs {missing[0]}; for example: {verb.example}")
    return cast(T, OmegaConf.to_object(config))


def split_own(schema: type[Any], arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments that are keys of ``schema`` (and the help flags), and all others."""
    names = {each.name for each in fields(schema)} | {"-h", "--help"}
    own = [argument for argument in arguments if argument.partition("=")[0] in names]
    return own, [argument for argument in arguments if argument not in own]


def help_text(schema: type[Any], verb: Verb) -> str:
    """Usage, keys with their defaults, an example."""
    lines = [f"python -m skillopt_exp {verb.name} key=value ...", "", verb.summary, ""]
    width = max(len(each.name) for each in fields(schema))
    for each in fields(schema):
        lines.append(f"  {each.name:<{width}}  {each.metadata.get('help', '')} ({_default(each)})")
    return "\n".join([*lines, "", f"Example: {verb.example}", ""])


def _default(each: Field[Any]) -> str:
    if each.default == MISSING:
        return "required"
    match each.default if each.default_factory is NO_DEFAULT else each.default_factory():
        case None:
            return "default null"
        case bool(value):
            return f"default {str(value).lower()}"
        case value:
            return f"default {value}"
