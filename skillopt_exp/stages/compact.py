"""Between update and gate: a candidate that has grown too long is sent back once, to be said in less."""

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Compaction, ParsePath, Skill
from skillopt_exp.skill import num_tokens, with_body
from skillopt_exp.stages.replies import ask_json, read_skill


async def compact(
    optimizer: Chat, skill: Skill, max_tokens: int, prompts: Prompts
) -> tuple[Skill, Compaction]:
    """The skill with a shorter body, its other parts as they are; unchanged where the reply is no use.

    The result may still be too long: whoever asked has to look.
    """
    before = num_tokens(skill.text)
    room = max_tokens - (before - num_tokens(skill.body))
    prompt = prompts.render(
        "compact", skill=skill.body, max_tokens=max(1, room), tokens=num_tokens(skill.body)
    )
    answer = await ask_json(optimizer, prompt, stage=Stage.compact, read=read_skill)
    if answer.value is None:
        return skill, Compaction(before, None, ParsePath.failed, answer.problem)
    shorter, rejection = with_body(skill, answer.value.text)
    if rejection is not None:
        return skill, Compaction(before, None, answer.path, f"the shorter skill was refused: {rejection}")
    return shorter, Compaction(before, num_tokens(shorter.text), answer.path)
