"""Reading the optimizer's JSON replies into records.

A reply that cannot be read is asked for once more with the reason; after that it is a failure that
the caller counts and goes on without. Both forms that SkillOpt's users know are read: the keys at
the top level, or under ``patch``; a bare list is a list of edits.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from skillopt_exp.errors import ReplyFault
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.llm.json_reply import Unparsable, parse
from skillopt_exp.records import Edit, Message, ParsePath, Skill, Source

T = TypeVar("T")

_NOTES = "appendix_notes"
_MARKDOWN_FENCE = re.compile(r"```(?:markdown|md)?\n((?:(?!```).)*)\n```", re.DOTALL)
_CORRECTION = (
    "That reply could not be read ({problem}). Answer again with one complete JSON object and nothing else."
)


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What was read, and how. ``value`` is None when nothing could be (``problem`` says why)."""

    value: T | None
    path: ParsePath
    problem: str = ""


async def ask_json(chat: Chat, prompt: str, *, stage: Stage, read: Callable[[Any], T]) -> Answer[T]:
    """The optimizer's reply to ``prompt`` as ``read`` makes it of the parsed JSON.

    ``read`` raises Unparsable for JSON that is not what was asked for.
    """
    messages = [Message("user", prompt)]
    problem = ""
    for _ in range(2):
        try:
            reply = await chat.ask(messages, stage=stage, json=True)
        except ReplyFault as fault:
            return Answer(None, ParsePath.failed, f"{fault.kind}: {fault}")
        try:
            parsed = parse(reply.content)
            return Answer(read(parsed.value), parsed.path)
        except Unparsable as error:
            problem = str(error)
            messages += [reply, Message("user", _CORRECTION.format(problem=problem))]
    return Answer(None, ParsePath.failed, problem)


@dataclass(frozen=True, slots=True)
class PatchReply:
    """A patch as the wire holds it, before it is known what it came from."""

    edits: tuple[Edit, ...]
    reasoning: str
    failure_summary: str
    dropped: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_edits(value: Any) -> PatchReply:
    """``edits`` with their reasoning. An entry that is no edit at all is dropped by name; an edit
    with bad parts stays, for the update stage to reject with its reason."""
    return _proposed(value, "edits", _edit)


def read_suggestions(value: Any) -> PatchReply:
    """``revise_suggestions``, likewise."""
    return _proposed(value, "revise_suggestions", _suggestion)


def read_skills(value: Any) -> PatchReply:
    """``skill_candidates``, likewise; a ``new_skill`` outside of a list is the only one."""
    fields = _fields(value)
    if "skill_candidates" not in fields and isinstance(fields.get("new_skill"), str):
        value = {**fields, "skill_candidates": [fields]}
    return _proposed(value, "skill_candidates", _whole_skill)


def _proposed(value: Any, name: str, read: Callable[[Mapping[str, Any]], Edit]) -> PatchReply:
    fields = _fields(value)
    # Who has nothing but notes may leave the list out.
    entries = value if isinstance(value, list) else fields.get(name, [] if _NOTES in fields else None)
    if not isinstance(entries, list):
        raise Unparsable(f'there is no list "{name}" in the reply')
    dropped = tuple(
        f"entry {i} of {name} is {type(entry).__name__}, not an object"
        for i, entry in enumerate(entries)
        if not isinstance(entry, Mapping)
    )
    return PatchReply(
        tuple(read(entry) for entry in entries if isinstance(entry, Mapping)),
        _text(fields.get("reasoning")),
        _summary(fields.get("failure_summary")),
        dropped,
        _notes(fields),
    )


def read_notes(value: Any) -> tuple[str, ...]:
    """``appendix_notes``: texts, or objects with a ``note`` or a ``content`` each."""
    fields = {_NOTES: value} if isinstance(value, list) else _fields(value)
    if not isinstance(fields.get(_NOTES), list):
        raise Unparsable(f'there is no list "{_NOTES}" in the reply')
    return _notes(fields)


def _notes(fields: Mapping[str, Any]) -> tuple[str, ...]:
    entries = fields.get(_NOTES)
    entries = entries if isinstance(entries, list) else [entries]
    texts = [
        entry.get("note", entry.get("content")) if isinstance(entry, Mapping) else entry for entry in entries
    ]
    return tuple(text for text in texts if isinstance(text, str) and text.strip())


def read_indices(value: Any) -> tuple[int, ...]:
    """``selected_indices`` in order, each once; what is no whole number is left out."""
    entries = value if isinstance(value, list) else _fields(value).get("selected_indices")
    if not isinstance(entries, list):
        raise Unparsable('there is no list "selected_indices" in the reply')
    numbers = [entry for entry in entries if isinstance(entry, int) and not isinstance(entry, bool)]
    return tuple(dict.fromkeys(numbers))


@dataclass(frozen=True, slots=True)
class RateReply:
    """How many edits the optimizer wants (0 or more), and why."""

    edits: int
    reason: str


def read_rate(value: Any) -> RateReply:
    """``learning_rate``, a whole number."""
    fields = _fields(value)
    number = fields.get("learning_rate")
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if not isinstance(number, int) or isinstance(number, bool) or number < 0:
        raise Unparsable('"learning_rate" must be a whole number, 0 or more')
    return RateReply(number, _text(fields.get("reasoning")))


@dataclass(frozen=True, slots=True)
class WrittenReply:
    """A text that the optimizer wrote, and why."""

    text: str
    reasoning: str
    failure_summary: str = ""


def read_guidance(value: Any) -> WrittenReply:
    """``slow_update_content``, without the marks of the part where the optimizer wrote them, too."""
    written = _written(value, "slow_update_content")
    text = written.text.replace(Skill.GUIDANCE_START, "").replace(Skill.GUIDANCE_END, "").strip()
    return replace(written, text=text)


def read_meta_skill(value: Any) -> WrittenReply:
    """``meta_skill_content``."""
    return _written(value, "meta_skill_content")


def read_skill(value: Any) -> WrittenReply:
    """``new_skill``, or that of the first of ``skill_candidates``."""
    candidates = _fields(value).get("skill_candidates")
    if isinstance(candidates, list) and candidates and isinstance(candidates[0], Mapping):
        value = candidates[0]
    written = _written(value, "new_skill")
    return replace(written, text=_unfenced(written.text))


def _written(value: Any, name: str) -> WrittenReply:
    fields = _fields(value)
    text = fields.get(name)
    if not isinstance(text, str):
        raise Unparsable(f'there is no text "{name}" in the reply')
    return WrittenReply(text.strip(), _text(fields.get("reasoning")), _text(fields.get("failure_summary")))


def edit_fields(edit: Edit) -> dict[str, Any]:
    """An edit under the names of the wire."""
    return {"op": edit.op, "target": edit.target, "content": edit.content} | _origin(edit)


def suggestion_fields(suggestion: Edit) -> dict[str, Any]:
    """A suggestion under the names of the wire."""
    return {
        "type": suggestion.op,
        "title": suggestion.target,
        "instruction": suggestion.content,
    } | _origin(suggestion)


def skill_fields(skill: Edit) -> dict[str, Any]:
    """A whole skill under the names of the wire."""
    return {"title": skill.target, "new_skill": skill.content} | _origin(skill)


def title_fields(skill: Edit) -> dict[str, Any]:
    """A whole skill by what it changed alone: its text would fill the prompts of later steps."""
    return {"title": skill.target} | _origin(skill)


def _origin(edit: Edit) -> dict[str, Any]:
    return {"support_count": edit.support_count, "source_type": edit.source_type}


def _fields(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        return {}
    nested = value.get("patch")
    return {**value, **nested} if isinstance(nested, Mapping) else value


def _edit(entry: Mapping[str, Any]) -> Edit:
    return _proposal(entry, _text(entry.get("op")), entry.get("target"), entry.get("content"))


def _suggestion(entry: Mapping[str, Any]) -> Edit:
    return _proposal(entry, _text(entry.get("type")), entry.get("title"), entry.get("instruction"))


def _whole_skill(entry: Mapping[str, Any]) -> Edit:
    changes = entry.get("change_summary")
    said = [entry.get("title"), *(changes if isinstance(changes, list) else [changes])]
    text = entry.get("new_skill")
    return _proposal(
        entry,
        "rewrite",
        "; ".join(part for part in said if isinstance(part, str) and part) or None,
        _unfenced(text.strip()) if isinstance(text, str) else None,
    )


def _proposal(entry: Mapping[str, Any], op: str, target: Any, content: Any) -> Edit:
    support = entry.get("support_count")
    return Edit(
        op=op,
        target=target if isinstance(target, str) else None,
        content=content if isinstance(content, str) else None,
        support_count=support if isinstance(support, int) and support >= 1 else 1,
        source_type=Source.success if entry.get("source_type") == "success" else Source.failure,
    )


def _summary(value: Any) -> str:
    """One text, or a list of texts, or of objects with a ``description`` each."""
    entries = value if isinstance(value, list) else [value]
    said = [entry.get("description") if isinstance(entry, Mapping) else entry for entry in entries]
    return " ".join(text for text in said if isinstance(text, str) and text)


def _unfenced(text: str) -> str:
    """Markdown without the fence around all of it that some models write."""
    fenced = _MARKDOWN_FENCE.fullmatch(text)
    return text if fenced is None else fenced[1].strip()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
