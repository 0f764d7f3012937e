"""Items, and attempts at them by the target."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Split(StrEnum):
    """What reflection sees, what the gate sees, what is scored for the report alone."""

    train = "train"
    val = "val"
    test = "test"

    @property
    def meaning(self) -> str:
        """What a score on the split is: fit, selection or held-out."""
        return {Split.train: "fit", Split.val: "selection", Split.test: "held-out"}[self]


class Metric(StrEnum):
    """What the gate compares: solved or not, partial credit, or the mean of both."""

    hard = "hard"
    soft = "soft"
    mixed = "mixed"


class Role(StrEnum):
    """The model that does the tasks, and the model that edits the skill."""

    target = "target"
    optimizer = "optimizer"


class Fault(StrEnum):
    """Why a reply could not be used, by the reply's own doing."""

    truncated = "truncated"
    too_long = "too_long"
    content_filter = "content_filter"
    empty = "empty"
    scorer_error = "scorer_error"
    unparsable = "unparsable"


@dataclass(frozen=True, slots=True)
class Item:
    """One task: a question with its accepted answers (at least one) and, maybe, a context.

    ``group`` is the kind of task that results are broken down by; no model is told, and empty is none.
    """

    id: str
    question: str
    answers: tuple[str, ...]
    context: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Splits:
    """The items of a data set, disjoint by id."""

    train: tuple[Item, ...]
    val: tuple[Item, ...]
    test: tuple[Item, ...]

    def __iter__(self) -> Iterator[Item]:
        yield from self.train
        yield from self.val
        yield from self.test


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that a model may call. ``parameters`` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to call a tool. ``arguments`` is JSON as the model wrote it, valid or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation. ``reasoning`` is the model's hidden text: kept, never scored.

    ``tool_calls`` are an assistant's; ``answers_call`` is, of a message with role ``tool``, the id of the
    call whose result it holds.
    """

    role: str
    content: str
    reasoning: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    answers_call: str = ""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One conversation with the optimizer, its reply last; ``stage`` says what it was for."""

    stage: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Score:
    """A rollout's score: ``hard`` is 0 or 1, ``soft`` in [0, 1]; ``feedback`` says what differed."""

    hard: float
    soft: float
    feedback: str = ""

    def __post_init__(self) -> None:
        for value in (self.hard, self.soft):
            if not (math.isfinite(value) and 0.0 <= value <= 1.0):
                raise ValueError(f"a score must be a number in [0, 1], not {value!r}")

    def value(self, metric: Metric) -> float:
        """The number that ``metric`` reads. The one definition of each metric."""
        match metric:
            case Metric.hard:
                return self.hard
            case Metric.soft:
                return self.soft
            case Metric.mixed:
                return (self.hard + self.soft) / 2


@dataclass(frozen=True, slots=True)
class Rollout:
    """One attempt at ``item``: the whole conversation, the answer read from it, its score.

    ``fault`` is set when the reply itself could not be used; the score is then 0.
    """

    item: Item
    attempt: int
    messages: tuple[Message, ...]
    prediction: str
    score: Score
    fault: Fault | None = None

    @property
    def failed(self) -> bool:
        return self.score.hard < 1.0


def mean(values: Iterable[float]) -> float | None:
    """The exactly rounded mean, or None of nothing."""
    known = list(values)
    return math.fsum(known) / len(known) if known else None


def count(values: Iterable[StrEnum | None]) -> dict[str, int]:
    """How often each value occurs, by name, in the order of their names."""
    counts = Counter(str(value) for value in values if value is not None)
    return dict(sorted(counts.items()))
