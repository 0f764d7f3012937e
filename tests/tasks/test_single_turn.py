"""One question, one reply: every way it can end, and what the rollout keeps of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from skillopt_exp.errors import DataError, OutageError, ProviderError, ReplyFault
from skillopt_exp.records import Fault, Item, Message, Score
from skillopt_exp.tasks.base import CheckedTask, Task
from skillopt_exp.tasks.single_turn import SingleTurn

ITEM = Item("q1", "Capital of Norway?", ("Oslo",))


@dataclass(frozen=True)
class LengthTask:
    """Partial credit by length; crashes on what it does not expect, as a user's own task may."""

    def prompt(self, item: Item, skill: str) -> tuple[Message, ...]:
        return (Message("user", f"{skill}{item.question}"),)

    def read(self, reply: str) -> str:
        return reply.split("=")[1]

    def score(self, item: Item, prediction: str) -> Score:
        return Score(0.0, 0.75 / len(prediction), "too long")


class Target:
    """Stands where the client does: one scripted reply, and what it was asked."""

    def __init__(self, reply: Message | Exception) -> None:
        self.reply = reply
        self.asked: list[tuple[Message, ...]] = []

    async def __call__(self, messages: Sequence[Message]) -> Message:
        self.asked.append(tuple(messages))
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


TASK = SingleTurn("length", LengthTask())


async def test_a_rollout_keeps_the_whole_conversation_and_the_attempt():
    target = Target(Message("assistant", "a=b", reasoning="hm"))
    rollout = await TASK.rollout(ITEM, "Be brief. ", target, attempt=2)
    asked = (Message("user", "Be brief. Capital of Norway?"),)
    assert target.asked == [asked]
    assert rollout.messages == (*asked, Message("assistant", "a=b", reasoning="hm"))
    assert (rollout.item, rollout.attempt, rollout.prediction, rollout.fault) == (ITEM, 2, "b", None)


async def test_partial_credit_arrives_unrounded():
    rollout = await TASK.rollout(ITEM, "", Target(Message("assistant", "a=b")), attempt=1)
    assert rollout.score == Score(0.0, 0.75, "too long")


@pytest.mark.parametrize("kind", list(Fault))
async def test_a_reply_that_cannot_be_used_scores_zero_and_says_why(kind: Fault):
    rollout = await TASK.rollout(ITEM, "", Target(ReplyFault(kind, "details")), attempt=1)
    assert (rollout.score.hard, rollout.score.soft, rollout.fault) == (0.0, 0.0, kind)
    assert rollout.score.feedback.startswith(("the reply", "the provider", "the prompt"))
    assert rollout.prediction == ""
    assert rollout.messages == (Message("user", "Capital of Norway?"),)
    assert rollout.failed


async def test_a_scorer_that_crashes_on_a_reply_is_a_fault_of_that_reply():
    empty = await TASK.rollout(ITEM, "", Target(Message("assistant", "a=")), attempt=1)
    assert empty.fault is Fault.scorer_error
    assert empty.score == Score(
        0.0, 0.0, "the reply could not be scored: the scorer raised ZeroDivisionError"
    )
    assert empty.messages[-1] == Message("assistant", "a=")
    unread = await TASK.rollout(ITEM, "", Target(Message("assistant", "no mark")), attempt=1)
    assert "IndexError" in unread.score.feedback


@pytest.mark.parametrize("error", [OutageError("no answer"), ProviderError("401"), RuntimeError("a bug")])
async def test_what_is_no_doing_of_the_reply_passes_through_unscored(error: Exception):
    with pytest.raises(type(error)):
        await TASK.rollout(ITEM, "", Target(error), attempt=1)


def test_a_task_without_a_check_accepts_all_items_and_one_with_a_check_asks_it():
    def refuse(items: object) -> tuple[str, ...]:
        raise DataError("item 'q1' can never pass")

    assert TASK.validate([ITEM]) == ()
    with pytest.raises(DataError, match="q1"):
        SingleTurn("strict", LengthTask(), refuse).validate([ITEM])


def test_the_runner_is_a_task_to_whoever_asks():
    checked: CheckedTask = TASK
    task: Task = checked
    assert task.name == "length"
