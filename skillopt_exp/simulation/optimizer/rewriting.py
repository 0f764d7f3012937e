"""Whole skills: what the optimizer writes when a skill is to be said anew, or in less."""

from collections.abc import Iterable, Iterator

from skillopt_exp.simulation.optimizer.advice import ADVICE, USELESS

_CHARS_PER_TOKEN = 4


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


def _telling(lines: Iterable[str]) -> Iterator[str]:
    """Lines without those that say what an earlier one said, or nothing."""
    seen: set[str] = set()
    for line in lines:
        said = line.casefold().lstrip("-* ").strip()
        about = next((str(flaw) for flaw, advice in ADVICE.items() if advice.topic.search(said)), said)
        if said and about not in seen and said not in map(str.casefold, USELESS):
            seen.add(about)
            yield line
