"""Models and tasks made of plain functions, for tests of what stands between them."""

import json
from collections.abc import Callable, Sequence
from typing import Any

from skillopt_exp.llm.base import Stage
from skillopt_exp.records import Item, Message, Rollout, Score, Tool
from skillopt_exp.tasks.base import Ask

Answer = Callable[[Sequence[Message], Stage], str]


class ScriptedChat:
    """A model that is a function of the conversation; keeps what it was asked."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[tuple[Stage, tuple[Message, ...]]] = []
        self.attempts: list[tuple[Stage, int]] = []

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        stage: Stage,
        attempt: int = 1,
        json: bool = False,
        tools: Sequence[Tool] = (),
    ) -> Message:
        self.asked.append((stage, tuple(messages)))
        self.attempts.append((stage, attempt))
        return Message("assistant", self._answer(messages, stage))

    def count(self, stage: Stage) -> int:
        return sum(asked is stage for asked, _ in self.asked)


class EchoTask:
    """Solved when the reply is the gold: the question goes out below the skill, the reply comes back."""

    name = "echo"

    async def rollout(self, item: Item, skill: str, ask: Ask, *, attempt: int) -> Rollout:
        messages = (Message("system", skill), Message("user", item.question))
        reply = await ask(messages)
        hard = float(reply.content in item.answers)
        feedback = "" if hard else f"expected {item.answers[0]}"
        return Rollout(item, attempt, (*messages, reply), reply.content, Score(hard, hard, feedback))


def items(prefix: str, count: int) -> tuple[Item, ...]:
    """``count`` items whose gold is ``yes``."""
    return tuple(Item(f"{prefix}{i}", f"question {prefix}{i}", ("yes",)) for i in range(count))


def patch_reply(*edits: dict[str, Any], summary: str = "wrong") -> str:
    """An optimizer's reply with these edits."""
    return json.dumps({"reasoning": "because", "failure_summary": summary, "edits": list(edits)})


def append(content: str) -> dict[str, Any]:
    """An edit of the wire that appends."""
    return {"op": "append", "content": content}
