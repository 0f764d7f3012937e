"""The optimizer reads attempts of one skill, solved or not, and writes the whole skill anew."""

from collections.abc import Sequence

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import BUILT_IN, Prompts
from skillopt_exp.records import Edit, Patch, Rollout, Skill
from skillopt_exp.stages.reflect import trajectory
from skillopt_exp.stages.replies import ask_json, read_skill


async def propose(
    optimizer: Chat,
    skill: Skill,
    rollouts: Sequence[Rollout],
    *,
    trajectory_chars: int,
    prompts: Prompts = BUILT_IN,
) -> Patch:
    """One edit that replaces the skill's body. A reply that cannot be read is a patch without edits."""
    prompt = prompts.render(
        "propose",
        skill=skill.text,
        trajectories=[trajectory(rollout, trajectory_chars) for rollout in rollouts],
    )
    answer = await ask_json(optimizer, prompt, stage=Stage.reflect, read=read_skill)
    if answer.value is None:
        return Patch((), replies=(answer.path,), dropped=(answer.problem,))
    return Patch(
        edits=(_whole(skill, answer.value.text),),
        reasoning=answer.value.reasoning,
        failure_summary=answer.value.failure_summary,
        replies=(answer.path,),
    )


def _whole(skill: Skill, text: str) -> Edit:
    if not skill.body.strip():
        return Edit("append", content=text)
    return Edit("replace", target=skill.body, content=text)
