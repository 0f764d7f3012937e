"""What all clients of a run share."""

from collections.abc import Callable
from dataclasses import dataclass, field

from skillopt_exp.llm.activity import Activity
from skillopt_exp.llm.answers import Answers
from skillopt_exp.llm.books import Books
from skillopt_exp.llm.limits import Clock, Turns
from skillopt_exp.llm.reply import Reply
from skillopt_exp.llm.sharing import Shared
from skillopt_exp.llm.underway import Underway


@dataclass(frozen=True, slots=True)
class Obtained:
    """A reply, and whether it was paid for just now or came out of the store."""

    reply: Reply
    paid: bool


@dataclass(frozen=True, slots=True)
class Desk:
    """Where both roles' questions are answered."""

    books: Books
    answers: Answers | None
    clock: Clock
    activity: Activity
    underway: Underway
    shared: Shared[Obtained] = field(default_factory=Shared)
    turns: Callable[[str, int], Turns] | None = None
