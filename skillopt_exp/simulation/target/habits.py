"""The bad habits that the simulated target can have."""

from enum import StrEnum


class Habit(StrEnum):
    """One systematic way to spoil an answer that the model knows."""

    wordy = "wordy"
    """A whole sentence where a bare name, phrase, number or letter is wanted."""
    hedging = "hedging"
    """Two candidates instead of one."""
    aside = "aside"
    """The answer with a remark in parentheses behind it."""
    distractor = "distractor"
    """Something that merely occurs in the passages, the options or the question."""
    partial = "partial"
    """Only the last word of a name or title."""
    question_form = "question_form"
    """The answer phrased as a question, as in the TV quiz."""
    unit = "unit"
    """A number without the unit that belongs to it."""
    option_text = "option_text"
    """The text of the chosen option instead of its letter."""
    rounding = "rounding"
    """A rounded number."""
    unfinished = "unfinished"
    """An intermediate result of a calculation."""
