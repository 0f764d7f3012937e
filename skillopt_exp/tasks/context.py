"""Fitting an item's passages into a budget."""

import re
from itertools import takewhile

# Each match begins where the text in front of it ends.
_NEXT_DOCUMENT = re.compile(r"(?<!\s)\s+\[DOC\]")
_NEXT_WORD = re.compile(r"(?<!\s)\s")


def cut(context: str, limit_chars: int) -> str:
    """The beginning of ``context``, at most ``limit_chars`` characters long, cut where it hurts least.

    Contexts in the form ``[DOC] [TLE] title [PAR] text [DOC] ...`` keep as many whole documents as
    fit, the first in part when even that is too long. Other text is cut at white space, and in the
    middle of a word only when the first word alone is too long. Nothing is added.

    >>> cut("[DOC] [TLE] Fog [PAR] Wet air. [DOC] [TLE] Dew [PAR] Drops.", 40)
    '[DOC] [TLE] Fog [PAR] Wet air.'
    >>> cut("Fog is wet air near the ground.", 12)
    'Fog is wet'
    """
    if len(context) <= limit_chars:
        return context
    for following in (_NEXT_DOCUMENT, _NEXT_WORD):
        end = _last_end(following, context, limit_chars)
        if end > 0:
            return context[:end]
    return context[:limit_chars].rstrip()


def _last_end(following: re.Pattern[str], context: str, limit_chars: int) -> int:
    """The last place, at most ``limit_chars``, where what ``following`` introduces begins; else 0."""
    ends = takewhile(lambda end: end <= limit_chars, (match.start() for match in following.finditer(context)))
    return max(ends, default=0)
