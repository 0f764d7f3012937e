"""What agents do to a body while they load it, and writing it so that they read what was trained.

Claude Code replaces ``$1`` and ``$ARGUMENTS`` and takes one backslash before them as an escape; a body
that has the backslash already cannot be said in its syntax. Variables in braces and commands after an
exclamation mark have no escape at all. What cannot be escaped is refused: a skill must not turn into
another one, and never into a command that runs.
"""

import re

from skillopt_exp.deploy.agents import Agent
from skillopt_exp.errors import UsageError

_DOLLAR = re.compile(r"\$(?=\d|ARGUMENTS)")
_ESCAPED_DOLLAR = re.compile(r"\\\$(?:\d|ARGUMENTS)")
_BRACES = re.compile(r"\$\{[A-Z_][A-Z0-9_]*\}")
_COMMAND = re.compile(r"!`[^`\n]+`")
_COMMAND_BLOCK = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*!", re.MULTILINE)


def as_loaded_unchanged(body: str, agent: Agent | None) -> str:
    """What to write so that ``agent`` reads ``body``; None stands for agents that nobody named.

    Raises:
        UsageError: a form in the body that would be replaced or run and that nothing escapes.
    """
    title = "some agents" if agent is None else agent.title
    for form in (_COMMAND, _COMMAND_BLOCK):
        _refuse(form, body, "agents that know this form run what stands in it, and nothing escapes it")
    if agent is None or agent.fills_braces:
        _refuse(_BRACES, body, f"{title} may replace it while loading the skill, and nothing escapes it")
    if agent is None or not agent.fills_dollars:
        return body
    _refuse(_ESCAPED_DOLLAR, body, f"{title} would read it without its backslash, and nothing keeps that")
    return _DOLLAR.sub(r"\\$", body)


def dollars(body: str) -> tuple[str, ...]:
    """Forms that Claude Code fills in where they are not escaped, each once."""
    return tuple(dict.fromkeys(re.findall(r"\$(?:\d+|ARGUMENTS)", body)))


def _refuse(form: re.Pattern[str], body: str, why: str) -> None:
    found = form.search(body)
    if found is None:
        return
    line = body.count("\n", 0, found.start()) + 1
    raise UsageError(
        f"line {line} of the skill holds {found[0].strip()!r}: {why}. Word it without this form "
        "(a copy of the skill can be deployed with skill=<file>)"
    )
