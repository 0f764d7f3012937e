"""Reading an optimizer's or judge's reply as JSON: what is nearly right counts, what is half does not.

In this order: reasoning is dropped; the whole reply, or else the only JSON span in it, is read
strictly; a span that is complete and of sane size goes through repair, and what comes out is
compared with what went in. Nothing is guessed: two values, a cut reply, a text that repair would
shorten are all failures, with a message for the one corrective retry.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from skillopt_exp.llm.json_fidelity import is_faithful
from skillopt_exp.llm.json_spans import MAX_DEPTH, Span, Unparsable, the_span
from skillopt_exp.llm.reasoning import separate
from skillopt_exp.llm.reply import well_formed
from skillopt_exp.records import ParsePath

__all__ = ["Parsed", "Unparsable", "parse"]

MAX_REPAIRED = 200_000
"""Characters of a span that repair will look at."""

MAX_REPAIR_WORK = 10_000_000
"""Length of a span times its loose characters, in which repair's time is far from linear; about 0.5 s."""

_FENCED = re.compile(r"```[\w+-]*+\s*+(.*?)\s*```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Parsed:
    """An object or a list, and whether it had to be repaired."""

    value: dict[str, Any] | list[Any]
    path: ParsePath


def parse(text: str) -> Parsed:
    """The one JSON object or list in ``text``.

    Raises:
        Unparsable: there is none to be trusted. Says why, in words that help to answer again.
    """
    separated = separate(text)
    if not separated.complete:
        raise Unparsable("the reply is cut off: it ends inside its reasoning. Think less, and answer.")
    body = separated.visible.strip().strip("\ufeff")
    whole = _whole(body)
    if whole is not None:
        return Parsed(_checked(whole), ParsePath.strict)
    return _read(the_span(body))


def _whole(body: str) -> dict[str, Any] | list[Any] | None:
    """The reply itself, or all of it but one fence around it, if that is an object or a list."""
    fenced = _FENCED.fullmatch(body)
    text = fenced[1] if fenced else body
    if not text.startswith(("{", "[")):
        return None
    try:
        value: dict[str, Any] | list[Any] = _strict(text)
    except ValueError:
        return None
    return value


def _read(span: Span) -> Parsed:
    try:
        return Parsed(_checked(_strict(span.text)), ParsePath.strict)
    except ValueError as error:
        problem = str(error)
    try:
        # The commonest fault, line breaks inside of strings, needs no guesswork.
        return Parsed(_checked(_strict(span.text, raw_controls=True)), ParsePath.repaired)
    except ValueError:
        return Parsed(_repaired(span, problem), ParsePath.repaired)


def _repaired(span: Span, problem: str) -> dict[str, Any] | list[Any]:
    import json_repair

    if len(span.text) > MAX_REPAIRED or len(span.text) * span.loose > MAX_REPAIR_WORK:
        raise Unparsable(f"the JSON is broken ({problem})")
    try:
        value = json_repair.loads(span.text, skip_json_loads=True)
    except (ValueError, RecursionError) as error:
        raise Unparsable(f"the JSON is broken ({problem})") from error
    kind = dict if span.text.startswith("{") else list
    if not isinstance(value, kind) or not is_faithful(_checked(value), span.text):
        raise Unparsable(f"the JSON is broken ({problem}); escape every quote inside of a string")
    return value


def _strict(text: str, *, raw_controls: bool = False) -> Any:
    """Raises ValueError for what is no JSON, Unparsable for what is but cannot be meant."""
    try:
        return json.loads(
            text, strict=not raw_controls, object_pairs_hook=_no_key_twice, parse_constant=_no_constant
        )
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _no_key_twice(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        [(twice, _)] = Counter(name for name, _ in pairs).most_common(1)
        raise Unparsable(f"the key {twice!r} stands twice in one object")
    return fields


def _no_constant(name: str) -> Any:
    raise Unparsable(f"{name} is no JSON value")


def _checked(value: Any) -> Any:
    """``value`` if files and messages can hold it: not too deep, numbers finite, texts well formed."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [child for each in level for child in _children(each)]
        if not level:
            return value
    raise Unparsable(f"the JSON is nested deeper than {MAX_DEPTH} levels")


def _children(value: Any) -> list[Any]:
    match value:
        case dict():
            return [*value.keys(), *value.values()]
        case list():
            return value
        case float() if not math.isfinite(value):
            raise Unparsable("a number in the JSON is out of range")
        case str() if well_formed(value) != value:
            raise Unparsable("a string in the JSON holds half of a surrogate pair")
    return []
