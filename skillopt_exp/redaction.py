"""What looks like a secret: refused on the command line, blanked in whatever is written.

Only names of environment variables that hold keys belong into a configuration, never the keys.
"""

import re
from collections.abc import Sequence

from skillopt_exp.errors import UsageError

BLANK = "[redacted]"

_KEY_SHAPES = re.compile(
    r"""
      \b(?:sk|rk|pk)-[A-Za-z0-9_-]{6,}          # OpenAI, DeepSeek, Anthropic and others
    | \b(?:ghp|gho|ghs|hf|xox[bap]|glpat|AKIA)[-_]?[A-Za-z0-9]{16,}
    | \beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?   # JSON web token
    | (?<=://)[^/\s:@]+:[^/\s:@]+(?=@)          # user:password in a connection string
    | \bBearer\s+[A-Za-z0-9._~+/-]{8,}=*
    | (?:AccountKey|SharedAccessKey|sig)=[A-Za-z0-9%+/=]{16,}
    """,
    re.VERBOSE,
)

_KEY_NAMES = re.compile(
    r"(?:^|[._-])(?:api[_-]?key|apikey|secret|secret[_-]?key|access[_-]?key|token|access[_-]?token|auth[_-]?token"
    r"|password|passwd|authorization|credentials?)$",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """``text`` with everything that has the shape of a secret blanked."""
    return _KEY_SHAPES.sub(BLANK, text)


def refuse_secrets(arguments: Sequence[str]) -> None:
    """Refuse an override that carries a key, by its name or by its shape, without repeating it.

    Raises:
        UsageError: before anything could have been written anywhere.
    """
    for argument in arguments:
        name, equals, value = argument.lstrip("+~").partition("=")
        named = bool(equals) and bool(_KEY_NAMES.search(name)) and value not in ("", "null")
        if named or _KEY_SHAPES.search(argument):
            shown = redact(name) if equals else "an argument"
            raise UsageError(
                f"{shown} looks like it holds a secret; a run saves its configuration in clear text. "
                "Put the key into an environment variable and name that variable: "
                "export DEEPSEEK_API_KEY=... and model.target.api_key_env=DEEPSEEK_API_KEY"
            )
