"""The parts of a skill, and applying edits to them with a report of what became of each. Pure.

An anchor must occur exactly once in the part that may be edited (the body). A missing anchor never
means 'append at the end', an ambiguous one never means 'the first'. Whoever writes a part of the skill,
its text stays clean: Markdown and no JSON, no line twice, the placeholders of the seed and no others.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from skillopt_exp.errors import UsageError
from skillopt_exp.records import Edit, EditResult, Rejection, Skill

OPS = ("append", "insert_after", "replace", "delete")
NOTE = "note"
"""The operation of a note: it is no edit of the body, and an edit of the body is no note."""

_BYTES_PER_TOKEN = 4
# Not in LaTeX, where braces belong to what stands before them.
_PLACEHOLDER = re.compile(r"(?<![\\\w}^{])\{\{?\s*[^\W\d]\w*\s*\}?\}")
_FENCE = re.compile(r"```\w*\s*(.*?)\s*```", re.DOTALL)
_MARK = re.compile(f"({'|'.join(map(re.escape, Skill.MARKS))})")
_PARTS = ((Skill.GUIDANCE_START, Skill.GUIDANCE_END), (Skill.APPENDIX_START, Skill.APPENDIX_END))
_ENDS = tuple(end for _, end in _PARTS)
_ORDERS = ((), *_PARTS, _PARTS[0] + _PARTS[1], _PARTS[1] + _PARTS[0])
"""All ways in which marks may follow each other."""
_LIST_MARK = re.compile(r"^(?:[-*+]|\d+[.)]|#+)\s+")


def num_tokens(text: str) -> int:
    """The length of ``text`` in tokens, as a rule of thumb that needs no model: 4 bytes of UTF-8 each."""
    return math.ceil(len(text.encode("utf-8", "surrogatepass")) / _BYTES_PER_TOKEN)


def parse(text: str, where: str) -> Skill:
    """The parts of a rendered text, the inverse of ``Skill.text``; ``where`` names it in messages.

    A part may stand anywhere; what stands around it is the body.

    Raises:
        UsageError: a mark without its other half, twice, or inside another part: which text belongs to
            which part cannot be told.
    """
    pieces = _MARK.split(text)
    marks = tuple(pieces[1::2])
    if marks not in _ORDERS:
        raise UsageError(
            f"{where}: the marks {', '.join(marks)} do not say which part of the skill begins and ends "
            "where; each part needs its start and then its end, once and not inside another part"
        )
    parts = {mark: piece.strip() for mark, piece in zip(marks, pieces[2::2], strict=True)}
    around = (pieces[0], *(piece for mark, piece in parts.items() if mark in _ENDS))
    return Skill(
        body="\n\n".join(piece.strip() for piece in around if piece.strip()),
        guidance=parts.get(Skill.GUIDANCE_START, ""),
        appendix=parts.get(Skill.APPENDIX_START, ""),
    )


def with_body(skill: Skill, body: str) -> tuple[Skill, Rejection | None]:
    """The skill with another body, or unchanged with the reason."""
    if not body.strip() or _is_json(body):
        return skill, Rejection.bad_content
    if _names_a_part(body):
        return skill, Rejection.protected
    return _changed(skill, replace(skill, body=body.strip()))


def rewritten(skill: Skill, text: str) -> tuple[Skill, Rejection | None]:
    """The skill with the body of ``text``; its other parts may be there as they are, or left out."""
    try:
        new = parse(text, "the rewritten skill")
    except UsageError:
        return skill, Rejection.protected
    if new.guidance not in ("", skill.guidance.strip()) or new.appendix not in ("", skill.appendix.strip()):
        return skill, Rejection.protected
    return with_body(skill, new.body)


def with_guidance(skill: Skill, guidance: str) -> tuple[Skill, Rejection | None]:
    """The skill with another guidance part, or unchanged with the reason."""
    if _is_json(guidance):
        return skill, Rejection.bad_content
    if _names_a_part(guidance):
        return skill, Rejection.protected
    return _changed(skill, replace(skill, guidance=guidance.strip()))


def with_notes(skill: Skill, notes: Iterable[str]) -> tuple[Skill, tuple[EditResult, ...]]:
    """The skill with ``notes`` at the end of its appendix, one a line; each is added or rejected."""
    results = []
    for note in notes:
        skill, rejection = _with_note(skill, " ".join(note.split()))
        results.append(EditResult(Edit(NOTE, content=note), rejection))
    return skill, tuple(results)


def _with_note(skill: Skill, note: str) -> tuple[Skill, Rejection | None]:
    note = _LIST_MARK.sub("", note)
    if not note or _is_json(note):
        return skill, Rejection.bad_content
    if _names_a_part(note):
        return skill, Rejection.protected
    return _changed(skill, replace(skill, appendix=_append(skill.appendix, f"- {note}")))


def with_other_notes(skill: Skill, notes: Iterable[str]) -> tuple[Skill, Rejection | None]:
    """The skill with ``notes`` in place of all that its appendix held, or unchanged with the reason."""
    new, results = with_notes(replace(skill, appendix=""), notes)
    unfit = next((each.rejection for each in results if not each.applied), None)
    if unfit is not None or not results:
        return skill, unfit or Rejection.bad_content
    return _changed(skill, new)


def notes_of(skill: Skill) -> tuple[str, ...]:
    """The lines of the appendix that say something, without their list marks."""
    lines = (_LIST_MARK.sub("", line.strip()) for line in skill.appendix.splitlines())
    return tuple(line for line in lines if line)


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
    if edit.op != "delete" and (not (edit.content and edit.content.strip()) or _is_json(edit.content)):
        return skill, Rejection.bad_content
    if edit.content is not None and _names_a_part(edit.content):
        return skill, Rejection.protected
    if edit.op == "append":
        return _edited(skill, _append(skill.body, edit.content or ""))
    rejection = _anchor_problem(skill, edit.target)
    if rejection is not None:
        return skill, rejection
    return _edited(skill, _at_anchor(skill.body, edit))


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
    return any(mark in content for mark in Skill.MARKS)


def _is_json(text: str) -> bool:
    """Whether the text is a JSON document, fenced or not, and no Markdown."""
    fenced = _FENCE.fullmatch(text.strip())
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict | list)


def _edited(skill: Skill, body: str) -> tuple[Skill, Rejection | None]:
    return _changed(skill, replace(skill, body=body.strip()))


def _changed(before: Skill, after: Skill) -> tuple[Skill, Rejection | None]:
    """``after``, or ``before`` with the reason why it may not become that."""
    if after.text == before.text:
        return before, Rejection.no_change
    if _placeholders(after) != _placeholders(before):
        return before, Rejection.placeholders
    had, has = _lines(before), _lines(after)
    if any(count > max(1, had[line]) for line, count in has.items()):
        return before, Rejection.duplicate
    return after, None


def _placeholders(skill: Skill) -> frozenset[str]:
    return frozenset("".join(found.split()) for found in _PLACEHOLDER.findall(skill.text))


def _lines(skill: Skill) -> Counter[str]:
    """How often each line occurs, list marks, case and spacing aside; lines without a word do not count."""
    plain = (_LIST_MARK.sub("", line.strip()) for line in skill.text.splitlines())
    folded = (" ".join(line.casefold().split()) for line in plain)
    marks = ("```", *map(str.casefold, Skill.MARKS))
    return Counter(line for line in folded if any(map(str.isalnum, line)) and not line.startswith(marks))
