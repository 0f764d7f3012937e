"""What a run came to in words, and what to do next: a sentence, its reason, a command to copy. Pure."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skillopt_exp.display import bracketed, percent, points
from skillopt_exp.records import Evidence, Summary


class Mood(StrEnum):
    """How a verdict is coloured; the words say it, too."""

    good = "good"
    bad = "bad"
    open = "open"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do next and why, with a command where one does it."""

    words: str
    command: str | None = None


@dataclass(frozen=True, slots=True)
class Story:
    """``headline`` says what happened, ``figures`` how much, ``reason`` why no more."""

    mood: Mood
    headline: str
    figures: str
    reason: str
    advice: tuple[Advice, ...]


_TOO_FEW = "too few test items to tell"

BY_CAUSE = {
    "optimizer replies unusable": (
        "Try another model as the optimizer",
        "model.optimizer.name=ANOTHER_MODEL",
    ),
    "ceiling reached": (
        "The target solves nearly all of it without a skill: take harder items, or a weaker target",
        "model.target.name=WEAKER_MODEL",
    ),
    "no step was taken": ("Take at least one epoch", "train.num_epochs=3"),
    "the optimizer proposed no edits": (
        "Let the optimizer see more failures at once, or try another model for it",
        "gradient.minibatch_size=8",
    ),
    "gate too small": (
        "Give the gate more val items: more data, or a larger part of it",
        "dataset.split=[4,3,3]",
    ),
    "too little train data": ("Bring more items: more data beats more tuning", None),
    _TOO_FEW: (
        "Score both skills on more test items, from a larger file where there is one: nothing has to be "
        "trained again for that",
        "evaluation.test_limit=null",
    ),
    "no proposed edit helped on val": (
        "Let partial credit count, so that smaller gains are seen",
        "gate=soft",
    ),
    "what helped on val did not on test": (
        "Ask more of the gate, so that luck on val is not taken for a gain",
        "gate=significant",
    ),
}
"""What to try, by how the likely cause begins."""


def tell(summary: Summary | None, overrides: Sequence[str] | None, folder: str, steps: int) -> Story:
    """The story of the run in ``folder``, after ``steps`` steps; None is a run that has no summary."""
    resume = f"python -m skillopt_exp resume run={shlex.quote(folder)}"
    if summary is None:
        return Story(
            Mood.open,
            "Not finished",
            f"{steps} steps are done; the test comes after the last one.",
            "",
            (Advice("If it is not at work any more, go on with it", resume),),
        )
    figures = _figures(summary)
    if not summary.complete:
        advice = Advice("Nothing is lost: go on from the last completed step", resume)
        return Story(Mood.open, f"Not finished: {summary.status}", figures, "", (advice,))
    return Story(
        _mood(summary),
        _sentence(summary.verdict),
        figures,
        summary.cause,
        (*_of_simulation(summary, overrides), *_next(summary, overrides, folder)),
    )


def command_of(overrides: Sequence[str] | None, *more: str, verb: str = "") -> str | None:
    """The command that began the run, with ``more``; None where it is not known.

    What ``more`` sets is taken out of the command before; ``verb`` asks for something else of the same.
    """
    if overrides is None:
        return None
    replaced = {each.partition("=")[0] for each in more}
    kept = [each for each in overrides if each.partition("=")[0] not in replaced]
    return " ".join(["python -m skillopt_exp", *([verb] if verb else []), *map(shlex.quote, (*kept, *more))])


def _figures(summary: Summary) -> str:
    if summary.test_hard is None:
        return (
            "It was not scored on test: nobody knows what the skill gains on items that it was not chosen on."
        )
    on = f"on {summary.num_test_items:,} test items that no decision has seen"
    if summary.test_delta_hard is None or summary.evidence is None:
        return f"{percent(summary.test_hard)} solved {on}."
    before, after = percent(summary.baseline_test_hard), percent(summary.test_hard)
    gain = f"{points(summary.test_delta_hard)} points{bracketed(summary.test_delta_interval)}"
    return (
        f"From {before} with the skill that training began with to {after} with the best one: {gain}, {on}."
    )


def _mood(summary: Summary) -> Mood:
    if summary.evidence is not Evidence.clear or summary.test_delta_hard is None:
        return Mood.open
    return Mood.good if summary.test_delta_hard > 0 else Mood.bad


def _of_simulation(summary: Summary, overrides: Sequence[str] | None) -> list[Advice]:
    if not summary.simulated:
        return []
    return [
        Advice(
            "The models were simulated, so no figure says anything about a real one: do not use this skill "
            "for real work. See what a run with a real model would ask and cost, for free",
            command_of(overrides, "model=deepseek", verb="plan"),
        )
    ]


def _next(summary: Summary, overrides: Sequence[str] | None, folder: str) -> list[Advice]:
    if summary.evidence is Evidence.clear and (summary.test_delta_hard or 0.0) > 0:
        return [_deploy(summary, folder)]
    if summary.evidence is Evidence.clear:
        return [Advice("Do not use this skill: it loses items that the one before it solved. Keep that one")]
    found = next((each for start, each in BY_CAUSE.items() if summary.cause.startswith(start)), None)
    verb = _comparing(folder) if summary.cause.startswith(_TOO_FEW) else ""
    advice = [] if found is None else [_try(found[0], found[1], overrides, verb)]
    if summary.best_digest == summary.seed_digest:
        advice.append(
            Advice("There is nothing to deploy: the best skill is the one that training began with")
        )
    elif summary.evidence is not None:
        advice.append(Advice("Until then there is no reason to deploy it: the gain may be luck"))
    return advice


def _deploy(summary: Summary, folder: str) -> Advice:
    name = re.sub(r"[^a-z0-9]+", "-", summary.dataset.lower()).strip("-")[:40].strip("-") or "skill"
    words = (
        "Deploying it can be tried all the same"
        if summary.simulated
        else "Read the skill below. If it says what you want said, see what giving it to an agent would write"
    )
    where = f"run={shlex.quote(folder)} name={name}-v1 agent=claude-code dry_run=true"
    return Advice(words, f"python -m skillopt_exp deploy {where}")


def _try(words: str, override: str | None, overrides: Sequence[str] | None, verb: str) -> Advice:
    return Advice(words, None if override is None else command_of(overrides, override, verb=verb))


def _comparing(folder: str) -> str:
    return f"compare a={shlex.quote(f'{folder}/skills/skill_v0000.md')} b={shlex.quote(folder)}"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]
