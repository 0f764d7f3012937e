"""Overrides that Hydra takes for what they cannot be: refused in words, before it composes anything.

A group (``model``) is chosen by the name of one of its files. A node of the schema (``train``) has keys,
and no value of its own.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Override, QuotedString

from skillopt_exp.config.locate import conf_dir
from skillopt_exp.config.root import Config, schema_keys
from skillopt_exp.errors import UsageError

_HYDRA = "hydra"

_SINGLE = frozenset(each.name for each in fields(Config))
"""The groups of which an experiment has one file; of others, as ``experiment``, several may be combined."""


@dataclass(frozen=True, slots=True)
class _Places:
    """Where groups may be: the folders that hold configuration files."""

    folders: tuple[Path, ...]

    def is_group(self, name: str) -> bool:
        # What Hydra itself ships is not looked up: its groups are `hydra` and what follows its slash.
        return (
            name == _HYDRA
            or name.startswith(f"{_HYDRA}/")
            or any(folder.joinpath(name).is_dir() for folder in self.folders)
        )

    def files(self, group: str) -> list[str]:
        return sorted(
            {file.stem for folder in self.folders for file in folder.joinpath(group).glob("*.yaml")}
        )


def check_overrides(overrides: Sequence[str], config_dir: str | None = None) -> None:
    """Look at the value of each override; ``config_dir`` is a folder of the user's own.

    Raises:
        OverrideParseException: one does not follow Hydra's grammar.
        UsageError: a group is set to something that is no file's name, or a node to something that has
            no keys. Names the override and what to write.
    """
    places = _Places((conf_dir(), *([] if config_dir is None else [Path(config_dir)])))
    nodes = _nodes()
    parser = OverridesParser.create()
    for text in overrides:
        try:
            (override,) = parser.parse_overrides([text])
        except ValueError as error:  # digits beyond what Python makes a number of
            raise UsageError(f"{_name(text)}: {_in_brief(error)}") from error
        name = override.key_or_group
        if not name:
            raise UsageError(f"{text[:60]!r} names no key before its '='; give key=value")
        if override.is_delete():
            if not places.is_group(name) and (name in nodes or name in schema_keys()):
                raise UsageError(
                    f"~{name}: what the schema has cannot be taken out; give it another value, or leave it"
                )
            continue
        for value in _values(override):
            if places.is_group(name):
                _check_choice(name, value, places)
            elif name in nodes and not isinstance(value, dict):
                _refuse_node(name, value)


def quoted(text: str) -> str:
    """``text`` as a value in Hydra's grammar, whatever it holds."""
    # A backslash counts as itself but before a quote.
    escaped = re.sub(r"\\+(?='|$)", lambda slashes: slashes[0] * 2, text).replace("'", "\\'")
    return f"'{escaped}'"


def _check_choice(group: str, value: Any, places: _Places) -> None:
    if isinstance(value, str | QuotedString):
        return
    files = ", ".join(places.files(group))
    if not files:
        hint = "see python -m skillopt_exp --hydra-help"
        raise UsageError(f"{group}={_shown(value)}: {group} is a group of Hydra's own; {hint}")
    if not isinstance(value, list):
        raise UsageError(f"{group}={_shown(value)}: {group} is a group; choose one of its files: {files}")
    if group.partition("/")[0] in _SINGLE:
        raise UsageError(
            f"{group}={_shown(value)}: an experiment has one {group}; choose one of {files}, "
            f"or sweep over several: -m {group}=a,b"
        )


def _refuse_node(name: str, value: Any) -> None:
    inner = min(key for key in schema_keys() if key.startswith(f"{name}."))
    raise UsageError(
        f"{name}={_shown(value)}: {name} is a group of keys and has no value itself; "
        f"set each key by its name, as {inner}=..."
    )


def _nodes() -> frozenset[str]:
    """Every dotted name that has keys below it."""
    return frozenset(
        name.rsplit(".", depth)[0] for name in schema_keys() for depth in range(1, name.count(".") + 1)
    )


def _values(override: Override) -> Iterable[Any]:
    value: Any = override._value  # `value()` refuses sweeps
    if isinstance(value, ChoiceSweep):
        return value.list
    return () if override.is_sweep_override() else (value,)


def _shown(value: Any) -> str:
    return "null" if value is None else str(value)[:60]


def _name(override: str) -> str:
    return override.partition("=")[0][:60]


def _in_brief(error: ValueError) -> str:
    limit = sys.get_int_max_str_digits()
    return f"a number of more than {limit:,} digits" if "digits" in str(error) else str(error)
