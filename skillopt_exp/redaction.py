"""What looks like a secret: refused in a configuration, blanked in whatever is written.

Only names of environment variables that hold keys belong into a configuration, never the keys. A
secret is known by its shape, by the name that it stands under, or because an environment variable
that holds a key has that very value.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from skillopt_exp.errors import UsageError

BLANK = "[redacted]"

SHORTEST_VALUE = 8
"""Characters of a variable's value from which on it is blanked wherever it stands."""

SHORTEST_WORD = 20
"""The same for a value of letters alone: ``ollama`` or ``simulated`` are no keys, but common stand-ins."""

_KEY_SHAPES = re.compile(
    r"""
      \b(?:sk|rk|pk)-[A-Za-z0-9_-]{6,}          # OpenAI, DeepSeek, Anthropic and others
    | \b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{6,}
    | \b(?:gh[a-z]|github_pat|hf|gsk)_[A-Za-z0-9_]{16,}
    | \b(?:xox[a-z]|glpat|xai|nvapi)-[A-Za-z0-9_-]{16,}
    | \b(?:AKIA|ASIA)[A-Z0-9]{16,}
    | \bAIza[A-Za-z0-9_-]{30,}                  # Google
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?   # JSON web token
    | (?<=://)[^/\s:@]*:[^/\s]+(?=@)            # user:password in a connection string
    | \bBearer\s+[A-Za-z0-9._~+/-]{8,}=*
    | -----BEGIN\ [A-Z ]*PRIVATE\ KEY-----[^-]*(?:-----END\ [A-Z ]*PRIVATE\ KEY-----)?
    | (?P<kept>\b(?:AccountKey|SharedAccessKey|SharedAccessSignature|sig)=)[A-Za-z0-9%+/=_-]{16,}
    | (?P<told>(?<![A-Za-z0-9])(?i:(?:[a-z]+[-_])*(?:
          password|passwd|pwd|secret|token|sig|signature|(?:api|access|secret|auth)[-_]?key
      ))=["']?)(?!(?i:null|none)\b|\.\.\.)[^;&\s"',}\]]{4,}   # an assignment: api_key=..., DB_PASSWORD=...
    | (?P<query>[?&](?i:key|auth|code|credential)=)[^;&\s"'\#]{4,}      # of an address
    | (?P<header>\b(?i:(?:x-)?api[-_]?key|authorization)["']?\s*[:=]\s*["']?(?:\w+\s+)?)[^\s"',;}\[]{16,}
    # A shorter one tells itself from a word by its digits.
    | (?P<short>\b(?i:(?:x-)?api[-_]?key)["']?\s*:\s*["']?)(?=[^\s"',;}\[]*\d)[^\s"',;}\[]{6,}
    """,
    re.VERBOSE,
)

_KEY_NAMES = re.compile(
    r"(?:^|[._-])(?:api[_-]?key|apikey|secret|secret[_-]?key|access[_-]?key|token|access[_-]?token|auth[_-]?token"
    r"|password|passwd|authorization|credentials?)$",
    re.IGNORECASE,
)

_KEY_VARIABLES = re.compile(r"(?:key|token|secret|password|passwd)$", re.IGNORECASE)

_COPIED_VARIABLES = "env_copy"
"""Hydra's key that lists variables whose values it writes into what it saves."""

_COPIED_KEY = re.compile(r"(?:key|token|secret|password|passwd)\b", re.IGNORECASE)

_KEY_OPTION = re.compile(r"--?(?:[a-z]+[-_])*(?:key|token|secret|password)", re.IGNORECASE)
"""An option of other programs, after which a key stands by itself."""

_INNER_ENTRY = re.compile(r"[{,]\s*[\"']?[+~]*([\w./@-]+)[\"']?\s*[:=]\s*[\"']?([^\s,{}\[\]\"']+)")

_NOTHING = frozenset({"", "null", "none", "~", "???"})

_named_variables: set[str] = set()


def guard_variables(names: Iterable[str]) -> None:
    """From now on the values of these environment variables are secrets, whatever the names look like."""
    _named_variables.update(names)


def redact(text: str) -> str:
    """``text`` with everything blanked that is a known key or has the shape of a secret."""
    for value in _known_values():
        text = text.replace(value, BLANK)
    return _KEY_SHAPES.sub(_blanked, text)


def refuse_secrets(arguments: Sequence[str]) -> None:
    """Refuse an override that carries a key, by its name or by its looks, without repeating it.

    Raises:
        UsageError: before anything could have been written anywhere.
    """
    for before, argument in pairwise(["", *arguments]):
        if _KEY_OPTION.fullmatch(before):
            raise refusal(before)
        name, equals, value = argument.lstrip("+~").partition("=")
        named = bool(equals) and _is_secret_entry(name, value)
        inner = value.lstrip("\"' ").startswith(("{", "[")) and any(
            _is_secret_entry(*entry) for entry in _INNER_ENTRY.findall(value)
        )
        if named or inner or redact(argument) != argument:
            raise refusal(redact(name) if equals else "an argument")


def secret_keys(tree: object, at: str = "") -> Iterator[str]:
    """The dotted paths in nested mappings and sequences under which something looks like a secret."""
    if isinstance(tree, Mapping):
        for name, child in tree.items():
            inner = f"{at}.{name}" if at else str(name)
            is_value = not isinstance(child, Mapping | list) or name == _COPIED_VARIABLES
            if is_value and child is not None and _is_secret_entry(str(name), str(child)):
                yield redact(inner)
            else:
                yield from secret_keys(child, inner)
    elif isinstance(tree, list | tuple):
        for i, child in enumerate(tree):
            yield from secret_keys(child, f"{at}[{i}]")
    elif isinstance(tree, str) and redact(tree) != tree:
        yield redact(at)


def refusal(where: str) -> UsageError:
    """The error for a secret at ``where``; the secret itself is not repeated."""
    return UsageError(
        f"{where} looks like it holds a secret; a run saves its configuration in clear text. "
        "Put the key into an environment variable and name that variable: "
        "export DEEPSEEK_API_KEY=... and model.target.api_key_env=DEEPSEEK_API_KEY"
    )


def _is_secret_entry(name: str, value: str) -> bool:
    if name.rpartition(".")[2] == _COPIED_VARIABLES:
        return bool(_COPIED_KEY.search(value))
    return bool(_KEY_NAMES.search(name)) and value.strip("\"' ").lower() not in _NOTHING


def _known_values() -> list[str]:
    """What the environment's keys are at this moment, the longest first."""
    values = {
        value.strip()
        for name, value in os.environ.items()
        if name in _named_variables or _KEY_VARIABLES.search(name)
    }
    return sorted(filter(_tells_apart, values), key=len, reverse=True)


def _tells_apart(value: str) -> bool:
    """Whether blanking ``value`` everywhere blanks a key, and not a word that stands in every text."""
    return len(value) >= (SHORTEST_WORD if value.isalpha() else SHORTEST_VALUE)


def _blanked(match: re.Match[str]) -> str:
    """The secret blanked; the name that it stood under stays."""
    names = (match[group] for group in ("kept", "told", "query", "header", "short"))
    return (next(filter(None, names), "")) + BLANK
