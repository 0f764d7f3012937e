"""Whether a repaired JSON value says all that its source said, and nothing else. Pure.

A repairer that meets an unescaped quote may drop what follows it, and the shortened text would pass
for what the model wrote. So the value is laid over its source, piece by piece: between one piece and
the next there may be syntax alone. In doubt the answer is no.
"""

import re
from collections.abc import Iterator
from typing import Any

from skillopt_exp.llm.reply import well_formed

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "'": "'", "\\": "\\", "/": "/"}
_SYNTAX = re.compile(r"""[\s,:\[\]{}"']*+""")
_BETWEEN = re.compile(r"""["']?[\s,:\[\]{}]*+["']?""")
_TO_EMPTY = re.compile(r"""["']?[\s,:\[\]{}]*+(?:""|'')""")
_TO_PLAIN = re.compile(r"""["']?[\s,:\[\]{}]*+([-+.\w]++)""")
_LAST = re.compile(r"""["']?[\s,:\[\]{}]*+""")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_QUOTES = ("'", '"')
_PLACES_TRIED = 8


def is_faithful(value: Any, source: str) -> bool:
    """Whether ``value`` holds every text of ``source`` whole and in order."""
    plain = unescaped(source)
    at = 0
    for leaf in _leaves(value):
        after = _after(leaf, plain, at)
        if after is None:
            return False
        at = after
    return _LAST.fullmatch(plain, at) is not None


def unescaped(source: str) -> str:
    """``source`` with JSON's escapes resolved, inside of strings and out; unknown ones stay as they are."""
    return well_formed(_ESCAPE.sub(_resolved, source))


def _resolved(escape: re.Match[str]) -> str:
    name = escape[1]
    return chr(int(name[1:], 16)) if len(name) > 1 else _ESCAPED.get(name, escape[0])


def _leaves(value: Any) -> Iterator[Any]:
    """Keys and plain values in the order in which they stand in the text."""
    if isinstance(value, dict):
        for name, child in value.items():
            yield name
            yield from _leaves(child)
    elif isinstance(value, list):
        for child in value:
            yield from _leaves(child)
    else:
        yield value


def _after(leaf: Any, plain: str, at: int) -> int | None:
    """Where the text goes on after ``leaf``, or None if it is not the next thing from ``at`` on."""
    if leaf == "":
        empty = _TO_EMPTY.match(plain, at)
        return empty.end() if empty else None
    if isinstance(leaf, str):
        return _after_text(well_formed(leaf), plain, at)
    token = _TO_PLAIN.match(plain, at)
    return token.end() if token is not None and _same(leaf, token[1]) else None


def _after_text(text: str, plain: str, at: int) -> int | None:
    syntax = _SYNTAX.match(plain, at)
    limit = (syntax.end() if syntax else at) + len(text)
    place = at - 1
    for _ in range(_PLACES_TRIED):
        place = plain.find(text, place + 1, limit)
        if place < 0:
            return None
        end = place + len(text)
        if _BETWEEN.fullmatch(plain, at, place) and _quoted_alike(plain[place - 1], plain[end : end + 1]):
            return end
    return None


def _quoted_alike(before: str, after: str) -> bool:
    """Whether a text has the same quote on both sides, or none on either: else one quote too many or too
    few was taken for a part of it."""
    return before == after if before in _QUOTES else after not in _QUOTES


def _same(leaf: Any, token: str) -> bool:
    if leaf is None or isinstance(leaf, bool):
        return token in _WORDS and _WORDS[token] is leaf
    try:
        return float(token) == float(leaf)
    except (ValueError, OverflowError):
        return False
