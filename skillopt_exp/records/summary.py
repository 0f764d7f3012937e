"""The result of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skillopt_exp.records.state import StopReason


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with the ends of its confidence interval; all in the value's own unit."""

    value: float
    low: float
    high: float


class Evidence(StrEnum):
    """What the paired test on the test items lets one say of the gain."""

    clear = "clear"
    within_noise = "within_noise"
    underpowered = "underpowered"


@dataclass(frozen=True, slots=True)
class Usage:
    """Paid calls and their tokens. None is unknown (the provider did not say), which is not zero.

    ``reused`` counts answers that came from the store instead: they are in no other number.
    """

    calls: int = 0
    reused: int = 0
    input_tokens: int | None = 0
    cached_tokens: int | None = 0
    output_tokens: int | None = 0
    reasoning_tokens: int | None = 0
    cost_usd: float | None = 0.0


FINISHED = "finished"
"""The status of a run that took all of its steps."""


def stopped(reason: str) -> str:
    """The status of a run that ended before."""
    return f"stopped({reason})"


@dataclass(frozen=True, slots=True)
class Summary:
    """What ``summary.json`` holds: the run's result, in fractions, with intervals."""

    format: int
    status: str
    verdict: str
    evidence: Evidence | None
    meets_seed_rule: bool
    cause: str
    dataset: str
    target: str
    optimizer: str
    simulated: bool
    seed: int
    baseline_selection_hard: float | None
    best_selection_hard: float | None
    best_step: int
    baseline_test_hard: float | None
    test_hard: float | None
    test_delta_hard: float | None
    test_delta_interval: Interval | None
    final_test_hard: float | None
    num_test_items: int
    total_steps: int
    total_accepts: int
    total_rejects: int
    val_attempts_saved: int
    outcomes: Mapping[str, int]
    seed_digest: str
    best_digest: str
    gate: str = ""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the run came to its end, the test included: there is nothing to resume."""
        return self.status in {FINISHED, *map(stopped, StopReason)}
