"""Merging and ranking of edits, as the optimizer does them."""

from collections.abc import Iterable
from dataclasses import replace

from skillopt_exp.simulation.optimizer.advice import ADVICE
from skillopt_exp.simulation.optimizer.prompt import Proposal

_ADDING = ("append", "insert_after")
_YOUNG_LINES = 5
_BEARABLE_YOUNG, _BEARABLE = 3, 1
"""Edits at once, for a skill of fewer lines than that and for others."""


def merge(edits: Iterable[Proposal]) -> tuple[Proposal, ...]:
    """Edits that say the same become one, with the support of all; the best supported wording stays."""
    groups: dict[tuple[str, ...], list[Proposal]] = {}
    for edit in edits:
        groups.setdefault(_meaning(edit), []).append(edit)
    return tuple(map(_merged, groups.values()))


def rank(edits: Iterable[tuple[int, Proposal]], budget: int) -> tuple[int, ...]:
    """The indices of the ``budget`` best supported edits, the best first, ties in order."""
    ranked = sorted(edits, key=lambda pair: (-pair[1].support, pair[1].source != "failure", pair[0]))
    return tuple(index for index, _ in ranked[:budget])


def rate(edits: Iterable[Proposal], skill: str) -> int:
    """How many of ``edits`` a skill should take at once: an empty one bears more than a long one."""
    bearable = _BEARABLE_YOUNG if len(skill.splitlines()) < _YOUNG_LINES else _BEARABLE
    return min(len(merge(edits)), bearable)


def _merged(same: list[Proposal]) -> Proposal:
    best = max(same, key=lambda edit: edit.support)
    source = "failure" if any(edit.source == "failure" for edit in same) else "success"
    return replace(best, support=sum(edit.support for edit in same), source=source)


def _meaning(edit: Proposal) -> tuple[str, ...]:
    """What two edits have in common that say the same."""
    content = " ".join((edit.content or "").casefold().split()).lstrip("-* ")
    # A suggestion has words around the rule that it asks for.
    known = ((flaw, rule.casefold()) for flaw, advice in ADVICE.items() for rule in advice.rules)
    flaw = next((flaw for flaw, rule in known if rule in content), None)
    about = content if flaw is None else f"flaw {flaw}"
    # Where a rule is added is no part of what it says; what is replaced or deleted is.
    return ("add", about) if edit.op in _ADDING else (edit.op, edit.target or "", about)
