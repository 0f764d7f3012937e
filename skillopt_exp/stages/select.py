"""Stage 4: more edits than the budget allows are ranked by the optimizer; the first ones stay."""

from dataclasses import replace

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Patch, Skill
from skillopt_exp.stages.modes import Mode
from skillopt_exp.stages.replies import ask_json, read_indices


async def select(
    optimizer: Chat, skill: Skill, pool: Patch, budget: int | None, *, mode: Mode, prompts: Prompts
) -> Patch:
    """The pool with at most ``budget`` edits (None: all). No call where all of them fit, or none may stay.

    A ranking that cannot be read, or names no edit of the pool, leaves the pool's own order.
    """
    if budget is None or len(pool.edits) <= budget:
        return pool
    if budget == 0:
        return replace(pool, edits=())
    prompt = prompts.render(
        "rank", skill=skill.text, budget=budget, edits=[mode.shown(edit) for edit in pool.edits]
    )
    answer = await ask_json(optimizer, prompt, stage=Stage.select, read=read_indices)
    known = [index for index in answer.value or () if 0 <= index < len(pool.edits)]
    order = known or range(len(pool.edits))
    return replace(
        pool,
        edits=tuple(pool.edits[index] for index in order[:budget]),
        replies=(*pool.replies, answer.path),
        dropped=(*pool.dropped, f"ranking reply: {answer.problem}") if answer.problem else pool.dropped,
    )
