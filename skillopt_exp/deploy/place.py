"""Where a skill goes: one folder below a root, with links resolved and nothing outside of what was named."""

from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.deploy.agents import AGENTS, Agent, AgentName, Scope
from skillopt_exp.deploy.package import SKILL_FILE, check_name
from skillopt_exp.errors import UsageError
from skillopt_exp.reading import named_path

KEPT = ".skillopt"
"""The folder in a root that holds its receipts and backups; no agent takes it for a skill."""


@dataclass(frozen=True, slots=True)
class Place:
    """The skill called ``name`` below ``root``, an absolute path without links; no agent is for dir=."""

    root: Path
    name: str
    agent_name: AgentName | None = None
    scope: Scope | None = None

    @property
    def agent(self) -> Agent | None:
        return None if self.agent_name is None else AGENTS[self.agent_name]

    @property
    def folder(self) -> Path:
        return self.root / self.name

    @property
    def file(self) -> Path:
        return self.folder / SKILL_FILE

    @property
    def kept(self) -> Path:
        return self.root / KEPT


def find_place(
    name: str,
    *,
    agent: AgentName | None,
    scope: Scope | None,
    directory: str | None,
    base: Path,
    home: Path,
) -> Place:
    """The place that a command names; ``base`` is the project's folder, ``home`` the user's.

    Raises:
        UsageError: not exactly one of agent and directory, a name that cannot be, or links that lead out.
    """
    if (agent is None) is (directory is None):
        raise UsageError(
            "say where the skill goes: agent=claude-code (or codex, hermes, openclaw, opencode), or "
            "dir=<folder>"
        )
    if directory is not None:
        if scope is not None:
            raise UsageError("scope belongs to agent=...; dir=... is the folder itself")
        check_name(name)
        return _checked(Place(named_path(directory, base=base, key="dir").resolve(), name))
    assert agent is not None
    check_name(name, AGENTS[agent].reserved)
    chosen = Scope.project if scope is None else scope
    root = _resolved(AGENTS[agent].roots[chosen], base, home)
    inside = (base if chosen is Scope.project else home).resolve()
    if not root.is_relative_to(inside):
        raise UsageError(
            f"{_path(AGENTS[agent].roots[chosen], base, home)} is a link that leads out of {inside}, to "
            f"{root}; nothing is written there. Name that folder itself if you mean it: dir={root}"
        )
    return _checked(Place(root, name, agent, chosen))


def namesakes(place: Place, *, base: Path, home: Path) -> tuple[str, ...]:
    """What to know of skills of the same name in other folders that the agent reads."""
    if place.agent is None:
        return ()
    roots = [_resolved(each, base, home) for each in place.agent.looks_in]
    mine = roots.index(place.root) if place.root in roots else len(roots)
    found = []
    for at, root in enumerate(roots):
        if root == place.root or not (root / place.name / SKILL_FILE).exists():
            continue
        which = "is the one that it loads" if at < mine else "is hidden by this one"
        said = which if place.agent.ordered else "has the same name; which one it loads is not documented"
        found.append(f"{place.agent.title} reads {root / place.name}, too: that skill {said}")
    return tuple(found)


def _checked(place: Place) -> Place:
    """Refuse what is in the way: a link, a file, a name that differs in its case alone."""
    for path in (place.folder, place.file, place.kept):
        if path.is_symlink():
            raise UsageError(f"{path} is a link; nothing is written through links. Move it away first")
    if place.root.exists() and not place.root.is_dir():
        raise UsageError(f"{place.root} is no folder; move it away, or name another with dir=...")
    if place.folder.exists() and not place.folder.is_dir():
        raise UsageError(f"{place.folder} is no folder; move it away, or choose another name")
    for other in place.root.iterdir() if place.root.is_dir() else ():
        if other.name != place.name and other.name.casefold() == place.name.casefold():
            raise UsageError(
                f"{other} differs from name={place.name} in its case alone, and on some systems not at all; "
                "choose another name"
            )
    return place


def _resolved(written: str, base: Path, home: Path) -> Path:
    return _path(written, base, home).resolve()


def _path(written: str, base: Path, home: Path) -> Path:
    return home / written.removeprefix("~/") if written.startswith("~/") else base / written
