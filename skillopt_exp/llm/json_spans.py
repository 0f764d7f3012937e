"""Finding the JSON in a model's reply, in time linear in its length. Pure."""

import re
from dataclasses import dataclass

MAX_DEPTH = 20
"""No reply that we ask for nests a quarter as deep."""

PARENTHESIS = 1000

_START = re.compile(r"""\{\s*+["']|\[\s*+\{\s*+["']""")
"""What looks like JSON and not like brackets in prose: an object with a quoted key, or a list of those."""

_OUTSIDE = re.compile(r"""([{\[,:])\s*+(["']?)|[}\]]""")
"""Outside of strings: brackets, and quotes where a string may begin. Other quotes stand inside of a
text whose writer forgot to escape them."""

_REST_OF_STRING = {quote: re.compile(rf"(?:[^\\{quote}]|\\.)*+{quote}", re.DOTALL) for quote in "\"'"}

_CLOSER = {"{": "}", "[": "]"}
_FENCE_BEFORE = re.compile(r"```[\w+-]*+\s*+\Z")
_LEFT_OVER = re.compile(r"""\A\s*+["}\]]|"\s*+[}\]]""")
"""What follows JSON that ended too early, at brackets inside of a text with unescaped quotes."""

_CUT = "the reply is cut off: {} Answer again, complete and shorter."


class Unparsable(Exception):
    """A reply holds no JSON that can be trusted. The message tells its author what to mend."""


@dataclass(frozen=True, slots=True)
class Span:
    """One piece of text from bracket to matching bracket.

    ``loose`` counts the characters in it that are neither syntax nor inside of quotes, an opening
    parenthesis as a thousand: a repairer may take it for a tuple and try every way to go on.
    """

    text: str
    loose: int


def the_span(text: str) -> Span:
    """The only JSON object (or list of objects) in ``text``.

    Raises:
        Unparsable: there is none, or more than one, or it is cut off, or nested absurdly deep.
    """
    start = _START.search(text)
    if start is None:
        raise Unparsable("there is no JSON object or list in the reply")
    if text.count('"', 0, start.start()) % 2:
        raise Unparsable("quotes do not match: the JSON seems to begin inside of a string")
    span, end = _span_at(text, start.start())
    rest = text[end:]
    if _FENCE_BEFORE.search(text[: start.start()]) and "```" not in rest:
        raise Unparsable(_CUT.format("its code fence is not closed."))
    again = _START.search(text, end)
    if again is not None:
        _span_at(text, again.start())
        raise Unparsable("there is more than one JSON value in the reply; answer with exactly one")
    if _LEFT_OVER.search(rest) or rest.count('"') % 2:
        raise Unparsable("brackets or quotes do not match: there is more of them after the end of the JSON")
    return span


def _span_at(text: str, start: int) -> tuple[Span, int]:
    """The span that begins at ``start``, and where it ends."""
    closers: list[str] = []
    loose, at = 0, start
    while found := _OUTSIDE.search(text, at):
        between = text[at : found.start()].strip()
        loose += len(between) + PARENTHESIS * between.count("(")
        mark, quote, at = found[1], found[2], found.end()
        if mark in _CLOSER:
            closers.append(_CLOSER[mark])
            if len(closers) > MAX_DEPTH:
                raise Unparsable(f"the JSON is nested deeper than {MAX_DEPTH} levels")
        elif mark is None:
            if closers.pop() != found[0]:
                raise Unparsable(f"brackets do not match: {found[0]!r} closes something else")
            if not closers:
                return Span(text[start:at], loose), at
        if quote:
            closed = _REST_OF_STRING[quote].match(text, at)
            if closed is None:
                raise Unparsable(_CUT.format("it ends inside a string."))
            at = closed.end()
    raise Unparsable(_CUT.format("it ends before all brackets are closed."))
