"""Stage 5: the selected proposals and notes become the candidate, with a report of what became of each."""

from dataclasses import dataclass, replace

from skillopt_exp.llm.base import Chat
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Compaction, EditResult, Patch, Skill
from skillopt_exp.stages.modes import Mode
from skillopt_exp.stages.notes import take_notes


@dataclass(frozen=True, slots=True)
class Updated:
    """The candidate; ``selected`` counts the reply that it took, where there was one."""

    skill: Skill
    selected: Patch
    edits: tuple[EditResult, ...]
    notes: tuple[EditResult, ...] = ()
    notes_compaction: Compaction | None = None


async def update(
    optimizer: Chat, skill: Skill, selected: Patch, *, mode: Mode, max_notes: int | None, prompts: Prompts
) -> Updated:
    """``skill`` with the proposals and the notes of ``selected``, each applied or rejected for one reason.

    An appendix of more than ``max_notes`` is said in less; None is no limit.
    """
    applied = await mode.apply(optimizer, skill, selected.edits, prompts)
    if applied.reply is not None:
        selected = replace(selected, replies=(*selected.replies, applied.reply))
    if applied.problem:
        selected = replace(selected, dropped=(*selected.dropped, f"rewrite reply: {applied.problem}"))
    noted = await take_notes(optimizer, applied.skill, selected.notes, most=max_notes, prompts=prompts)
    return Updated(noted.skill, selected, applied.results, noted.results, noted.compaction)
