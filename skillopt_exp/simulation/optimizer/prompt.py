"""Reads the optimizer's prompts: their tagged blocks are the wire format."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

_BUDGET = re.compile(r"\b(?:At most|Only) (\d+)\b")
_NUMBER = re.compile(r"\s*\[(\d+)\]\s*(?=\{)")
_PART = re.compile("<!-- (?:SLOW_UPDATE|APPENDIX)_START -->")
_LIMIT = re.compile(r"\bof the (\d+) that it may have\b")
_NOTES = "appendix_notes"
_NOTES_LIMIT = re.compile(r"^- At most (\d+) notes\.$", re.MULTILINE)
_WORDING = re.compile(r"(?:rule|say): (.+)$", re.DOTALL)
"""The rule at the end of an instruction."""
_DEFAULT_BUDGET = 4


class Form(StrEnum):
    """What a reply proposes, by the name of its list."""

    edits = "edits"
    suggestions = "revise_suggestions"
    skills = "skill_candidates"


_NAMES = {
    Form.edits: ("op", "target", "content"),
    Form.suggestions: ("type", "title", "instruction"),
    Form.skills: ("op", "title", "new_skill"),
}
"""Of the three texts of a proposal, in each form."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One trajectory as the prompt shows it."""

    task: str
    prediction: str
    golds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """One edit as a prompt shows it, or as a reply proposes it; a suggestion by its type, title and
    instruction, a whole skill by its title and text."""

    op: str
    target: str | None
    content: str | None
    support: int = 1
    source: str = "failure"


@dataclass(frozen=True, slots=True)
class ReflectPrompt:
    """Attempts of one kind under a skill."""

    kind: str
    skill: str
    remembered: frozenset[str]
    """Contents of edits that did not help."""
    num_earlier_steps: int
    attempts: tuple[Attempt, ...]
    budget: int
    advice: str = ""
    """What the optimizer once advised itself."""
    form: Form = Form.edits
    notes: bool = False
    """Whether lapses of the model are asked for as notes."""


@dataclass(frozen=True, slots=True)
class ProposePrompt:
    """Attempts of both kinds under a skill that is to be written anew; ``failed`` are those to learn from."""

    skill: str
    failed: tuple[Attempt, ...]
    num_attempts: int


@dataclass(frozen=True, slots=True)
class MergePrompt:
    """Proposals of several patches, in order."""

    edits: tuple[Proposal, ...]
    form: Form
    skill: str


@dataclass(frozen=True, slots=True)
class RankPrompt:
    """A pool of edits with their indices, and how many may stay."""

    edits: tuple[tuple[int, Proposal], ...]
    budget: int


@dataclass(frozen=True, slots=True)
class RatePrompt:
    """A pool of edits, of which so many are to be applied as the reply says."""

    skill: str
    edits: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class RewritePrompt:
    """A skill to be written anew as suggestions ask for."""

    skill: str
    suggestions: tuple[Proposal, ...]


@dataclass(frozen=True, slots=True)
class LookBackPrompt:
    """The end of an epoch: tasks that still fail, or fail again, and what to write about them.

    ``kind`` is slow_update or meta_skill.
    """

    kind: str
    skill: str
    guidance: str
    failing: tuple[Attempt, ...]
    num_pairs: int


@dataclass(frozen=True, slots=True)
class NotesPrompt:
    """Notes of an appendix, of which ``most`` may stay."""

    notes: tuple[str, ...]
    most: int


@dataclass(frozen=True, slots=True)
class CompactPrompt:
    """A skill that must become shorter than ``max_tokens``."""

    skill: str
    max_tokens: int


Prompt = (
    ReflectPrompt
    | ProposePrompt
    | MergePrompt
    | RankPrompt
    | RatePrompt
    | RewritePrompt
    | LookBackPrompt
    | CompactPrompt
    | NotesPrompt
)


def parse(text: str) -> Prompt | None:
    """The prompt in ``text``, or None when it is something else."""
    blocks = (_block(text, tag) for tag in ("trajectories", "patches", "pairs", "edits", "suggestions"))
    trajectories, patches, pairs, edits, suggestions = blocks
    if trajectories is not None:
        kind, inside = trajectories
        if kind == "mixed":
            return _propose(text, _dicts(_json(inside)))
        memory = _json(_inside(text, "memory"))
        return ReflectPrompt(
            kind=kind,
            skill=_inside(text, "skill"),
            remembered=frozenset(_contents(memory)),
            num_earlier_steps=len(memory) if isinstance(memory, list) else 0,
            attempts=tuple(_attempt(value) for value in _dicts(_json(inside))),
            budget=_budget(text),
            advice=_inside(text, "advice"),
            form=_form(text, "trajectories"),
            notes=f'"{_NOTES}"' in _asked(text, "trajectories"),
        )
    if patches is not None:
        form = _form(text, "patches")
        found = [edit for patch in _dicts(_json(patches[1])) for edit in _listed(patch, form)]
        return MergePrompt(tuple(_proposal(edit, form) for edit in found), form, _inside(text, "skill"))
    if pairs is not None:
        return _look_back(text, *pairs)
    if edits is not None and edits[0] == "rate":
        return RatePrompt(_inside(text, "skill"), tuple(edit for _, edit in _numbered(edits[1])))
    if edits is not None:
        return RankPrompt(tuple(_numbered(edits[1])), _budget(text))
    if suggestions is not None:
        found = _dicts(_json(suggestions[1]))
        asked = tuple(_proposal(entry, Form.suggestions) for entry in found)
        return RewritePrompt(_inside(text, "skill"), asked)
    notes, most = _block(text, "notes"), _NOTES_LIMIT.search(text)
    if notes is not None and most is not None:
        listed = _json(notes[1])
        texts = [note for note in listed if isinstance(note, str)] if isinstance(listed, list) else []
        return NotesPrompt(tuple(texts), int(most[1]))
    limit = _LIMIT.search(text)
    if limit and _block(text, "long_skill") is not None:
        return CompactPrompt(_inside(text, "long_skill"), int(limit[1]))
    return None


def body_of(skill: str) -> str:
    """A skill without the parts between comment marks, which stand at its end."""
    return _PART.split(skill, maxsplit=1)[0].strip()


def written(proposal: Proposal, form: Form, *, with_support: bool) -> dict[str, Any]:
    """A proposal under the names of its form."""
    values = zip(_NAMES[form], (proposal.op, proposal.target, proposal.content), strict=True)
    fields: dict[str, Any] = {name: value for name, value in values if value is not None}
    if with_support:
        fields |= {"support_count": proposal.support, "source_type": proposal.source}
    return fields


def editable_lines(skill: str) -> tuple[str, ...]:
    """Lines that can be anchors: they occur once, in the body."""
    return tuple(line for line in body_of(skill).splitlines() if line.strip() and skill.count(line) == 1)


def _block(text: str, tag: str) -> tuple[str, str] | None:
    """Kind and inside of the block ``tag``: data may quote tags, so the outermost pair counts.

    The opening tag stands at the start of a line, the closing one at the end of a line.
    """
    opening = re.search(rf'^<{tag}(?: kind="(\w+)")?>', text, re.MULTILINE)
    closings = [match.start() for match in re.finditer(rf"</{tag}>$", text, re.MULTILINE)]
    if opening is None or not closings or closings[-1] < opening.end():
        return None
    return opening[1] or "", text[opening.end() : closings[-1]].strip("\n")


def _form(text: str, tag: str) -> Form:
    """What is asked for behind the last data: the instructions name the list there."""
    asked = _asked(text, tag)
    return next((form for form in Form if f'"{form}"' in asked), Form.edits)


def _asked(text: str, tag: str) -> str:
    return text.rpartition(f"</{tag}>")[2]


def _inside(text: str, tag: str) -> str:
    block = _block(text, tag)
    return "" if block is None else block[1]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _numbered(text: str) -> Iterator[tuple[int, Proposal]]:
    """The edits of ``[0] {...} [1] {...}``, on lines of their own or not, up to what cannot be read."""
    position = 0
    while number := _NUMBER.match(text, position):
        try:
            value, position = json.JSONDecoder().raw_decode(text, number.end())
        except ValueError:
            return
        yield int(number[1]), _proposal(value, Form.suggestions if "instruction" in value else Form.edits)


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _budget(text: str) -> int:
    # The instructions stand before the data; numbers in the data are no budget.
    match = _BUDGET.search(text.partition("\n<skill>")[0])
    return int(match[1]) if match else _DEFAULT_BUDGET


def _propose(text: str, attempts: list[dict[str, Any]]) -> ProposePrompt:
    failed = tuple(_attempt(value) for value in attempts if value.get("hard") != 1)
    return ProposePrompt(_inside(text, "skill"), failed, len(attempts))


def _look_back(text: str, kind: str, inside: str) -> LookBackPrompt:
    pairs = _dicts(_json(inside))
    failing = [
        _attempt({**pair, **pair["after"]})
        for pair in pairs
        if pair.get("change") in ("regressed", "still_failing") and isinstance(pair.get("after"), dict)
    ]
    return LookBackPrompt(
        kind=kind,
        skill=_inside(text, "skill"),
        guidance=_inside(text, "guidance"),
        failing=tuple(failing),
        num_pairs=len(pairs),
    )


def _contents(value: Any) -> Iterator[str]:
    """Every proposed text at any depth, whatever the shape of the memory."""
    if isinstance(value, dict):
        yield from (text for form in Form if isinstance(text := value.get(_NAMES[form][2]), str))
        asked = _WORDING.search(_str(value.get("instruction")))
        if asked is not None:
            yield asked[1]
        notes = value.get("rejected_notes")
        yield from (note for note in notes if isinstance(note, str)) if isinstance(notes, list) else ()
    nested = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for entry in nested:
        yield from _contents(entry)


def _listed(patch: dict[str, Any], form: Form) -> list[dict[str, Any]]:
    inner = patch.get("patch")
    return _dicts(patch.get(form)) or (_dicts(inner.get(form)) if isinstance(inner, dict) else [])


def _attempt(value: dict[str, Any]) -> Attempt:
    gold = value.get("gold")
    golds = gold if isinstance(gold, list) else [gold]
    return Attempt(
        task=_str(value.get("task")),
        prediction=_str(value.get("prediction")),
        golds=tuple(_str(answer) for answer in golds if answer is not None),
    )


def _proposal(value: dict[str, Any], form: Form) -> Proposal:
    op, target, content = (value.get(name) for name in _NAMES[form])
    support = value.get("support_count")
    return Proposal(
        op=_str(op),
        target=target if isinstance(target, str) else None,
        content=content if isinstance(content, str) else None,
        support=support if isinstance(support, int) else 1,
        source=_str(value.get("source_type")) or "failure",
    )


def _str(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else str(value)
