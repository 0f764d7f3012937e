"""Every key in one Markdown page, made from the schema: ``python -m skillopt_exp.config.reference``."""

import sys
from dataclasses import MISSING as NO_DEFAULT
from dataclasses import Field
from enum import Enum
from types import NoneType
from typing import Any, get_args

from omegaconf import MISSING

from skillopt_exp.config.root import chosen_by, schema_fields

_HEAD = """# All configuration keys

Made from the schema by `python -m skillopt_exp.config.reference`. A key is set on the command line
(`train.seed=1`) or in a file of its group. *Affects* says what changes with the key: the result of a
run, only its cost, or nothing but where and how it runs.

| key | default | affects | what it is |
| --- | --- | --- | --- |
"""


def reference() -> str:
    """The page, one row a key."""
    return _HEAD + "".join(_row(name, each) for name, each in schema_fields())


def _row(name: str, each: Field[Any]) -> str:
    help_text = each.metadata["help"] + _choices(each.type) + _readers(name)
    return f"| `{name}` | {_default(each)} | {each.metadata['affects']} | {help_text} |\n"


def _default(each: Field[Any]) -> str:
    if each.default == MISSING:
        return "chosen by the group's file"
    match each.default if each.default_factory is NO_DEFAULT else each.default_factory():
        case None:
            return "`null`"
        case bool(value):
            return f"`{str(value).lower()}`"
        case Enum() as member:
            return f"`{member.name}`"
        case value:
            return f"`{value}`"


def _readers(name: str) -> str:
    """The choices of the group that read the key, where not all do."""
    readers, group = chosen_by(name), name.partition(".")[0]
    return f"; only {', '.join(f'`{group}={each}`' for each in readers)}" if readers else ""


def _choices(kind: Any) -> str:
    kinds = [part for part in get_args(kind) or (kind,) if part is not NoneType]
    enums = [part for part in kinds if isinstance(part, type) and issubclass(part, Enum)]
    return "".join(f" ({', '.join(member.name for member in enum)})" for enum in enums)


if __name__ == "__main__":
    sys.stdout.write(reference())
