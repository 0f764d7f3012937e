"""``task=searchqa``: quiz clues, each with the search results that may hold its answer."""

from skillopt_exp.config.dataset import DatasetConfig
from skillopt_exp.tasks.question import Instructions, question_task
from skillopt_exp.tasks.single_turn import SingleTurn

INSTRUCTIONS = Instructions(
    with_passages="The question is a clue from a quiz show. Read the passages, then answer it.",
    without_passages="The question is a clue from a quiz show. Answer it.",
)


def build(config: DatasetConfig) -> SingleTurn:
    """The task. Raises UsageError when ``config`` lacks the keys of question answering."""
    return question_task(config, defaults=INSTRUCTIONS)
