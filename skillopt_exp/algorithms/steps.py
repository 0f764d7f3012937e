"""A step that is one proposal and its verdict, for algorithms that have no stages."""

from collections.abc import Sequence
from dataclasses import replace

from skillopt_exp.records import (
    EditLimit,
    EditResult,
    Judged,
    Metric,
    Patch,
    Rollout,
    StepTrace,
    TrainState,
)
from skillopt_exp.transitions import advance

NO_PATCH = Patch(())
"""Of a proposal that is not made of edits, or that nobody made."""


def one_proposal(
    state: TrainState,
    judged: Judged,
    metric: Metric,
    *,
    epoch: int = 1,
    rollouts: Sequence[Rollout] = (),
    patch: Patch = NO_PATCH,
    edits: Sequence[EditResult] = (),
) -> StepTrace:
    """The step after ``state``, and in it the state that follows from the verdict by the gate's ``metric``.

    ``rollouts`` are the attempts at train items that led to the proposal, ``patch`` and ``edits`` what was
    proposed and what became of it. Steps do not remember each other.
    """
    after = advance(state, state.step + 1, judged, (patch,), edits, metric)
    return StepTrace(
        epoch=epoch,
        rollouts=tuple(rollouts),
        patches=(patch,),
        merged=patch,
        limit=EditLimit(None),
        selected=patch,
        edits=tuple(edits),
        judged=judged,
        state=replace(after, step_buffer=()),
    )
