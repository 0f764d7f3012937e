"""Making the candidate of what a step proposes: edit by edit, by one rewrite, or as a whole skill."""

from collections.abc import Sequence
from dataclasses import dataclass

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Edit, EditResult, ParsePath, Rejection, Skill
from skillopt_exp.skill import apply_edits, rewritten
from skillopt_exp.stages.replies import ask_json, read_skill, suggestion_fields


@dataclass(frozen=True, slots=True)
class Applied:
    """A skill after what was proposed, and what became of each proposal.

    ``reply`` says how the reply was read where the optimizer was asked, ``problem`` what was wrong.
    """

    skill: Skill
    results: tuple[EditResult, ...]
    reply: ParsePath | None = None
    problem: str = ""


async def by_edits(optimizer: Chat, skill: Skill, edits: Sequence[Edit], prompts: Prompts) -> Applied:
    """Each edit applied in order, or rejected for its own reason. Asks nobody."""
    return Applied(*apply_edits(skill, edits))


async def by_one_rewrite(
    optimizer: Chat, skill: Skill, suggestions: Sequence[Edit], prompts: Prompts
) -> Applied:
    """One call rewrites the body: all suggestions that reached it are applied, or rejected for one reason.

    A suggestion without an instruction does not reach it, and without any there is no call.
    """
    sent = [suggestion for suggestion in suggestions if suggestion.content and suggestion.content.strip()]
    if not sent:
        return Applied(skill, tuple(EditResult(each, Rejection.bad_content) for each in suggestions))
    prompt = prompts.render(
        "rewrite", skill=skill.text, suggestions=[suggestion_fields(suggestion) for suggestion in sent]
    )
    answer = await ask_json(optimizer, prompt, stage=Stage.rewrite, read=read_skill)
    unreadable = skill, Rejection.unreadable
    new, rejection = unreadable if answer.value is None else rewritten(skill, answer.value.text)
    results = tuple(
        EditResult(each, rejection if each in sent else Rejection.bad_content) for each in suggestions
    )
    return Applied(new, results, answer.path, answer.problem)


async def by_whole_skills(optimizer: Chat, skill: Skill, skills: Sequence[Edit], prompts: Prompts) -> Applied:
    """Each whole skill takes the place of the body, or is rejected for its own reason. Asks nobody."""
    results = []
    for each in skills:
        skill, rejection = rewritten(skill, each.content or "")
        results.append(EditResult(each, rejection))
    return Applied(skill, tuple(results))
