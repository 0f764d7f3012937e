"""Rollouts as lines of JSON: the item by its id, the rest whole."""

from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.records import Fault, Message, Rollout, Score
from skillopt_exp.runs.codec import from_json
from skillopt_exp.runs.files import read_jsonl


@dataclass(frozen=True, slots=True)
class RolloutLine:
    """One rollout. Scores are in [0, 1]."""

    id: str
    attempt: int
    hard: float
    soft: float
    feedback: str
    prediction: str
    fault: Fault | None
    messages: tuple[Message, ...]

    @property
    def score(self) -> Score:
        """The score as the gate reads it."""
        return Score(self.hard, self.soft, self.feedback)


def line_of(rollout: Rollout) -> RolloutLine:
    """The line that keeps ``rollout``."""
    return RolloutLine(
        id=rollout.item.id,
        attempt=rollout.attempt,
        hard=rollout.score.hard,
        soft=rollout.score.soft,
        feedback=rollout.score.feedback,
        prediction=rollout.prediction,
        fault=rollout.fault,
        messages=rollout.messages,
    )


def read_rollouts(path: Path) -> tuple[RolloutLine, ...]:
    """The lines of a file of rollouts.

    Raises:
        DataError: missing or damaged; names the line.
    """
    return read_jsonl(path, lambda line, where: from_json(RolloutLine, line, where))
