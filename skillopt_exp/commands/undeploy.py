"""``undeploy``: take a deployed skill away, and bring back what stood there before it."""

from collections.abc import Sequence

from skillopt_exp.commands.arguments import Verb
from skillopt_exp.commands.taking_back import take_back

VERB = Verb(
    "undeploy",
    "Take a deployed skill away. What stood there before its first deployment is there again, or nothing.",
    "python -m skillopt_exp undeploy name=searchqa-v1 agent=claude-code",
)


def run(arguments: Sequence[str]) -> int:
    """Undeploy; see ``take_back``."""
    from skillopt_exp.deploy.deploying import undeploy

    return take_back(arguments, VERB, lambda place, confirmed: undeploy(place, confirmed=confirmed))
