"""The agents that load skills: where they look, what they refuse, and what they change while loading.

All of it is from each agent's own documentation, named in ``docs``. Folders that begin with ``~/`` are
the user's, the others are below the project.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum


class Scope(StrEnum):
    """For whom a skill is written: those who work in this project, or this user everywhere."""

    project = "project"
    user = "user"


class AgentName(Enum):
    """The agents by the names of the command line."""

    claude_code = "claude-code"
    codex = "codex"
    hermes = "hermes"
    openclaw = "openclaw"
    opencode = "opencode"


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent. ``looks_in`` are the folders of skills that it reads, in its order where ``ordered``.

    ``most_chars`` is the largest SKILL.md that it loads, None where no limit is documented.
    ``fills_dollars`` says that it replaces ``$1`` and ``$ARGUMENTS`` unless a backslash stands before
    them; ``fills_braces`` that it replaces variables in braces, which nothing escapes. ``remark`` is what
    is left to do after writing.
    """

    title: str
    docs: str
    roots: Mapping[Scope, str]
    looks_in: tuple[str, ...]
    ordered: bool = True
    reserved: frozenset[str] = frozenset()
    most_chars: int | None = None
    fills_dollars: bool = False
    fills_braces: bool = False
    remark: Mapping[Scope, str] | None = None


SPECIFICATION = "https://agentskills.io/specification"

AGENTS: Mapping[AgentName, Agent] = {
    AgentName.claude_code: Agent(
        title="Claude Code",
        docs="https://code.claude.com/docs/en/skills",
        roots={Scope.project: ".claude/skills", Scope.user: "~/.claude/skills"},
        looks_in=("~/.claude/skills", ".claude/skills"),
        reserved=frozenset({"synced"}),
        fills_dollars=True,
        fills_braces=True,
    ),
    AgentName.codex: Agent(
        title="Codex",
        docs="https://developers.openai.com/codex/skills",
        roots={Scope.project: ".agents/skills", Scope.user: "~/.agents/skills"},
        looks_in=(".agents/skills", ".codex/skills", "~/.agents/skills", "~/.codex/skills"),
    ),
    AgentName.hermes: Agent(
        title="Hermes Agent",
        docs="https://hermes-agent.nousresearch.com/docs/user-guide/features/skills",
        roots={Scope.project: ".hermes/skills", Scope.user: "~/.hermes/skills"},
        looks_in=(".hermes/skills", ".agents/skills", "~/.hermes/skills"),
        most_chars=100_000,
        fills_braces=True,
        remark={Scope.project: "Hermes Agent reads skills of a project only after: hermes skills trust"},
    ),
    AgentName.openclaw: Agent(
        title="OpenClaw",
        docs="https://docs.openclaw.ai/tools/skills",
        roots={Scope.project: "skills", Scope.user: "~/.openclaw/skills"},
        looks_in=("skills", ".agents/skills", "~/.agents/skills", "~/.openclaw/skills"),
        remark={Scope.project: "OpenClaw reads this folder where the project is its workspace"},
    ),
    AgentName.opencode: Agent(
        title="OpenCode",
        docs="https://opencode.ai/docs/skills",
        roots={Scope.project: ".opencode/skills", Scope.user: "~/.config/opencode/skills"},
        looks_in=(
            ".opencode/skills",
            "~/.config/opencode/skills",
            ".claude/skills",
            "~/.claude/skills",
            ".agents/skills",
            "~/.agents/skills",
        ),
        ordered=False,
    ),
}
