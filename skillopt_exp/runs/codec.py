"""Frozen values to JSON and back, driven by their type hints: the one way into and out of a run's files.

Knows what the records are made of: dataclasses, enums, ``tuple[X, ...]``, mappings with text keys,
``X | None``, and plain JSON values. A number that is not finite is refused in both directions.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, NoReturn, TypeVar, Union, get_args, get_origin, get_type_hints

from skillopt_exp.errors import DataError

T = TypeVar("T")


def to_json(value: object, *, indent: int | None = None) -> str:
    """``value`` as JSON text, equal for equal values: fields as declared, keys of mappings sorted.

    One line unless ``indent`` is given; no line end at the end.

    Raises:
        ValueError: a number is not finite.
        TypeError: a part of the value is of a kind that the module does not know.
    """
    text = json.dumps(_plain(value), ensure_ascii=False, allow_nan=False, indent=indent)
    # Half a surrogate pair has no UTF-8 form. Non-ASCII stands inside JSON strings alone, where
    # Python's \udxxx is the JSON escape of the same half, so it survives the round trip.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def from_json(kind: type[T], text: str, where: str) -> T:
    """The value of type ``kind`` that ``to_json`` wrote as ``text``; ``where`` names it in messages.

    A field with a default may be absent; an unknown one may not be there.

    Raises:
        DataError: not JSON, or not JSON of that type; names the place inside the text.
    """
    try:
        data = json.loads(text, parse_constant=_not_a_number)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: not valid JSON ({error})") from error
    value: T = _typed(kind, data, where)
    return value


def _plain(value: object) -> Any:
    match value:
        case Enum():
            return value.value
        case None | bool() | int() | float() | str():
            return value
        case tuple() | list():
            return [_plain(part) for part in value]
        case Mapping():
            return {key: _plain(value[key]) for key in sorted(value)}
        case _ if is_dataclass(value):
            return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    raise TypeError(f"{type(value).__name__} has no JSON form here")


def _typed(kind: Any, data: Any, where: str) -> Any:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return None if data is None else _typed(_without_none(kind), data, where)
    if origin is tuple:
        return _tuple(get_args(kind)[0], data, where)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(get_args(kind)[1], data, where)
    if is_dataclass(kind):
        return _record(kind, data, where)
    if issubclass(kind, Enum):
        return _member(kind, data, where)
    return _scalar(kind, data, where)


def _without_none(kind: Any) -> Any:
    (only,) = (part for part in get_args(kind) if part is not NoneType)
    return only


def _tuple(part: Any, data: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(data, list):
        _refuse("a list", data, where)
    return tuple(_typed(part, one, f"{where}[{index}]") for index, one in enumerate(data))


def _mapping(part: Any, data: Any, where: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        _refuse("an object", data, where)
    return {key: _typed(part, one, f"{where}.{key}") for key, one in data.items()}


def _record(kind: Any, data: Any, where: str) -> Any:
    if not isinstance(data, dict):
        _refuse(f"an object ({kind.__name__})", data, where)
    hints = _hints(kind)
    unknown = sorted(data.keys() - hints.keys())
    if unknown:
        raise DataError(f"{where}: unknown key {unknown[0]!r}; was it written by a newer version?")
    missing = [field.name for field in fields(kind) if field.name not in data and not _has_default(field)]
    if missing:
        raise DataError(f"{where}: the key {missing[0]!r} is missing")
    values = {name: _typed(hints[name], one, f"{where}.{name}") for name, one in data.items()}
    try:
        return kind(**values)
    except ValueError as error:
        raise DataError(f"{where}: {error}") from error


@cache
def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _has_default(field: Field[Any]) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _member(kind: type[Enum], data: Any, where: str) -> Enum:
    known = {member.value: member for member in kind}
    if not isinstance(data, str) or data not in known:
        _refuse(f"one of {', '.join(map(str, known))}", data, where)
    return known[data]


def _scalar(kind: type, data: Any, where: str) -> Any:
    if kind is float and type(data) in (int, float):
        # 1e999 is valid JSON and reads as infinity.
        return float(data) if math.isfinite(data) else _refuse("a finite number", data, where)
    if type(data) is not kind:
        _refuse(f"of type {kind.__name__}", data, where)
    return data


def _not_a_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _refuse(wanted: str, data: Any, where: str) -> NoReturn:
    raise DataError(f"{where}: must be {wanted}, not {str(data)[:60]!r}")
