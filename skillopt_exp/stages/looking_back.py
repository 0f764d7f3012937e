"""The two calls at the end of an epoch: guidance for the skill, and advice to the optimizer itself."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Advice, Change, Pair, PairPolicy, Remembered, Skill
from skillopt_exp.stages.modes import Mode
from skillopt_exp.stages.reflect import excerpt, remembered, trajectory
from skillopt_exp.stages.replies import WrittenReply, ask_json, read_guidance, read_meta_skill

_CHANGED = (Change.improved, Change.regressed)


@dataclass(frozen=True, slots=True)
class Hindsight:
    """What both calls are told: the skill, the epoch's steps (shown as the update mode words them), the
    earlier advice, pairs of attempts."""

    mode: Mode
    skill: Skill
    memory: tuple[Remembered, ...]
    advice: str
    pairs: tuple[Pair, ...]
    trajectory_chars: int


def chosen(pairs: Sequence[Pair], policy: PairPolicy) -> tuple[Pair, ...]:
    """The pairs that ``policy`` shows, in the order of ``Change`` and then as they are."""
    match policy:
        case PairPolicy.mixed:
            shown: tuple[Change, ...] = tuple(Change)
        case PairPolicy.changed:
            shown = _CHANGED
        case PairPolicy.unchanged:
            shown = tuple(change for change in Change if change not in _CHANGED)
    return tuple(pair for change in shown for pair in pairs if pair.change is change)


async def write_guidance(optimizer: Chat, hindsight: Hindsight, prompts: Prompts) -> Advice:
    """The new guidance part. A reply that cannot be read is an empty advice, which changes nothing."""
    prompt = prompts.render(
        "slow_update",
        skill=hindsight.skill.text,
        guidance=hindsight.skill.guidance,
        pairs=_shown(hindsight),
    )
    return await _advice(optimizer, prompt, Stage.slow_update, read_guidance)


async def write_meta_skill(optimizer: Chat, hindsight: Hindsight, prompts: Prompts) -> Advice:
    """Advice to the optimizer for the next epoch. A reply that cannot be read is an empty advice."""
    prompt = prompts.render(
        "meta_skill",
        skill=hindsight.skill.text,
        advice=hindsight.advice,
        memory=[remembered(step, hindsight.mode) for step in hindsight.memory],
        pairs=_shown(hindsight),
    )
    return await _advice(optimizer, prompt, Stage.meta_skill, read_meta_skill)


async def _advice(optimizer: Chat, prompt: str, stage: Stage, read: Callable[[Any], WrittenReply]) -> Advice:
    answer = await ask_json(optimizer, prompt, stage=stage, read=read)
    if answer.value is None:
        return Advice(replies=(answer.path,), dropped=(answer.problem,))
    return Advice(answer.value.text, answer.value.reasoning, replies=(answer.path,))


def _shown(hindsight: Hindsight) -> list[dict[str, Any]]:
    """Each pair once as a task, with both attempts beside each other."""
    limit = hindsight.trajectory_chars
    shown = []
    for pair in hindsight.pairs:
        item = pair.after.item
        task = {"task": excerpt(item.question, limit), "gold": list(item.answers)}
        if item.context:
            task["context"] = excerpt(item.context, limit)
        attempts = {
            when: {key: value for key, value in trajectory(rollout, limit).items() if key not in _OF_THE_TASK}
            for when, rollout in (("before", pair.before), ("after", pair.after))
        }
        shown.append({"change": str(pair.change), **task, **attempts})
    return shown


_OF_THE_TASK = ("task", "context", "gold")
