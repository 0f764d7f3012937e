"""Running a task of one question and one reply: ask, read, score; each fault of a reply named."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from skillopt_exp.errors import ReplyFault
from skillopt_exp.records import Fault, Item, Message, Rollout, Score
from skillopt_exp.tasks.base import Ask, SingleTurnTask

Check = Callable[[Iterable[Item]], tuple[str, ...]]
"""Judges items before the first call: returns warnings, raises DataError for what can never pass."""

_FAULT_FEEDBACK = {
    Fault.truncated: "the reply was cut off at its length limit before it ended, so it was not read",
    Fault.content_filter: "the provider's content filter withheld the reply",
    Fault.empty: "the reply was empty",
    Fault.too_long: "the prompt is longer than the model's context",
    Fault.scorer_error: "the reply could not be scored",
    Fault.unparsable: "the reply could not be read",
}


def accept_all(items: Iterable[Item]) -> tuple[str, ...]:
    """The check of a task that has nothing to check."""
    return ()


@dataclass(frozen=True, slots=True)
class SingleTurn:
    """Makes a Task of a SingleTurnTask; ``check`` is what its items must pass before a run."""

    name: str
    task: SingleTurnTask
    check: Check = accept_all

    def validate(self, items: Iterable[Item]) -> tuple[str, ...]:
        """Warnings about ``items``.

        Raises:
            DataError: an item can never be solved.
        """
        return self.check(items)

    async def rollout(self, item: Item, skill: str, ask: Ask, *, attempt: int) -> Rollout:
        """One attempt at ``item``. A reply that cannot be used scores 0 and says why; it never raises.

        Whatever else goes wrong while asking (the provider refused, the run was interrupted) is no
        answer of the target, so it is not scored: it passes through.
        """
        prompt = self.task.prompt(item, skill)
        try:
            reply = await ask(prompt)
        except ReplyFault as fault:
            feedback = _FAULT_FEEDBACK[fault.kind]
            return Rollout(item, attempt, prompt, "", Score(0.0, 0.0, feedback), fault.kind)
        prediction, score, kind = self._judge(item, reply)
        return Rollout(item, attempt, (*prompt, reply), prediction, score, kind)

    def _judge(self, item: Item, reply: Message) -> tuple[str, Score, Fault | None]:
        prediction = ""
        try:
            prediction = self.task.read(reply.content)
            return prediction, self.task.score(item, prediction), None
        except Exception as error:  # noqa: BLE001 (a task's own code may raise anything at a strange reply)
            feedback = f"{_FAULT_FEEDBACK[Fault.scorer_error]}: the scorer raised {type(error).__name__}"
            return prediction, Score(0.0, 0.0, feedback), Fault.scorer_error
