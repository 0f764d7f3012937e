"""The skill, and the edits that are proposed for it."""

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar


class ParsePath(StrEnum):
    """How an optimizer reply was read: as it stood, after repair, or not at all."""

    strict = "strict"
    repaired = "repaired"
    failed = "failed"


class Source(StrEnum):
    """What a patch was read from: failed attempts, solved ones, or both after merging."""

    failure = "failure"
    success = "success"
    mixed = "mixed"


class Rejection(StrEnum):
    """Why one edit was not applied; ``unreadable`` is that of what a rewrite should have applied."""

    anchor_missing = "anchor_missing"
    anchor_ambiguous = "anchor_ambiguous"
    empty_anchor = "empty_anchor"
    unknown_op = "unknown_op"
    bad_content = "bad_content"
    protected = "protected"
    duplicate = "duplicate"
    placeholders = "placeholders"
    no_change = "no_change"
    unreadable = "unreadable"


class UpdateMode(StrEnum):
    """What the optimizer proposes, and how the candidate is made of it."""

    patch = "patch"
    rewrite_from_suggestions = "rewrite_from_suggestions"
    full_rewrite_minibatch = "full_rewrite_minibatch"

    @property
    def budgeted(self) -> bool:
        """Whether a step may apply so many proposals and no more: a whole skill is one."""
        return self is not UpdateMode.full_rewrite_minibatch


class RateControl(StrEnum):
    """Who says how many edits a step may apply: the schedule, the optimizer, or nobody."""

    fixed = "fixed"
    autonomous = "autonomous"
    none = "none"


@dataclass(frozen=True, slots=True)
class Edit:
    """One proposed change, as the optimizer wrote it: not yet known to be applicable.

    ``target`` is the anchor (unused by ``append``), ``content`` the new text (unused by ``delete``).
    Of a suggestion ``op`` is its type, ``target`` its title and ``content`` its instruction; of a whole
    skill ``target`` says what was changed and ``content`` is the text. ``support_count`` says how many
    patches asked for it, ``source_type`` whether they came from failures or successes.
    """

    op: str
    target: str | None = None
    content: str | None = None
    support_count: int = 1
    source_type: Source = Source.failure


@dataclass(frozen=True, slots=True)
class Patch:
    """Proposed edits with their reasoning: of one reflect reply, or merged of several.

    ``replies`` says how each optimizer reply that went into it was read, ``dropped`` what of them
    was left out and why. ``notes`` are reminders for the appendix: the model lapsed, and the skill need
    not change.
    """

    edits: tuple[Edit, ...]
    source: Source = Source.mixed
    reasoning: str = ""
    failure_summary: str = ""
    replies: tuple[ParsePath, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Skill:
    """The text being trained, in three parts; an empty part renders to nothing."""

    body: str = ""
    guidance: str = ""
    appendix: str = ""

    GUIDANCE_START: ClassVar[str] = "<!-- SLOW_UPDATE_START -->"
    GUIDANCE_END: ClassVar[str] = "<!-- SLOW_UPDATE_END -->"
    APPENDIX_START: ClassVar[str] = "<!-- APPENDIX_START -->"
    APPENDIX_END: ClassVar[str] = "<!-- APPENDIX_END -->"
    MARKS: ClassVar[tuple[str, ...]] = (GUIDANCE_START, GUIDANCE_END, APPENDIX_START, APPENDIX_END)

    @property
    def text(self) -> str:
        """What stands in front of every target call."""
        guidance = _marked(self.GUIDANCE_START, self.guidance, self.GUIDANCE_END)
        appendix = _marked(self.APPENDIX_START, self.appendix, self.APPENDIX_END)
        return "\n\n".join(part for part in (self.body.strip(), guidance, appendix) if part)

    @property
    def digest(self) -> str:
        """SHA-256 of the rendered text, 64 hex digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def _marked(start: str, part: str, end: str) -> str:
    return f"{start}\n{part.strip()}\n{end}" if part.strip() else ""


@dataclass(frozen=True, slots=True)
class EditResult:
    """What became of one edit: applied (``rejection`` is None) or rejected for one reason."""

    edit: Edit
    rejection: Rejection | None = None

    @property
    def applied(self) -> bool:
        return self.rejection is None


@dataclass(frozen=True, slots=True)
class EditLimit:
    """How many edits a step may apply (None: no limit), in the optimizer's words where it decided."""

    edits: int | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Compaction:
    """A candidate or an appendix that was too long, sent back once. Sizes are in tokens, see
    ``skill.num_tokens``.

    ``after`` is None where the reply could not be used; ``problem`` says why.
    """

    before: int
    after: int | None
    reply: ParsePath
    problem: str = ""
