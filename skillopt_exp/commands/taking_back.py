"""What ``undeploy`` and ``rollback`` share: they name a place, and put back what stood there."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp.commands.arguments import Verb, parse
from skillopt_exp.commands.deploy import AGENT_HELP, agent_named
from skillopt_exp.config.key import Affects, key
from skillopt_exp.deploy.agents import Scope

if TYPE_CHECKING:
    from skillopt_exp.deploy.journal import Receipt
    from skillopt_exp.deploy.place import Place

Taking = Callable[["Place", bool], "Receipt"]
"""Changes the place; the second argument is whether the user confirmed it."""


@dataclass(kw_only=True)
class PlaceArguments:
    """Keys of both verbs: where the skill was deployed."""

    name: str = key(affects=Affects.nothing, help="of the skill")
    agent: str | None = key(None, affects=Affects.nothing, help=AGENT_HELP)
    dir: str | None = key(None, affects=Affects.nothing, help="in place of agent: the folder of skills")
    scope: Scope | None = key(
        None, affects=Affects.nothing, help="project (here) or user (everywhere); null is project"
    )
    confirm: bool = key(
        False, affects=Affects.nothing, help="go on although the skill was changed since; that is kept, too"
    )


def take_back(arguments: Sequence[str], verb: Verb, taking: Taking) -> int:
    """Do it, and say what is there now.

    Raises:
        SkillOptError: what keeps it from being done; nothing is changed then.
    """
    asked = parse(PlaceArguments, arguments, verb)
    if asked is None:
        return 0
    from skillopt_exp.deploy.journal import Journal
    from skillopt_exp.deploy.place import find_place

    place = find_place(
        asked.name,
        agent=agent_named(asked.agent),
        scope=asked.scope,
        directory=asked.dir,
        base=Path.cwd(),
        home=Path.home(),
    )
    receipt = taking(place, asked.confirm)
    now = "gone: nothing stood there before" if receipt.file_sha256 is None else "again what it was before"
    sys.stdout.write(f"{place.folder} is {now}\n")
    backup = Journal(place).path_of(receipt)
    if backup is not None:
        sys.stdout.write(f"what stood there until now is kept in {backup}\n")
    return 0
