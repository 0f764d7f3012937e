"""``task=qa``: any questions with gold answers, from a file of one's own."""

from skillopt_exp.config.dataset import DatasetConfig
from skillopt_exp.tasks.question import Instructions, question_task
from skillopt_exp.tasks.single_turn import SingleTurn

INSTRUCTIONS = Instructions(
    with_passages="Read the passages, then answer the question.",
    without_passages="Answer the question.",
)


def build(config: DatasetConfig) -> SingleTurn:
    """The task. Raises UsageError when ``config`` lacks the keys of question answering."""
    return question_task(config, defaults=INSTRUCTIONS)
