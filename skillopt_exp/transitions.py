"""The state after a step, and after an epoch. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from skillopt_exp.records import (
    EditResult,
    EpochTrace,
    Judged,
    Metric,
    Outcome,
    Patch,
    Remembered,
    Source,
    TrainState,
)
from skillopt_exp.stages.gate import gain

UNGATED = "ungated"
"""By what a candidate was accepted that the gate was not asked about."""


def advance(
    state: TrainState,
    step: int,
    judged: Judged,
    patches: Sequence[Patch],
    edits: Sequence[EditResult],
    metric: Metric,
) -> TrainState:
    """The state after ``step``, which the next steps of the epoch remember."""
    accepted = judged.verdict.outcome is Outcome.accepted
    failures = [patch for patch in patches if patch.source is Source.failure]
    remembered = Remembered(
        step=step,
        failure_summaries=tuple(patch.failure_summary for patch in failures if patch.failure_summary),
        rejected_edits=tuple(result for result in edits if not (accepted and result.applied)),
        outcome=judged.verdict.outcome,
        by=judged.verdict.by,
    )
    return replace(_kept(state, judged, metric), step=step, step_buffer=(*state.step_buffer, remembered))


def after_epoch(state: TrainState, trace: EpochTrace | None, metric: Metric) -> TrainState:
    """The state that the next epoch begins with. The step buffer was the epoch's, and ends with it."""
    judged = None if trace is None else trace.judged
    if judged is not None:
        state = _kept(state, judged, metric)
        if judged.selection and judged.candidate.scores:
            state = replace(state, epoch_scored=(*state.epoch_scored, judged.candidate))
    advice = "" if trace is None or trace.meta_skill is None else trace.meta_skill.text
    return replace(
        state, step_buffer=(), last_epoch=state.current.skill, meta_skill=advice or state.meta_skill
    )


def waved_through(judged: Judged) -> Judged:
    """Accepted past the gate, unless it is no other text or was refused before it met the target."""
    if judged.verdict.outcome is Outcome.unchanged or not judged.candidate.scores:
        return judged
    return replace(judged, verdict=replace(judged.verdict, outcome=Outcome.accepted, by=UNGATED))


def _kept(state: TrainState, judged: Judged, metric: Metric) -> TrainState:
    """An accepted candidate is current. It is best where it beats the best: not all gates ask for that."""
    if judged.verdict.outcome is not Outcome.accepted:
        return state
    candidate = judged.candidate
    better = gain(candidate, state.best, metric) > 0
    return replace(
        state,
        current=candidate,
        best=candidate if better else state.best,
        ungated=state.ungated or judged.verdict.by == UNGATED,
    )
