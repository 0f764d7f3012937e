"""Stage 2: the optimizer reads one minibatch of trajectories and proposes what to change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Edit, Patch, Remembered, Rollout, Skill, Source
from skillopt_exp.skill import NOTE
from skillopt_exp.stages.modes import Mode
from skillopt_exp.stages.replies import ask_json

MOST_NOTES = 3
"""Notes of one reply: more of them would say less."""


@dataclass(frozen=True, slots=True)
class Minibatch:
    """Trajectories that one reflect call is shown: all failures, or all successes."""

    source: Source
    rollouts: tuple[Rollout, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """What every reflect call of a step is told besides its trajectories.

    ``edit_budget`` None is no limit; ``advice`` is the meta skill. ``notes`` is the number of notes that a
    reply on failures may hold; None asks for none.
    """

    mode: Mode
    skill: Skill
    memory: tuple[Remembered, ...]
    edit_budget: int | None
    trajectory_chars: int
    advice: str = ""
    notes: int | None = None


def minibatches(rollouts: Sequence[Rollout], *, size: int, failure_only: bool) -> tuple[Minibatch, ...]:
    """Failures, then successes, each cut into runs of ``size`` in batch order.

    The batch is a seeded permutation already, so there is no second shuffle.
    """
    groups = [(Source.failure, tuple(r for r in rollouts if r.failed))]
    if not failure_only:
        groups.append((Source.success, tuple(r for r in rollouts if not r.failed)))
    return tuple(
        Minibatch(source, group[start : start + size])
        for source, group in groups
        for start in range(0, len(group), size)
    )


async def reflect(optimizer: Chat, brief: Brief, minibatch: Minibatch, prompts: Prompts) -> Patch:
    """At most the brief's ``edit_budget`` edits. A reply that cannot be read is a patch without edits."""
    mode = brief.mode
    # A solved task shows no lapse.
    num_notes = brief.notes if minibatch.source is Source.failure else None
    prompt = prompts.render(
        mode.reflect_template,
        kind=minibatch.source,
        skill=brief.skill.text,
        memory=[remembered(step, mode) for step in brief.memory],
        advice=brief.advice,
        budget=brief.edit_budget,
        lapses=num_notes,
        trajectories=[trajectory(rollout, brief.trajectory_chars) for rollout in minibatch.rollouts],
    )
    answer = await ask_json(optimizer, prompt, stage=Stage.reflect, read=mode.read)
    if answer.value is None:
        return Patch((), minibatch.source, replies=(answer.path,), dropped=(answer.problem,))
    edits = tuple(replace(edit, support_count=1, source_type=minibatch.source) for edit in answer.value.edits)
    most = brief.edit_budget if mode.most is None else mode.most
    notes = () if num_notes is None else answer.value.notes
    return Patch(
        edits=edits[:most],
        source=minibatch.source,
        reasoning=answer.value.reasoning,
        failure_summary=answer.value.failure_summary,
        replies=(answer.path,),
        dropped=answer.value.dropped
        + surplus(edits, most)
        + tuple(f"more than the {num_notes} asked for: note {note!r}" for note in notes[num_notes:]),
        notes=notes[:num_notes],
    )


def surplus(edits: tuple[Edit, ...], most: int | None) -> tuple[str, ...]:
    """What is left out where at most so many may stay, by name; None is no limit."""
    over = edits[len(edits) if most is None else most :]
    return tuple(
        f"more than the {most} asked for: {edit.op} {edit.target or edit.content!r}" for edit in over
    )


def trajectory(rollout: Rollout, limit: int) -> dict[str, Any]:
    """A rollout as the optimizer is shown it. Each text is cut to ``limit`` characters, saying so."""
    item = rollout.item
    shown: dict[str, Any] = {"task": excerpt(item.question, limit)}
    if item.context:
        shown["context"] = excerpt(item.context, limit)
    replies = [message.content for message in rollout.messages if message.role == "assistant"]
    return shown | {
        "reply": excerpt("\n".join(replies), limit),
        "prediction": excerpt(rollout.prediction, limit),
        "gold": list(item.answers),
        "feedback": rollout.score.feedback,
        "hard": rollout.score.hard,
        "soft": round(rollout.score.soft, 4),
    }


def excerpt(text: str, limit: int) -> str:
    """``text``, or ``limit`` characters of it: two thirds from its start, one from its end."""
    if len(text) <= limit:
        return text
    head, tail = text[: limit * 2 // 3], text[len(text) - limit // 3 :]
    return f"{head} [... {len(text) - len(head) - len(tail)} characters left out ...] {tail}"


def remembered(step: Remembered, mode: Mode) -> dict[str, Any]:
    """An earlier step as the optimizer is shown it."""
    notes = [result.edit.content for result in step.rejected_edits if result.edit.op == NOTE]
    edits = [result for result in step.rejected_edits if result.edit.op != NOTE]
    # That it scored too little is what rejected means; any other reason is worth knowing.
    reason = "" if step.by in ("", "score") else f" (by: {step.by})"
    return {
        "step": step.step,
        "outcome": f"{step.outcome}{reason}",
        "failures": list(step.failure_summaries),
        "rejected_edits": [
            mode.remembered(each.edit) | ({} if each.applied else {"why": str(each.rejection)})
            for each in edits
        ],
    } | ({"rejected_notes": notes} if notes else {})
