"""Stage 4, before the selection: how many edits the step may apply, by whoever says so."""

from dataclasses import replace

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import EditLimit, Patch, RateControl, Skill
from skillopt_exp.stages.modes import Mode
from skillopt_exp.stages.replies import ask_json, read_rate


async def limited(
    optimizer: Chat,
    skill: Skill,
    pool: Patch,
    *,
    control: RateControl,
    scheduled: int,
    mode: Mode,
    prompts: Prompts,
) -> tuple[EditLimit, Patch]:
    """The edits that the step may apply, and the pool with the reply counted where one was needed."""
    match control:
        case RateControl.fixed:
            return EditLimit(scheduled), pool
        case RateControl.autonomous:
            return await rate(optimizer, skill, pool, scheduled=scheduled, mode=mode, prompts=prompts)
        case RateControl.none:
            return EditLimit(None), pool


async def rate(
    optimizer: Chat, skill: Skill, pool: Patch, *, scheduled: int, mode: Mode, prompts: Prompts
) -> tuple[EditLimit, Patch]:
    """The limit for ``pool``, from 0 to all of its edits, and the pool with the reply counted.

    No call where there is no edit. A reply that cannot be read leaves what is ``scheduled``.
    """
    if not pool.edits:
        return EditLimit(0, "no edit was proposed"), pool
    prompt = prompts.render("rate", skill=skill.text, edits=[mode.shown(edit) for edit in pool.edits])
    answer = await ask_json(optimizer, prompt, stage=Stage.select, read=read_rate)
    asked = replace(pool, replies=(*pool.replies, answer.path))
    if answer.value is None:
        dropped = (*pool.dropped, f"learning rate reply: {answer.problem}")
        return EditLimit(scheduled, f"as scheduled: {answer.problem}"), replace(asked, dropped=dropped)
    return EditLimit(min(answer.value.edits, len(pool.edits)), answer.value.reason), asked
