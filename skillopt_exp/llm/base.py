"""What the rest of the package sees of a model: a role that can be asked."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Protocol

from skillopt_exp.records import Message, Role, Tool


class Stage(StrEnum):
    """What a call is for; tokens and cost are accounted by role and stage."""

    rollout = "rollout"
    selection = "selection"
    screen = "screen"
    test = "test"
    reflect = "reflect"
    aggregate = "aggregate"
    select = "select"
    rewrite = "rewrite"
    compact = "compact"
    slow_update = "slow_update"
    meta_skill = "meta_skill"

    @property
    def role(self) -> Role:
        """Whose call it is."""
        return Role.target if self in _OF_THE_TARGET else Role.optimizer


_OF_THE_TARGET = (Stage.rollout, Stage.screen, Stage.selection, Stage.test)


class Chat(Protocol):
    """One role's model behind its endpoint."""

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        stage: Stage,
        attempt: int = 1,
        json: bool = False,
        tools: Sequence[Tool] = (),
    ) -> Message:
        """The assistant's reply to ``messages``: visible text in ``content``, hidden in ``reasoning``.

        ``attempt`` tells repeated samples of one conversation apart (1 is the first); ``json`` asks
        for the provider's JSON mode (the prompt must name JSON). With ``tools`` the reply may be calls of
        them instead of text; to go on, append it whole and a message with role ``tool`` for each call.

        Raises:
            ReplyFault: the reply cannot be used, by its own doing (truncated, filtered, empty), or the
                prompt is longer than the model's context.
            ProviderError: the provider refused for good.
            OutageError: too many calls stay unanswered, however often they are sent: the run pauses.
            InterruptedRun: the run is closing, and sends nothing more.
        """
        ...
