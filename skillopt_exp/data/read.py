"""Source files to records: JSON, JSON Lines and CSV, plain or gzipped, by extension.

Numbers stay the text that was written (``1987``, ``3.0``): an answer is compared as text, and
a detour through floats would change it.
"""

import csv
import gzip
import hashlib
import io
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from skillopt_exp.errors import DataError
from skillopt_exp.reading import MOST_ITEMS, read_regular, why

Value: TypeAlias = "str | bool | list[Value] | dict[str, Value] | None"
"""What a field can hold once numbers are text. JSON's NaN is None: it is how tables write 'absent'."""

SUFFIXES = tuple(f"{kind}{packed}" for kind in (".json", ".jsonl", ".csv") for packed in ("", ".gz"))

# The csv module's own limit of 128 KiB a field is less than a long context; this is a C long everywhere.
_LONGEST_CSV_FIELD = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Record:
    """One source record. ``where`` says which, as ``items.jsonl:3`` or ``items.json: record 3``."""

    where: str
    fields: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Source:
    """One file as read: the SHA-256 of its bytes (64 hex digits) and at least one record."""

    label: str
    sha256: str
    records: tuple[Record, ...]


def read(path: Path, *, label: str, list_at: str | None) -> Source:
    """All records of a file. ``list_at`` is the dotted path to the list in a JSON file, if any.

    Raises:
        DataError: the file cannot be read as what its extension says, or holds no records.
    """
    kind = next((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), None)
    if kind is None:
        raise DataError(f"{label}: items are read from {', '.join(SUFFIXES)}; convert it, or rename it")
    try:
        data = read_regular(path, most=MOST_ITEMS)
    except OSError as error:
        raise DataError(f"{label}: cannot be read ({why(error)}); looked at {path}") from error
    text = _decode(_unpack(data, label) if kind.endswith(".gz") else data, label)
    kind = kind.removesuffix(".gz")
    if list_at is not None and kind != ".json":
        raise DataError(
            f"{label}: dataset.records={list_at} finds a list inside a .json file, which this is not; "
            "set dataset.records=null"
        )
    match kind:
        case ".json":
            records = tuple(_json_records(text, label, list_at))
        case ".jsonl":
            records = tuple(_json_lines(text, label))
        case _:
            records = tuple(_csv_rows(text, label))
    if not records:
        raise DataError(f"{label}: holds no items; give a file with at least one a split")
    return Source(label, hashlib.sha256(data).hexdigest(), records)


def _unpack(data: bytes, label: str) -> bytes:
    try:
        with gzip.open(io.BytesIO(data)) as packed:
            unpacked = packed.read(MOST_ITEMS + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{label}: is not a whole gzip file ({error}); pack it again, or drop .gz") from error
    if len(unpacked) > MOST_ITEMS:
        raise DataError(f"{label}: is larger than {MOST_ITEMS / 1e6:,.0f} MB unpacked; give a part of it")
    return unpacked


def _decode(data: bytes, label: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        # error.object is what was decoded: the data without its byte order mark
        line = error.object[: error.start].count(b"\n") + 1
        raise DataError(f"{label}:{line}: is not UTF-8 text ({error.reason}); save it as UTF-8") from error


def _parse(text: str) -> Value:
    parsed: Value = json.loads(text, parse_int=str, parse_float=str, parse_constant=lambda _: None)
    return parsed


def _json_lines(text: str, label: str) -> Iterator[Record]:
    # split("\n"), because splitlines() also cuts at characters that may stand inside a JSON string
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{label}:{number}"
        try:
            value = _parse(line)
        except json.JSONDecodeError as error:
            raise DataError(
                f"{where}: not valid JSON ({error.msg} at column {error.colno}); "
                "a .jsonl file has one JSON object a line"
            ) from error
        except RecursionError as error:
            raise DataError(f"{where}: nested too deeply to be a record") from error
        if not isinstance(value, dict):
            raise DataError(f"{where}: is {kind_of(value)}; a .jsonl file has one JSON object a line")
        yield Record(where, value)


def _json_records(text: str, label: str, list_at: str | None) -> Iterator[Record]:
    try:
        document = _parse(text)
    except json.JSONDecodeError as error:
        hint = "; one object a line is .jsonl: rename it" if error.msg == "Extra data" else ""
        raise DataError(f"{label}:{error.lineno}: not valid JSON ({error.msg}){hint}") from error
    except RecursionError as error:
        raise DataError(f"{label}: nested too deeply to be a list of records") from error
    for number, value in enumerate(_record_list(document, label, list_at), start=1):
        where = f"{label}: record {number}"
        if not isinstance(value, dict):
            raise DataError(f"{where}: is {kind_of(value)}; each item must be a JSON object")
        yield Record(where, value)


def _record_list(document: Value, label: str, list_at: str | None) -> list[Value]:
    """The list of items in a JSON document: where ``list_at`` says, or the only one that can be meant."""
    if list_at is None and isinstance(document, list):
        return document
    candidates = dict(_lists_of_objects(document, ""))
    offer = f"lists of objects in it: {', '.join(candidates) or 'none'}"
    if isinstance(document, list):
        offer = "the file itself is a list, so set dataset.records=null"
    if list_at is not None:
        try:
            value = look_up(document, list_at)
        except KeyError as error:
            raise DataError(f"{label}: dataset.records={list_at} is not in the file; {offer}") from error
        if not isinstance(value, list):
            raise DataError(f"{label}: dataset.records={list_at} is {kind_of(value)}, not a list; {offer}")
        return value
    if len(candidates) != 1:
        raise DataError(f"{label}: which list holds the items? Name it with dataset.records=...; {offer}")
    return next(iter(candidates.values()))


def _lists_of_objects(value: Value, path: str) -> Iterator[tuple[str, list[Value]]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _lists_of_objects(inner, f"{path}.{name}" if path else name)
    elif path and isinstance(value, list) and value and all(isinstance(each, dict) for each in value):
        yield path, value


def _csv_rows(text: str, label: str) -> Iterator[Record]:
    csv.field_size_limit(_LONGEST_CSV_FIELD)
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] | None = None
    while True:
        where = f"{label}:{rows.line_num + 1}"  # a row can span lines: this is where it starts
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(f"{where}: not valid CSV ({error})") from error
        if not any(row):
            continue
        if header is None:
            header = row
            repeated = sorted({name for name in header if header.count(name) > 1})
            if repeated:
                raise DataError(f"{where}: the header names {', '.join(repeated)} more than once; rename one")
            continue
        if len(row) != len(header):
            raise DataError(
                f"{where}: has {len(row)} fields, but the header has {len(header)}; "
                "put double quotes around fields with commas or line breaks"
            )
        yield Record(where, dict(zip(header, row, strict=True)))


def look_up(value: Value, dotted: str) -> Value:
    """What ``dotted`` names in nested objects; a key that has the dots in its name comes first.

    Raises:
        KeyError: there is no such field.
    """
    if not isinstance(value, dict):
        raise KeyError(dotted)
    if dotted in value:
        return value[dotted]
    first, dot, rest = dotted.partition(".")
    if not dot:
        raise KeyError(dotted)
    return look_up(value[first], rest)


def kind_of(value: Any) -> str:
    """``value``'s kind in words for a message, with its fields where it has some."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a text"
        case list():
            return "a list" if value else "an empty list"
        case _:
            return f"a record (with {', '.join(value) or 'no fields'})"
