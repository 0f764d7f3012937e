"""What tests of the client share: planted keys, and a clock that only sleeping moves."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from skillopt_exp.llm import Models
from skillopt_exp.llm.limits import Clock

KEY = "planted-key-5f1c9a"
OPTIMIZER_KEY = "planted-other-77aa01"

Connected = Callable[..., AbstractAsyncContextManager[Models]]


@dataclass
class Sleeps:
    """A clock on which time passes only by sleeping; ``naps`` are all sleeps in seconds."""

    naps: list[float] = field(default_factory=list)
    now: float = 0.0

    async def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    def clock(self, chance: float = 0.5) -> Clock:
        return Clock(monotonic=lambda: self.now, sleep=self.sleep, chance=lambda: chance)
