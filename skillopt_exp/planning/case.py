"""What nobody can know before the first call, assumed three times: at least, expected, at most."""

from dataclasses import dataclass

from skillopt_exp.llm.bill import FRAMING_TOKENS
from skillopt_exp.planning.counts import KEPT
from skillopt_exp.planning.prompts import Size
from skillopt_exp.stages.reflect import MOST_NOTES

EDIT_BYTES, USUAL_EDIT_BYTES = 600, 150
"""One text that the optimizer writes; its prompt allows an edit three sentences."""

WRITTEN_TEXTS = 4
"""Guidance and advice are as long as so many edits: their prompts allow them eight sentences."""

UNLIMITED_EDITS, USUAL_EDITS = 20, 4
"""Those of one reply where no number is given to the optimizer."""

USUAL_NOTES = 1
"""Of one reply on failures."""

FEEDBACK_BYTES, USUAL_FEEDBACK_BYTES = 2000, 150
"""What a scorer says of one reply."""

USUAL_FRAMING_TOKENS = 4
"""What a chat template usually puts around one message."""

EXCERPT_NOTE = 60
"""Characters that say how much of a long text is not shown."""


@dataclass(frozen=True, slots=True)
class Guesses:
    """What the user states of the models: share of failed attempts, seconds a call, tokens a reply."""

    failure_rate: float
    seconds_per_call: float
    target_reply_tokens: int
    optimizer_reply_tokens: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Output limits in tokens, None where none is sent; characters that a trajectory shows of one text."""

    target: int | None
    optimizer: int | None
    trajectory_chars: int


@dataclass(frozen=True, slots=True)
class Case:
    """One set of assumptions about texts that are still to be written.

    Replies are in tokens, None where nothing limits them. ``asks`` is how often a question to the
    optimizer is sent until its reply can be read. ``text_bytes`` is one text of the optimizer (the text
    of an edit, an anchor, a summary, a reasoning). ``shown_bytes`` is what a trajectory shows of what a
    model and a scorer wrote. ``unlimited_edits`` are those of one reply where nobody limits them, ``notes``
    the reminders of one reply on failures where they are asked for. ``kept`` is the share of both that
    stays in the skill; None is a skill that loses everything at the first step. ``always_too_long`` is a
    skill that has to be shortened whenever it has changed, where its length is limited; else that follows
    from its length. ``framing`` are tokens that a chat template adds to a message.
    """

    asks: int
    target_reply: float | None
    optimizer_reply: float | None
    text_bytes: int
    shown_bytes: float
    unlimited_edits: int
    notes: int
    kept: float | None
    always_too_long: bool
    bytes_a_token: float
    framing: int

    @property
    def written_bytes(self) -> int:
        """Guidance or advice that the optimizer wrote at the end of an epoch."""
        return WRITTEN_TEXTS * self.text_bytes

    def tokens(self, size: Size) -> float:
        """A prompt of this size in tokens."""
        return size.bytes / self.bytes_a_token + size.messages * self.framing


def cheapest() -> Case:
    """Replies of one token, and text that takes few tokens: long words of one language."""
    return Case(
        asks=1,
        target_reply=1,
        optimizer_reply=1,
        text_bytes=0,
        shown_bytes=0,
        unlimited_edits=0,
        notes=0,
        kept=None,
        always_too_long=False,
        bytes_a_token=8,
        framing=0,
    )


def usual(guesses: Guesses, limits: Limits) -> Case:
    """English text, and replies as long as guessed."""
    bytes_a_token = 4
    target = _limited(guesses.target_reply_tokens, limits.target)
    return Case(
        asks=1,
        target_reply=target,
        optimizer_reply=_limited(guesses.optimizer_reply_tokens, limits.optimizer),
        text_bytes=USUAL_EDIT_BYTES,
        shown_bytes=min(target * bytes_a_token, limits.trajectory_chars) + USUAL_FEEDBACK_BYTES,
        unlimited_edits=USUAL_EDITS,
        notes=USUAL_NOTES,
        kept=KEPT,
        always_too_long=False,
        bytes_a_token=bytes_a_token,
        framing=USUAL_FRAMING_TOKENS,
    )


def dearest(limits: Limits) -> Case:
    """A token a byte of prompt and a character of a model's text; replies at their limits; one
    correction of every reply of the optimizer (``stages`` ask once more what they cannot read)."""
    # A trajectory shows the reply and the answer read from it, each cut to the same length.
    shown = 2 * (limits.trajectory_chars + EXCERPT_NOTE) + FEEDBACK_BYTES
    return Case(
        asks=2,
        target_reply=limits.target,
        optimizer_reply=limits.optimizer,
        text_bytes=EDIT_BYTES,
        shown_bytes=shown,
        unlimited_edits=UNLIMITED_EDITS,
        notes=MOST_NOTES,
        kept=1,
        always_too_long=True,
        bytes_a_token=1,
        framing=FRAMING_TOKENS,
    )


def _limited(reply: int, limit: int | None) -> int:
    return reply if limit is None else min(reply, limit)
