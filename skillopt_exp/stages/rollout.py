"""Stage 1: the target attempts one item under a skill."""

from functools import partial

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.records import Item, Rollout, Skill
from skillopt_exp.tasks.base import Task


async def rollout(
    task: Task, target: Chat, skill: Skill, item: Item, *, stage: Stage = Stage.rollout, attempt: int = 1
) -> Rollout:
    """One scored attempt. ``stage`` says what it is for: training, selection or test."""
    ask = partial(target.ask, stage=stage, attempt=attempt)
    return await task.rollout(item, skill.text, ask, attempt=attempt)
