"""Applying edits to a skill, with a report of what became of each. Pure.

An anchor must occur exactly once in the part that may be edited (the body). A missing anchor never
means 'append at the end', an ambiguous one never means 'the first'.
"""

from collections.abc import Iterable
from dataclasses import replace

from skillopt_exp.records import Edit, EditResult, Rejection, Skill

OPS = ("append", "insert_after", "replace", "delete")


def apply_edits(skill: Skill, edits: Iterable[Edit]) -> tuple[Skill, tuple[EditResult, ...]]:
    """The skill after ``edits`` in order; each edit is applied or rejected for one reason."""
    results = []
    for edit in edits:
        skill, rejection = apply_edit(skill, edit)
        results.append(EditResult(edit, rejection))
    return skill, tuple(results)


def apply_edit(skill: Skill, edit: Edit) -> tuple[Skill, Rejection | None]:
    """The skill after ``edit``, unchanged where the edit is rejected."""
    if edit.op not in OPS:
        return skill, Rejection.unknown_op
    if edit.op != "delete" and not (edit.content and edit.content.strip()):
        return skill, Rejection.bad_content
    if edit.content is not None and _names_a_part(edit.content):
        return skill, Rejection.protected
    if edit.op == "append":
        return _changed(skill, _append(skill.body, edit.content or ""))
    rejection = _anchor_problem(skill, edit.target)
    if rejection is not None:
        return skill, rejection
    return _changed(skill, _at_anchor(skill.body, edit))


def _anchor_problem(skill: Skill, anchor: str | None) -> Rejection | None:
    if anchor is None or not anchor.strip():
        return Rejection.empty_anchor
    # The optimizer is shown the rendered skill, so it may name text outside the body; that text is protected.
    count = _count(skill.body, anchor)
    if count == 1:
        return None
    if count > 1:
        return Rejection.anchor_ambiguous
    return Rejection.protected if anchor.strip() in skill.text else Rejection.anchor_missing


def _count(body: str, anchor: str) -> int:
    """How often ``anchor`` occurs, overlaps included."""
    count, start = 0, body.find(anchor)
    while start != -1:
        count, start = count + 1, body.find(anchor, start + 1)
    return count


def _at_anchor(body: str, edit: Edit) -> str:
    anchor = edit.target or ""
    start = body.index(anchor)
    end = start + len(anchor)
    if edit.op == "replace":
        return body[:start] + (edit.content or "") + body[end:]
    if edit.op == "insert_after":
        # New text starts on a line of its own, after the line that the anchor ends in.
        line_end = body.find("\n", end - 1)
        line_end = len(body) if line_end == -1 else line_end
        return body[:line_end] + "\n" + (edit.content or "").strip("\n") + body[line_end:]
    # delete: a line that becomes blank goes with its line break.
    line_start = body.rfind("\n", 0, start) + 1
    line_end = body.find("\n", end)
    line_end = len(body) if line_end == -1 else line_end
    if not (body[line_start:start] + body[end:line_end]).strip():
        return body[:line_start] + body[line_end + 1 :]
    return body[:start] + body[end:]


def _append(body: str, content: str) -> str:
    body, content = body.rstrip(), content.strip("\n")
    if not body:
        return content
    # Items of one list stand on neighbouring lines; anything else is a paragraph of its own.
    one_list = _is_list_item(body.rsplit("\n", 1)[-1]) and _is_list_item(content)
    return f"{body}\n{content}" if one_list else f"{body}\n\n{content}"


def _is_list_item(text: str) -> bool:
    return text.lstrip().startswith(("- ", "* ", "+ "))


def _names_a_part(content: str) -> bool:
    return Skill.GUIDANCE_START in content or Skill.GUIDANCE_END in content


def _changed(skill: Skill, body: str) -> tuple[Skill, Rejection | None]:
    edited = replace(skill, body=body.strip())
    return (skill, Rejection.no_change) if edited.text == skill.text else (edited, None)
