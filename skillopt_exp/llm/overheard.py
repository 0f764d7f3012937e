"""Listening in on one model: what it was asked and what it said, for those who keep a run."""

from collections.abc import Sequence

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.records import Exchange, Message, Tool

_ORDER = {str(stage): number for number, stage in enumerate(Stage)}


class Overheard:
    """A ``Chat`` that passes everything on to ``chat`` and keeps it until it is taken."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._heard: list[Exchange] = []

    async def ask(
        self,
        messages: Sequence[Message],
        *,
        stage: Stage,
        attempt: int = 1,
        json: bool = False,
        tools: Sequence[Tool] = (),
    ) -> Message:
        """See ``Chat.ask``. A call without a usable reply is not kept."""
        reply = await self._chat.ask(messages, stage=stage, attempt=attempt, json=json, tools=tools)
        self._heard.append(Exchange(str(stage), (*messages, reply)))
        return reply

    def take(self) -> tuple[Exchange, ...]:
        """What was heard since the last time, in an order that does not depend on arrival."""
        heard = sorted(
            self._heard,
            key=lambda each: (_ORDER[each.stage], [message.content for message in each.messages]),
        )
        self._heard.clear()
        return tuple(heard)
