"""Part of stage 5: reminders of what the skill says already go to its appendix, which stays short."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Compaction, EditResult, ParsePath, Skill
from skillopt_exp.skill import notes_of, num_tokens, with_notes, with_other_notes
from skillopt_exp.stages.replies import ask_json, read_notes


@dataclass(frozen=True, slots=True)
class Noted:
    """A skill with notes, what became of each, and of the appendix where it had to be said in less."""

    skill: Skill
    results: tuple[EditResult, ...]
    compaction: Compaction | None = None


async def take_notes(
    optimizer: Chat, skill: Skill, notes: Sequence[str], *, most: int | None, prompts: Prompts
) -> Noted:
    """The skill with ``notes`` in its appendix; one call makes fewer of more than ``most`` (None: no limit).

    Where no note is new, nobody is asked. A reply that is no use leaves the notes as they are.
    """
    noted, results = with_notes(skill, notes)
    so_far = notes_of(noted)
    if noted == skill or most is None or len(so_far) <= most:
        return Noted(noted, results)
    prompt = prompts.render("compact_notes", skill=noted.text, notes=so_far, max_notes=most)
    answer = await ask_json(optimizer, prompt, stage=Stage.compact, read=read_notes)
    before = num_tokens(noted.appendix)
    if answer.value is None:
        return Noted(noted, results, Compaction(before, None, ParsePath.failed, answer.problem))
    if not 0 < len(answer.value) < len(so_far):
        problem = f"{len(answer.value)} notes of {len(so_far)} are not fewer"
        return Noted(noted, results, Compaction(before, None, answer.path, problem))
    shorter, rejection = with_other_notes(noted, answer.value)
    if rejection is not None:
        problem = f"the shorter appendix was refused: {rejection}"
        return Noted(noted, results, Compaction(before, None, answer.path, problem))
    return Noted(shorter, results, Compaction(before, num_tokens(shorter.appendix), answer.path))
