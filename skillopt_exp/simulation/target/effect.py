"""What a skill does to the simulated target: which habits it cures, which it encourages."""

import re
from functools import lru_cache

from skillopt_exp.simulation.target.habits import Habit
from skillopt_exp.simulation.target.mood import is_demand, is_permission
from skillopt_exp.simulation.target.polarity import clause, is_affirmed, is_weak, reworded
from skillopt_exp.simulation.target.reading import instructions
from skillopt_exp.simulation.target.signs import SIGNS

_PRODUCING = re.compile(
    r"\b(?:answer|repl|respon|giv|offer|list|nam|writ|provid|mention|includ|add|stat|present|put|suppl"
    r"|return|show|us|explain|append|phras|word|report|round|stop|take|pick|choose|grab|copy|shorten|drop"
    r"|hedge|end|pose|turn|approximat|estimat|follow|wrap|begin|start|quot|prefer|reduc|keep|output|make"
    r"|fill|elaborat)\w*"
)
_TOO = re.compile(r"\b(?:too|overly|so)\s$")
_LETTER = re.compile(r"\bletters?\b")
_BRACKET = re.compile(r"parenthe|bracket")
_ELSEWHERE = re.compile(
    r"\b(?:before|outside|above|ahead of|prior to|earlier|in your head|silently|privately|mentally)\b"
)
_CACHED_SKILLS = 256


def cured(skill: str) -> frozenset[Habit]:
    """The habits that ``skill`` speaks against, in whatever words."""
    return frozenset(habit for habit, better in _effect(skill).items() if better)


def encouraged(skill: str) -> frozenset[Habit]:
    """The habits that ``skill`` asks for."""
    return frozenset(habit for habit, better in _effect(skill).items() if not better)


@lru_cache(maxsize=_CACHED_SKILLS)
def _effect(skill: str) -> dict[Habit, bool]:
    """Each habit that the skill speaks of: cured or else encouraged. The last sentence on it decides."""
    effect = {}
    for sentence in filter(is_demand, map(reworded, instructions(skill))):
        for habit in Habit:
            better = _speaks(sentence, habit)
            if better is not None:
                effect[habit] = better
    return effect


def _speaks(sentence: str, habit: Habit) -> bool | None:
    """Whether the sentence cures the habit or asks for it; None when it does neither."""
    worse = False
    for mention in SIGNS[habit].good.finditer(sentence):
        if _TOO.search(sentence, 0, mention.start()) or is_permission(_around(sentence, mention)):
            continue
        if is_affirmed(sentence, *mention.span()):
            return True
        worse = worse or not is_weak(sentence)
    for mention in SIGNS[habit].bad.finditer(sentence):
        if _is_harmless(sentence, mention):
            continue
        around = _around(sentence, mention)
        if not is_affirmed(sentence, *mention.span()) and not is_permission(around):
            return True
        worse = worse or _is_asked_for(around)
    return False if worse else None


def _around(sentence: str, mention: re.Match[str]) -> str:
    start, end = clause(sentence, *mention.span())
    return sentence[start:end]


def _is_harmless(sentence: str, mention: re.Match[str]) -> bool:
    """Brackets around an option's letter are no aside."""
    return bool(_BRACKET.match(mention.group()) and _LETTER.search(sentence))


def _is_asked_for(clause_text: str) -> bool:
    """Whether what is mentioned is something to write, not just something spoken of or done elsewhere."""
    return bool(_PRODUCING.search(clause_text)) and not _ELSEWHERE.search(clause_text)
