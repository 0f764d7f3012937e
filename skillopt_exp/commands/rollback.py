"""``rollback``: undo the last deployment of a skill."""

from collections.abc import Sequence

from skillopt_exp.commands.arguments import Verb
from skillopt_exp.commands.taking_back import take_back

VERB = Verb(
    "rollback",
    "Undo the last deployment of a skill: what it replaced is there again. Once more undoes the one before.",
    "python -m skillopt_exp rollback name=searchqa-v1 agent=claude-code",
)


def run(arguments: Sequence[str]) -> int:
    """Roll back; see ``take_back``."""
    from skillopt_exp.deploy.deploying import rollback

    return take_back(arguments, VERB, lambda place, confirmed: rollback(place, confirmed=confirmed))
