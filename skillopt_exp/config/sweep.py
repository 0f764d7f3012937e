"""``sweep``: how the jobs of one command (``-m``) belong together. Read by sweeps alone."""

from dataclasses import dataclass
from enum import Enum

from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError

OnError = Enum("OnError", {"continue": "continue", "stop": "stop"})
"""What becomes of the other jobs when one fails. (``continue`` is a word of Python's, hence this form.)"""

_NOT_IN_A_NAME = frozenset('/\\:*?"<>|')


@dataclass(kw_only=True)
class SweepConfig:
    """The jobs of a sweep share a folder, an MLflow run above theirs, and the limits of their endpoints."""

    name: str | None = key(
        None,
        affects=Affects.nothing,
        help="the sweep's folder under multirun; null is the data set and the keys that are swept",
    )
    on_error: OnError = key(
        OnError["continue"],
        affects=Affects.nothing,
        help="continue or stop: whether jobs still begin after one has failed",
    )
    fresh: bool = key(
        False,
        affects=Affects.nothing,
        help="start anew: what an earlier sweep of this name left is moved aside, not gone on with",
    )
    test_all: bool = key(
        False,
        affects=Affects.nothing,
        help="score every job on test; else the winner alone, once it is known",
    )

    def __post_init__(self) -> None:
        if self.name is not None and (
            not self.name.strip(". ") or _NOT_IN_A_NAME & set(self.name) or not self.name.isprintable()
        ):
            raise UsageError(
                f"sweep.name is {self.name!r}, which names no folder; give letters, digits and dashes, or "
                "hydra.sweep.dir=... for a folder elsewhere"
            )
