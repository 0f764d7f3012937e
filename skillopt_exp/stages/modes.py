"""In what the update modes differ: templates, names in replies, and how the candidate is made. Data."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skillopt_exp.llm.base import Chat
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Edit, Skill, UpdateMode
from skillopt_exp.stages.replies import (
    PatchReply,
    edit_fields,
    read_edits,
    read_skills,
    read_suggestions,
    skill_fields,
    suggestion_fields,
    title_fields,
)
from skillopt_exp.stages.rewrite import Applied, by_edits, by_one_rewrite, by_whole_skills

Fields = Callable[[Edit], dict[str, Any]]
"""A proposal as prompts show it, under the names of the wire."""

Apply = Callable[[Chat, Skill, Sequence[Edit], Prompts], Coroutine[Any, Any, Applied]]
"""The candidate that proposals make of a skill."""


@dataclass(frozen=True, slots=True)
class Mode:
    """One update mode. ``name`` is that of the list of proposals on the wire.

    ``reflect_template`` and ``merge_template`` ask for replies that ``read`` reads. ``shown`` are the
    fields of a proposal where it is merged, counted or ranked, ``remembered`` those in the step buffer.
    ``most`` is the number of proposals that one reply may hold whatever the edit budget says, or None.
    ``rewrites`` says that ``apply`` asks once, where there is anything to apply.
    """

    name: str
    reflect_template: str
    merge_template: str
    read: Callable[[Any], PatchReply]
    shown: Fields
    remembered: Fields
    apply: Apply
    most: int | None = None
    rewrites: bool = False


PATCH = Mode("edits", "reflect", "merge", read_edits, edit_fields, edit_fields, by_edits)

MODES: Mapping[UpdateMode, Mode] = {
    UpdateMode.patch: PATCH,
    UpdateMode.rewrite_from_suggestions: Mode(
        "revise_suggestions",
        "reflect_suggestions",
        "merge_suggestions",
        read_suggestions,
        suggestion_fields,
        suggestion_fields,
        by_one_rewrite,
        rewrites=True,
    ),
    UpdateMode.full_rewrite_minibatch: Mode(
        "skill_candidates",
        "reflect_skill",
        "merge_skills",
        read_skills,
        skill_fields,
        title_fields,
        by_whole_skills,
        most=1,
    ),
}
