"""What a task is: it prompts the target about an item and scores the reply.

A task knows no stage, no configuration group but its own, and no client: it is handed ``ask``.
"""

from collections.abc import Awaitable, Iterable, Sequence
from typing import Protocol

from skillopt_exp.records import Item, Message, Rollout, Score, Tool


class Ask(Protocol):
    """Sends a conversation to the target and returns its next message, which with ``tools`` may be calls of
    them. Raises ReplyFault for a reply that cannot be used; whatever the provider does wrong never reaches
    the task."""

    def __call__(
        self, messages: Sequence[Message], /, *, tools: Sequence[Tool] = ()
    ) -> Awaitable[Message]: ...


class Task(Protocol):
    """Any task. Items go in, scored rollouts come out, and no order between them matters."""

    @property
    def name(self) -> str:
        """What the task is called in logs."""

    async def rollout(self, item: Item, skill: str, ask: Ask, *, attempt: int) -> Rollout:
        """One attempt at ``item`` by the target under the skill's text (empty: no skill)."""
        ...


class SingleTurnTask(Protocol):
    """A task of one question and one reply: a prompt and a scorer, plain and synchronous."""

    def prompt(self, item: Item, skill: str) -> tuple[Message, ...]:
        """The conversation to send: the skill first and the item last, so that prefixes are shared."""
        ...

    def read(self, reply: str) -> str:
        """The prediction that the reply's text contains."""
        ...

    def score(self, item: Item, prediction: str) -> Score:
        """How good the prediction is, with feedback on what differed."""
        ...


class CheckedTask(Task, Protocol):
    """A task that can judge its items before the first call is paid."""

    def validate(self, items: Iterable[Item]) -> tuple[str, ...]:
        """Warnings about ``items``, in words.

        Raises:
            DataError: an item that no answer can solve.
        """
        ...
