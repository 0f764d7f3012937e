"""What MLflow takes as a name and as a value: the only place that knows its limits."""

import re
from collections.abc import Iterable

KEY_LIMIT = 250
PARAM_LIMIT = 6000
TAG_LIMIT = 8000
_CUT = " ... [cut]"


def safe_key(text: str) -> str:
    """``text`` as one part of a key: letters, digits, ``_ - .`` and spaces; never empty, never a path."""
    key = re.sub(r"[^\w.\- ]", "_", text)[:KEY_LIMIT]
    return f"_{key[1:]}" if key.startswith("..") or key in ("", ".") else key


def safe_keys(texts: Iterable[str]) -> dict[str, str]:
    """A key of its own for each distinct text, also on databases that do not tell cases apart."""
    keys: dict[str, str] = {}
    taken: set[str] = set()
    for text in sorted(set(texts)):
        plain = key = safe_key(text)
        number = 1
        while key.casefold() in taken:
            number += 1
            suffix = f"_{number}"
            key = plain[: KEY_LIMIT - len(suffix)] + suffix
        taken.add(key.casefold())
        keys[text] = key
    return keys


def cut(text: str, limit: int) -> str:
    """``text`` in at most ``limit`` characters, saying so where it was cut."""
    return text if len(text) <= limit else text[: limit - len(_CUT)] + _CUT
