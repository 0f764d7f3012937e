"""Whole skills: what the optimizer writes when a skill is to be said anew, or in less."""

import random
from collections.abc import Iterable, Iterator

from skillopt_exp.simulation.optimizer.advice import ADVICE, USELESS
from skillopt_exp.simulation.optimizer.prompt import Proposal, ProposePrompt, ReflectPrompt
from skillopt_exp.simulation.optimizer.reflecting import Reflection, reflect

_CHARS_PER_TOKEN = 4
_RULES_AT_ONCE = 2


def written_anew(prompt: ProposePrompt, rng: random.Random) -> tuple[Reflection, str]:
    """What the failed attempts show, and the whole skill with the rules that follow worked in."""
    seen = ReflectPrompt(
        kind="failure",
        skill=prompt.skill,
        remembered=frozenset(),
        num_earlier_steps=0,
        attempts=prompt.failed,
        budget=_RULES_AT_ONCE,
    )
    reflection = reflect(seen, rng)
    text = prompt.skill
    for edit in reflection.edits:
        text = _worked_in(text, edit)
    return reflection, text


def _worked_in(text: str, edit: Proposal) -> str:
    lines, content = text.splitlines(), edit.content or ""
    if edit.target not in lines:
        return "\n".join([*lines, content])
    at = lines.index(edit.target)
    kept = [] if edit.op in ("replace", "delete") else [edit.target]
    new = [] if edit.op == "delete" else [content]
    return "\n".join([*lines[:at], *kept, *new, *lines[at + 1 :]])


def shortened(skill: str, max_tokens: int) -> str:
    """One rule against each flaw and no idle advice, as many lines as there is room for."""
    kept: list[str] = []
    room = max_tokens * _CHARS_PER_TOKEN
    for line in _telling(skill.splitlines()):
        room -= len(line.encode()) + 1
        if room < 0:
            break
        kept.append(line)
    return "\n".join(kept)


def fewer(notes: Iterable[str], most: int) -> tuple[str, ...]:
    """One note against each flaw and no idle ones, at most ``most``: the newest."""
    return tuple(_telling(notes))[-most:]


def _telling(lines: Iterable[str]) -> Iterator[str]:
    """Lines without those that say what an earlier one said, or nothing."""
    seen: set[str] = set()
    for line in lines:
        said = line.casefold().lstrip("-* ").strip()
        about = next((str(flaw) for flaw, advice in ADVICE.items() if advice.topic.search(said)), said)
        if said and about not in seen and said not in map(str.casefold, USELESS):
            seen.add(about)
            yield line
