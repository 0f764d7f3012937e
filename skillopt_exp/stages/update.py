"""Stage 5: the selected proposals become the candidate, with a report of what became of each."""

from dataclasses import dataclass, replace

from skillopt_exp.llm.base import Chat
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import EditResult, Patch, Skill
from skillopt_exp.stages.modes import Mode


@dataclass(frozen=True, slots=True)
class Updated:
    """The candidate; ``selected`` counts the reply that it took, where there was one."""

    skill: Skill
    selected: Patch
    edits: tuple[EditResult, ...]


async def update(optimizer: Chat, skill: Skill, selected: Patch, *, mode: Mode, prompts: Prompts) -> Updated:
    """``skill`` with the proposals of ``selected``, each of them applied or rejected for one reason."""
    applied = await mode.apply(optimizer, skill, selected.edits, prompts)
    if applied.reply is not None:
        selected = replace(selected, replies=(*selected.replies, applied.reply))
    if applied.problem:
        selected = replace(selected, dropped=(*selected.dropped, f"rewrite reply: {applied.problem}"))
    return Updated(applied.skill, selected, applied.results)
