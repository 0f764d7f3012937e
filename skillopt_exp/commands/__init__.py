"""The verbs of the command line, one module each, imported when it is called.

A verb's module has ``run(arguments) -> exit code``.
"""

from collections.abc import Sequence
from importlib import import_module

from skillopt_exp.config.names import did_you_mean, meant
from skillopt_exp.errors import UsageError

DEFAULT_VERB = "train"
VERBS = {
    "train": "compose an experiment and train a skill (the default verb)",
    "resume": "go on with a run that was stopped, killed or paused",
    "plan": "say what a run would ask and cost, with bounds, before any paid call",
    "runs": "list the runs and sweeps that were launched here, with status, scores and cost",
    "doctor": "check keys, models, data and stores before a run is paid for",
    "eval": "score any skill on one split of a data set",
    "compare": "score two skills on the same items and tell what the difference proves",
    "transfer": "score a skill against none over several models and data sets",
    "diff": "show two skills side by side",
    "report": "tell a run on one page: report.html",
    "deploy": "write a trained skill where an agent finds it",
    "undeploy": "take a deployed skill away, and bring back what stood there before",
    "rollback": "undo the last deployment of a skill",
    "rule": "show what the rule derives from a train split of a given size",
    "gate-selftest": "measure what a gate accepts by luck, and which gains it sees",
    "export-calls": "write the conversations of a run in OpenAI's chat format",
    "serve-simulated": "serve the simulated models over HTTP, for other tools",
}


def help_lines() -> str:
    """The verbs with what they do, one a line."""
    width = max(map(len, VERBS))
    return "\n".join(f"  {verb:<{width}}  {summary}" for verb, summary in VERBS.items())


def no_such_verb(given: str) -> UsageError:
    """The error for a word that should have been a verb."""
    close = meant(given.lower(), VERBS)
    hint = f"{did_you_mean(close)} " if close else ""
    return UsageError(f"there is no verb {given[:60]!r}; {hint}The verbs are {', '.join(VERBS)}")


def run(arguments: Sequence[str]) -> int:
    """Run the verb that ``arguments`` begin with, or train.

    Raises:
        UsageError: no such verb.
    """
    verb, rest = DEFAULT_VERB, list(arguments)
    if rest and not rest[0].startswith(("-", "+", "~")) and "=" not in rest[0]:
        verb, rest = rest[0], rest[1:]
    if verb not in VERBS:
        raise no_such_verb(verb)
    module = import_module(f"skillopt_exp.commands.{verb.replace('-', '_')}")
    exit_code: int = module.run(rest)
    return exit_code
