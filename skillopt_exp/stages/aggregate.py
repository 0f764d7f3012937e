"""Stage 3: patches merge by optimizer calls, a group at a time."""

from collections.abc import Sequence
from dataclasses import replace

from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Patch, Skill, Source
from skillopt_exp.stages.replies import ask_json, edit_fields, read_patch


async def aggregate(
    optimizer: Chat, skill: Skill, source: Source, patches: Sequence[Patch], prompts: Prompts
) -> Patch:
    """One patch of one merge group. A group in which at most one patch has edits needs no call.

    A reply that cannot be read leaves the edits unmerged, in order; ``replies`` and ``dropped`` say so.
    """
    full = [patch for patch in patches if patch.edits]
    together = Patch(
        edits=tuple(edit for patch in full for edit in patch.edits),
        source=source,
        reasoning=full[0].reasoning if len(full) == 1 else "",
        failure_summary=" ".join(patch.failure_summary for patch in patches if patch.failure_summary),
        replies=tuple(path for patch in patches for path in patch.replies),
        dropped=tuple(reason for patch in patches for reason in patch.dropped),
    )
    if len(full) <= 1:
        return together
    prompt = prompts.render(
        "merge",
        kind=source,
        skill=skill.text,
        patches=[
            {"reasoning": patch.reasoning, "edits": [edit_fields(edit) for edit in patch.edits]}
            for patch in full
        ],
    )
    answer = await ask_json(optimizer, prompt, stage=Stage.aggregate, read=read_patch)
    together = replace(together, replies=(*together.replies, answer.path))
    if answer.value is None:
        return replace(together, dropped=(*together.dropped, f"merge reply: {answer.problem}"))
    return replace(
        together,
        edits=answer.value.edits,
        reasoning=answer.value.reasoning,
        dropped=together.dropped + answer.value.dropped,
    )
