"""``cache`` and ``budget``: what was paid for is kept, and what may be paid is capped."""

import math
from dataclasses import dataclass
from enum import Enum

from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError


class CacheMode(Enum):
    """Whether answers are taken from the store, and whether new ones go into it."""

    readwrite = "readwrite"
    read = "read"
    none = "none"


@dataclass(kw_only=True)
class CacheConfig:
    """The store of answers, shared by all runs and sweeps of one launch folder."""

    mode: CacheMode = key(
        CacheMode.readwrite, affects=Affects.cost, help="take stored answers and keep new ones"
    )
    path: str | None = key(
        None,
        affects=Affects.cost,
        help="the store's file; null is .skillopt/answers.sqlite in the launch folder",
    )
    max_gb: float = key(5.0, affects=Affects.cost, help="size in GB at which the store keeps no more answers")

    def __post_init__(self) -> None:
        if not 0 < self.max_gb < math.inf:
            raise UsageError(f"cache.max_gb is {self.max_gb}; give a size above 0, or cache.mode=none")


@dataclass(kw_only=True)
class BudgetConfig:
    """Caps on the whole run, over all its processes. Null is no cap."""

    usd: float | None = key(None, affects=Affects.cost, help="US dollars")
    tokens: int | None = key(None, affects=Affects.cost, help="input and output tokens together")
    calls: int | None = key(
        None, affects=Affects.cost, help="answered calls, and those whose answer was lost"
    )

    def __post_init__(self) -> None:
        for name, cap in (("usd", self.usd), ("tokens", self.tokens), ("calls", self.calls)):
            if cap is not None and not 0 < cap < math.inf:
                raise UsageError(f"budget.{name} is {cap}; give more than 0, or null for no cap")
