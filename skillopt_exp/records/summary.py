"""The result of a run."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from skillopt_exp.records.standing import ACall, Evidence, Gain, GroupResult, Interval
from skillopt_exp.records.state import StopReason


@dataclass(frozen=True, slots=True)
class Usage:
    """Paid calls and their tokens. None is unknown (the provider did not say), which is not zero.

    ``reused`` counts answers that came from the store instead, ``lost`` requests that were sent and whose
    answer was lost, with their process for instance: perhaps paid, for unknown tokens. Both are in no
    other number.
    """

    calls: int = 0
    reused: int = 0
    input_tokens: int | None = 0
    cached_tokens: int | None = 0
    output_tokens: int | None = 0
    reasoning_tokens: int | None = 0
    cost_usd: float | None = 0.0
    lost: int = 0


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run spent, over all its processes.

    ``usage`` is by ``<role>/<stage>``; ``failed_requests`` counts by role and HTTP status ("no answer"
    where there was none) the requests that failed, most of which were sent again.
    """

    usage: Mapping[str, Usage] = field(default_factory=dict)
    failed_requests: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


FINISHED = "finished"
"""The status of a run that took all of its steps."""

TRAINED = "trained"
"""The status of a run that ended without its test: a job of a sweep, of which the winner alone is tested."""


def stopped(reason: str) -> str:
    """The status of a run that ended before."""
    return f"stopped({reason})"


@dataclass(frozen=True, slots=True)
class Summary:
    """What ``summary.json`` holds: the run's result, in fractions, with intervals.

    ``selection`` in a name is val, on which the best skill was chosen; ``test`` is held out. The control
    is no skill at all. ``test_digests`` tells which of the tested skills are one text. ``test_gains`` are
    differences between skills whose texts differ. ``test_a_call`` says by skill what one call took, and
    ``skill_cost_a_call`` what one with the best skill takes more than one of the control.
    """

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
    val_attempts_not_needed: int
    outcomes: Mapping[str, int]
    seed_digest: str
    best_digest: str
    gate: str = ""
    control_test_hard: float | None = None
    control_test_hard_interval: Interval | None = None
    baseline_test_hard_interval: Interval | None = None
    test_hard_interval: Interval | None = None
    final_test_hard_interval: Interval | None = None
    test_digests: Mapping[str, str] = field(default_factory=dict)
    test_gains: tuple[Gain, ...] = ()
    test_by_group: Mapping[str, GroupResult] = field(default_factory=dict)
    test_a_call: Mapping[str, ACall] = field(default_factory=dict)
    skill_cost_a_call: ACall | None = None
    usage: Mapping[str, Usage] = field(default_factory=dict)
    failed_requests: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the run came to its end, the test included: there is nothing to resume."""
        return self.status in {FINISHED, *map(stopped, StopReason)}
