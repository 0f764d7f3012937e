"""Suggestions and whole skills: edits in other words, and a skill written anew as they ask."""

import random
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from skillopt_exp.simulation.optimizer.pooling import merge, rank
from skillopt_exp.simulation.optimizer.prompt import Proposal, body_of

_WORDED = {
    "append": ("add_rule", "a rule that is missing", "Add this rule: {content}"),
    "insert_after": ("add_rule", "a rule that is missing", 'Below "{target}" add this rule: {content}'),
    "replace": ("clarify", "a rule that is not followed", 'Instead of "{target}" say: {content}'),
    "delete": ("remove_rule", "a rule that does no good", 'Drop this: "{target}"'),
}
"""Type, title and instruction of the suggestion that stands for an edit."""

_READ = {
    "append": re.compile(r"Add this rule: (?P<content>.*)", re.DOTALL),
    "insert_after": re.compile(r'Below "(?P<target>.*)" add this rule: (?P<content>.*)', re.DOTALL),
    "replace": re.compile(r'Instead of "(?P<target>.*)" say: (?P<content>.*)', re.DOTALL),
    "delete": re.compile(r'Drop this: "(?P<target>.*)"', re.DOTALL),
}

_FORGETS = 0.05
"""Share of rewritten skills in which a line was lost on the way, in [0, 1]."""
_NEW_LINES = 3
"""What a merged skill takes over of all that is new, the best supported first."""


def suggested(edit: Proposal) -> Proposal:
    """The suggestion that asks for ``edit``."""
    kind, title, instruction = _WORDED[edit.op]
    words = instruction.format(target=edit.target, content=edit.content)
    return replace(edit, op=kind, target=title, content=words)


def as_edit(suggestion: Proposal) -> Proposal:
    """What ``suggestion`` asks for; an instruction in other words is taken for a rule."""
    asked = suggestion.content or ""
    for op, pattern in _READ.items():
        read = pattern.fullmatch(asked)
        if read is not None:
            found = read.groupdict()
            return replace(suggestion, op=op, target=found.get("target"), content=found.get("content"))
    return replace(suggestion, op="append", target=None, content=f"- {asked}")


def merged_suggestions(suggestions: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Suggestions that ask for the same become one."""
    return tuple(map(suggested, merge(map(as_edit, suggestions))))


def merged_skills(skill: str, candidates: tuple[Proposal, ...]) -> tuple[Proposal, ...]:
    """One skill of several: without what most of them leave out, and with the best of what they add."""
    if not candidates:
        return ()
    old = body_of(skill).splitlines()
    kept = Counter(line for each in candidates for line in set((each.content or "").splitlines()))
    lines = [line for line in old if not line.strip() or kept[line] * 2 > len(candidates)]
    added = merge(
        replace(each, op="append", target=None, content=line)
        for each in candidates
        for line in (each.content or "").splitlines()
        if line.strip() and line not in old
    )
    best = rank(enumerate(added), _NEW_LINES)
    lines += [added[index].content or "" for index in sorted(best)]
    source = "failure" if any(each.source == "failure" for each in candidates) else "success"
    support = sum(each.support for each in candidates)
    return (Proposal("rewrite", candidates[0].target, "\n".join(lines).strip(), support, source),)


def rewritten(skill: str, edits: Iterable[Proposal], rng: random.Random) -> str:
    """The body of ``skill`` with the edits worked in; now and then something is lost on the way."""
    lines = body_of(skill).splitlines()
    if lines and rng.random() < _FORGETS:
        lines.remove(rng.choice(lines))
    for edit in edits:
        content = (edit.content or "").strip()
        place = lines.index(edit.target) if edit.target in lines else None
        if edit.op in ("replace", "delete") and place is not None:
            lines[place : place + 1] = [content] if content else []
        elif content and content not in lines:
            lines.insert(len(lines) if place is None else place + 1, content)
    return "\n".join(lines).strip()
