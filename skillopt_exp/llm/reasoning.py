"""Telling a model's hidden reasoning from its visible text, where a server sends both as one."""

import re
from dataclasses import dataclass

_OPEN = re.compile(r"\s*<(think|thinking)>", re.IGNORECASE)
_CLOSE = re.compile(r"</(?:think|thinking)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Separated:
    """A text in two. ``complete`` is False when it ends inside its reasoning."""

    visible: str
    reasoning: str = ""
    complete: bool = True


def separate(text: str) -> Separated:
    """Cut reasoning blocks off the start of ``text``.

    Only the start counts: further on, ``<think>`` may well be part of what the model wants to say.
    A closing tag without an opening one ends reasoning too (chat templates put the opening tag into
    the prompt), unless the text begins as JSON, whose strings may mention the tag.
    """
    blocks: list[str] = []
    rest = text
    while opening := _OPEN.match(rest):
        closing = _CLOSE.search(rest, opening.end())
        if closing is None:
            return Separated("", "\n".join([*blocks, rest[opening.end() :].strip()]), complete=False)
        blocks.append(rest[opening.end() : closing.start()].strip())
        rest = rest[closing.end() :].lstrip()
    orphan = None if blocks else _orphan(rest)
    if orphan is not None:
        return Separated(rest[orphan.end() :].lstrip(), rest[: orphan.start()].strip())
    return Separated(rest, "\n".join(blocks))


def _orphan(text: str) -> re.Match[str] | None:
    """The closing tag of reasoning whose opening tag stood in the prompt."""
    closing = _CLOSE.search(text)
    if closing is None or text.lstrip().startswith(("{", "[", "`")):
        return None
    opened = re.search(r"<(?:think|thinking)>", text[: closing.start()], re.IGNORECASE)
    return None if opened else closing
