"""How one configuration key is declared: its default, its help, and what a change of it affects."""

from collections.abc import Callable
from dataclasses import field
from enum import StrEnum
from typing import Any

from omegaconf import MISSING


class Affects(StrEnum):
    """What changes when a key changes: the run's result, only its cost, or neither."""

    result = "result"
    cost = "cost"
    nothing = "nothing"


def key(
    default: Any = MISSING,
    *,
    affects: Affects,
    help: str,
    factory: Callable[[], Any] | None = None,
) -> Any:
    """A dataclass field that knows its help text and what it affects.

    Without ``default`` or ``factory`` the key is mandatory (``???`` in Hydra's words).
    """
    metadata = {"affects": affects, "help": help}
    if factory is not None:
        return field(default_factory=factory, metadata=metadata)
    return field(default=default, metadata=metadata)
