"""``SKILL.md`` as the Agent Skills specification has it: YAML between two lines of dashes, then the body.

Values are quoted and stand on one line each, since some agents read them without a YAML parser.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import yaml

from skillopt_exp.errors import UsageError

SKILL_FILE = "SKILL.md"
MOST_NAME = 64
MOST_DESCRIPTION = 1024
"""Characters, as the specification has them."""
ADVISED_TOKENS = 5_000
"""What the specification advises a body to stay under."""

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul", *(f"{port}{number}" for port in ("com", "lpt") for number in range(10))}
)
"""Names that Windows keeps for devices."""
_FENCE = "---"
_FRONT_MATTER = re.compile(r"---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FIELDS = ("name", "description", "license", "compatibility", "metadata", "allowed-tools")


@dataclass(frozen=True, slots=True)
class Package:
    """One skill for agents. ``metadata`` maps text to text; ``body`` is what an agent is told."""

    name: str
    description: str
    metadata: Mapping[str, str]
    body: str

    @property
    def text(self) -> str:
        """The whole file."""
        return f"{_FENCE}\n{_front_matter(self)}{_FENCE}\n\n{self.body}\n"


def check_name(name: str, reserved: frozenset[str] = frozenset()) -> None:
    """Refuse a name that some file system or agent would not take.

    Raises:
        UsageError: says what a name may be.
    """
    if len(name) > MOST_NAME or not _NAME.fullmatch(name):
        raise UsageError(
            f"name={name[:80]!r} is no name for a skill: 1 to {MOST_NAME} lower-case letters a-z, digits and "
            "single hyphens inside, as searchqa-v1"
        )
    if name in _DEVICES or name in reserved:
        raise UsageError(f"name={name} is kept for something else; choose another, as {name}-skill")


def check_description(description: str) -> None:
    """Refuse a description that some agent would cut, refuse or read as something else.

    Raises:
        UsageError: says what a description may be.
    """
    if not description.strip():
        raise UsageError("description is empty; say what the skill does and when to use it")
    if len(description) > MOST_DESCRIPTION:
        raise UsageError(
            f"description has {len(description):,} characters; agents load at most {MOST_DESCRIPTION:,}"
        )
    if not description.isprintable():
        raise UsageError("description must be one line without control or hidden characters")
    if "<" in description or ">" in description:
        raise UsageError("description holds < or >, which some agents refuse; write it without them")


def split_front_matter(text: str, where: str) -> tuple[Mapping[str, object], str]:
    """The front matter of ``text`` (empty where there is none) and what follows it.

    Raises:
        UsageError: there is a beginning of one that cannot be read; ``where`` names it.
    """
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text
    try:
        found = yaml.safe_load(match[1])
    except yaml.YAMLError as error:
        raise UsageError(
            f"{where}: its front matter is not valid YAML ({_one_line(error)}); mend it, or delete it"
        ) from error
    if not isinstance(found, dict):
        return {}, text  # text between two rules
    return {str(key): value for key, value in found.items()}, text[match.end() :].strip("\n")


def parse(text: str, where: str) -> Package:
    """The package that ``text`` holds, read as strictly as the strictest agent does.

    Raises:
        UsageError: it breaks the specification.
    """
    head, body = split_front_matter(text, where)
    unknown = sorted(head.keys() - set(_FIELDS))
    if unknown:
        raise UsageError(f"{where}: the front matter has the field {unknown[0]!r}, which no agent must know")
    name, description, metadata = (head.get(field) for field in ("name", "description", "metadata"))
    if not isinstance(name, str) or not isinstance(description, str):
        raise UsageError(f"{where}: the front matter needs a name and a description, both of them text")
    known = {} if metadata is None else metadata
    if not isinstance(known, dict) or not all(isinstance(x, str) for pair in known.items() for x in pair):
        raise UsageError(f"{where}: metadata must map text to text")
    check_name(name)
    check_description(description)
    return Package(name, description, known, body)


class _Quoted(str):
    """Text that is always written in double quotes: no agent takes it for a number, a date or a key."""


class _Dumper(yaml.SafeDumper):
    """Knows quoted text."""


_Dumper.add_representer(
    _Quoted,
    lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style='"'),
)


def _front_matter(package: Package) -> str:
    metadata = {_Quoted(key): _Quoted(value) for key, value in package.metadata.items()}
    lines = [
        _line("name", _Quoted(package.name)),
        _line("description", _Quoted(package.description)),
        *([_line("metadata", metadata)] if metadata else []),
    ]
    return "".join(lines)


def _line(field: str, value: object) -> str:
    """One field on one line; a mapping as YAML and JSON write it alike."""
    written = yaml.dump(
        value, Dumper=_Dumper, default_flow_style=True, width=math.inf, allow_unicode=True, sort_keys=False
    )
    return f"{field}: {written.strip()}\n"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
