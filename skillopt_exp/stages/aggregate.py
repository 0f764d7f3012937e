"""Stage 3: patches merge by optimizer calls, a group at a time."""

from collections.abc import Sequence
from dataclasses import replace

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Patch, Skill, Source
from skillopt_exp.stages.modes import Mode
from skillopt_exp.stages.reflect import surplus
from skillopt_exp.stages.replies import PatchReply, ask_json


async def aggregate(
    optimizer: Chat,
    skill: Skill,
    source: Source,
    patches: Sequence[Patch],
    *,
    mode: Mode,
    prompts: Prompts,
) -> Patch:
    """One patch of one merge group. A group in which at most one patch has edits needs no call.

    A reply that cannot be read leaves the edits unmerged, in order, or of whole skills the first one;
    ``replies`` and ``dropped`` say so. Notes are collected as they are.
    """
    full = [patch for patch in patches if patch.edits]
    together = Patch(
        edits=tuple(edit for patch in full for edit in patch.edits),
        source=source,
        reasoning=full[0].reasoning if len(full) == 1 else "",
        failure_summary=" ".join(patch.failure_summary for patch in patches if patch.failure_summary),
        replies=tuple(path for patch in patches for path in patch.replies),
        dropped=tuple(reason for patch in patches for reason in patch.dropped),
        notes=tuple(note for patch in patches for note in patch.notes),
    )
    if len(full) <= 1:
        return together
    prompt = prompts.render(
        mode.merge_template,
        kind=source,
        skill=skill.text,
        patches=[
            {"reasoning": patch.reasoning, mode.name: [mode.shown(edit) for edit in patch.edits]}
            for patch in full
        ],
    )
    answer = await ask_json(optimizer, prompt, stage=Stage.aggregate, read=mode.read)
    merged = answer.value
    if merged is None:
        merged = PatchReply(together.edits, "", "", dropped=(f"merge reply: {answer.problem}",))
    return replace(
        together,
        edits=merged.edits[: mode.most],
        reasoning=merged.reasoning,
        replies=(*together.replies, answer.path),
        dropped=together.dropped + merged.dropped + surplus(merged.edits, mode.most),
    )
