"""``deploy``: a trained skill as a package where an agent finds it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp.commands.arguments import Verb, parse
from skillopt_exp.config.key import Affects, key
from skillopt_exp.deploy.agents import AgentName, Scope
from skillopt_exp.errors import UsageError

if TYPE_CHECKING:
    from rich.console import Console

    from skillopt_exp.deploy.deploying import Plan
    from skillopt_exp.deploy.source import Source

VERB = Verb(
    "deploy",
    "Write a skill where an agent finds it: <folder>/<name>/SKILL.md with front matter. What stood there is "
    "kept; undeploy and rollback bring it back. Nothing of a skill is ever run.",
    "python -m skillopt_exp deploy run=latest name=searchqa-v1 agent=claude-code",
)

AGENT_HELP = "claude-code, codex, hermes, openclaw or opencode"

_DESCRIPTION = "description="


@dataclass(kw_only=True)
class DeployArguments:
    """Keys of the verb."""

    run: str | None = key(None, affects=Affects.nothing, help="a run's folder, or latest: its best skill")
    skill: str | None = key(None, affects=Affects.nothing, help="in place of run: any Markdown file")
    name: str | None = key(
        None, affects=Affects.nothing, help="of the skill and its folder; null takes that of skill=..."
    )
    agent: str | None = key(None, affects=Affects.nothing, help=AGENT_HELP)
    dir: str | None = key(None, affects=Affects.nothing, help="in place of agent: any folder of skills")
    scope: Scope | None = key(
        None, affects=Affects.nothing, help="project (here) or user (everywhere); null is project"
    )
    description: str | None = key(
        None, affects=Affects.nothing, help="what the skill does and when to use it; null takes a default"
    )
    dry_run: bool = key(False, affects=Affects.nothing, help="show what would be written, and write nothing")
    confirm: bool = key(
        False, affects=Affects.nothing, help="deploy although training brought in what an agent could act on"
    )


def run(arguments: Sequence[str]) -> int:
    """Deploy, or show what would be written.

    Raises:
        SkillOptError: what keeps the skill from being deployed; nothing is written then.
    """
    asked = _parsed(arguments)
    if asked is None:
        return 0
    from rich.console import Console

    from skillopt_exp.deploy.deploying import deploy, plan
    from skillopt_exp.deploy.journal import Journal
    from skillopt_exp.deploy.place import find_place

    base, home = Path.cwd(), Path.home()
    source = _source(asked, base)
    name = source.name if asked.name is None else asked.name
    if name is None:
        raise UsageError(f"name is missing; for example: {VERB.example}")
    place = find_place(
        name, agent=agent_named(asked.agent), scope=asked.scope, directory=asked.dir, base=base, home=home
    )
    planned = plan(source, place, asked.description)
    console = Console()
    if asked.dry_run:
        _show(console, planned, base, home, backup=None)
        _show_content(console, planned)
        return 0
    receipt = deploy(planned, confirmed=asked.confirm)
    _show(console, planned, base, home, backup=Journal(place).path_of(receipt))
    return 0


def agent_named(given: str | None) -> AgentName | None:
    """The agent that ``agent=given`` names.

    Raises:
        UsageError: there is no such agent.
    """
    if given is None:
        return None
    known = {each.value: each for each in AgentName}
    if given not in known:
        raise UsageError(f"agent={given} is not known; use one of {', '.join(known)}, or dir=<folder>")
    return known[given]


def _parsed(arguments: Sequence[str]) -> DeployArguments | None:
    """The arguments; a description is a sentence as it stands, whatever YAML would make of its colons."""
    described = [each for each in arguments if each.startswith(_DESCRIPTION)]
    asked = parse(DeployArguments, [each for each in arguments if each not in described], VERB)
    if asked is None or not described:
        return asked
    said = described[-1].removeprefix(_DESCRIPTION)
    return replace(asked, description=None if said == "null" else said)


def _source(asked: DeployArguments, base: Path) -> "Source":
    from skillopt_exp.deploy.source import of_file, of_run
    from skillopt_exp.runs.find import find_run

    if (asked.run is None) is (asked.skill is None):
        raise UsageError(f"say what to deploy: run=<folder>, run=latest or skill=<file>; as {VERB.example}")
    if asked.skill is not None:
        return of_file(asked.skill, base=base)
    assert asked.run is not None
    return of_run(find_run(asked.run, base=base))


def _show(console: "Console", planned: "Plan", base: Path, home: Path, backup: Path | None) -> None:
    from skillopt_exp.deploy.place import namesakes
    from skillopt_exp.display import named, print_rows, print_warnings

    place = planned.place
    reader = "any agent that reads this folder" if place.agent is None else place.agent.title
    rows = [
        ("skill", str(place.file), f"for {reader}"),
        ("from", named(planned.source.label), f"SHA-256 {planned.source.digest[:12]}"),
        ("described", planned.package.description, ""),
    ]
    if backup is not None:
        rows.append(("backup", str(backup), "what stood there before; rollback brings it back"))
    print_rows(console, rows)
    print_warnings(console, [*planned.remarks, *namesakes(place, base=base, home=home)])


def _show_content(console: "Console", planned: "Plan") -> None:
    from rich.text import Text

    from skillopt_exp.display import print_warnings

    needs = "needs confirm=true" if planned.findings else ""
    print_warnings(console, [f"{needs}: {finding}" for finding in planned.findings])
    console.print()
    lines = planned.package.text.split("\n")
    # Not through the console's own reading of markup; what is not printable must not reach a terminal.
    shown = "\n".join(
        "".join(each if each.isprintable() else ascii(each)[1:-1] for each in line) for line in lines
    )
    console.print(Text(shown), soft_wrap=True, highlight=False)
    console.print("nothing was written: dry_run=true")
