"""The optimizer's conversations of a step as lines of JSON."""

from collections.abc import Iterable
from pathlib import Path

from skillopt_exp.records import Exchange
from skillopt_exp.runs.codec import from_json, to_json
from skillopt_exp.runs.files import read_jsonl, write_atomic


def write_exchanges(path: Path, exchanges: Iterable[Exchange]) -> None:
    """One conversation a line."""
    write_atomic(path, "".join(f"{to_json(exchange)}\n" for exchange in exchanges))


def read_exchanges(path: Path) -> tuple[Exchange, ...]:
    """The lines that ``write_exchanges`` wrote.

    Raises:
        DataError: missing or damaged; names the line.
    """
    return read_jsonl(path, lambda line, where: from_json(Exchange, line, where))
