"""A question, with or without passages to read: how it is put and how its answer is scored."""

from dataclasses import dataclass
from functools import partial

from skillopt_exp.config.dataset import DatasetConfig, QADatasetConfig, Scorer
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Item, Message, Score
from skillopt_exp.tasks import golds, scoring
from skillopt_exp.tasks.answer import read_answer
from skillopt_exp.tasks.context import cut
from skillopt_exp.tasks.single_turn import SingleTurn

_ANSWER_PLACE = "Put the final answer inside <answer> and </answer>."


@dataclass(frozen=True, slots=True)
class Instructions:
    """What the target is told to do, for items with passages and for items without.

    They say nothing on how to answer well: that is what the skill is to learn.
    """

    with_passages: str
    without_passages: str


@dataclass(frozen=True, slots=True)
class QuestionTask:
    """A single-turn task over items' own fields. ``context_chars`` is the passages' budget."""

    instructions: Instructions
    scorer: Scorer
    context_chars: int

    def prompt(self, item: Item, skill: str) -> tuple[Message, ...]:
        """The skill as system message (none when blank), then instruction, passages and question."""
        passages = cut(item.context, self.context_chars).strip()
        told = self.instructions.with_passages if passages else self.instructions.without_passages
        parts = [told if "<answer>" in told else f"{told} {_ANSWER_PLACE}"]
        if passages:
            parts.append(f"## Context\n\n{passages}")
        parts.append(f"## Question\n\n{item.question}")
        user = Message("user", "\n\n".join(parts))
        return (Message("system", skill), user) if skill.strip() else (user,)

    def read(self, reply: str) -> str:
        """The text inside the last pair of answer tags, else the last line with text."""
        return read_answer(reply)

    def score(self, item: Item, prediction: str) -> Score:
        """The best score over the item's gold answers."""
        return scoring.score(self.scorer, item.answers, prediction)


def question_task(config: DatasetConfig, *, defaults: Instructions) -> SingleTurn:
    """The task that ``config`` describes; ``dataset.instruction`` replaces ``defaults`` where given.

    Raises:
        UsageError: the configuration lacks the keys of question answering.
    """
    if not isinstance(config, QADatasetConfig):
        raise UsageError(
            f"dataset.task is {config.task!r}, which needs keys such as dataset.scorer that dataset "
            f"{config.name!r} does not have; begin the defaults list of its YAML file with base_qa"
        )
    given = config.instruction
    instructions = defaults if given is None else Instructions(given, given)
    task = QuestionTask(instructions, config.scorer, config.context_chars)
    return SingleTurn(config.task, task, partial(golds.check, config.scorer))
