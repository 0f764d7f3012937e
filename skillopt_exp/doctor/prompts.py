"""The tiny prompts that an examination sends, and what their replies show. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from skillopt_exp.llm.reply import Reply

READY = "This is a test of the connection. Reply with one word: ready"

LONG_ANSWER = "Count from 1 to 60 in digits, separated by commas. Write all sixty numbers and nothing else."
"""An answer of well over a hundred tokens, for output limits to cut."""

LIMIT = 16
"""Tokens that the long answer is cut to."""

JSON = 'Answer with this JSON object and nothing else: {"ready": true}'


class Arrival(StrEnum):
    """What of a canary came through."""

    whole = "whole"
    cut = "cut"
    unknown = "unknown"


@dataclass(frozen=True, slots=True)
class Canary:
    """A prompt of several lines with a word in an early line and one in the last."""

    early: str
    last: str

    @property
    def prompt(self) -> str:
        return (
            f"Somewhere in this message stand two code words in capitals.\n"
            f"One of them is {self.early}.\n"
            f"\n"
            f"Reply with both code words and nothing else.\n"
            f"The other one is {self.last}."
        )

    def arrival(self, reply: Reply) -> Arrival:
        """What the reply shows: the last word came through, or only the early one, or nothing can be told."""
        text = f"{reply.content} {reply.reasoning}".casefold()
        if self.last.casefold() in text:
            return Arrival.whole
        cut_by_limit = reply.truncated or reply.blank
        return Arrival.cut if self.early.casefold() in text and not cut_by_limit else Arrival.unknown


CANARIES = (Canary("MARIGOLD", "KESTREL"), Canary("HARBOUR", "JUNIPER"))
"""Two, because a weak model may overlook a word once."""
