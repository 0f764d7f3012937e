"""What went wrong in one attempt, told from prediction, gold and task alone."""

import re
from enum import StrEnum

from skillopt_exp.simulation.optimizer.prompt import Attempt


class Flaw(StrEnum):
    """What the optimizer can see of a failure."""

    too_many_words = "too_many_words"
    two_answers = "two_answers"
    extra_remark = "extra_remark"
    wrong_pick = "wrong_pick"
    cut_short = "cut_short"
    asked_back = "asked_back"
    no_unit = "no_unit"
    spelled_option = "spelled_option"
    not_exact = "not_exact"
    stopped_early = "stopped_early"


class AnswerKind(StrEnum):
    """What a task's gold answer is."""

    text = "text"
    letter = "letter"
    number = "number"


FLAWS_OF: dict[AnswerKind, tuple[Flaw, ...]] = {
    AnswerKind.text: (
        Flaw.too_many_words,
        Flaw.extra_remark,
        Flaw.two_answers,
        Flaw.asked_back,
        Flaw.cut_short,
        Flaw.no_unit,
        Flaw.wrong_pick,
    ),
    AnswerKind.letter: (
        Flaw.spelled_option,
        Flaw.two_answers,
        Flaw.extra_remark,
        Flaw.too_many_words,
        Flaw.wrong_pick,
    ),
    AnswerKind.number: (
        Flaw.too_many_words,
        Flaw.not_exact,
        Flaw.stopped_early,
        Flaw.two_answers,
        Flaw.extra_remark,
        Flaw.wrong_pick,
    ),
}

_LETTER = re.compile(r"\(?[A-Z]\)?\.?")
_LETTERS = re.compile(r"\(([A-Z])\)")
_NUMBERS = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_NUMERIC = re.compile(r"\W{0,2}-?\d[\d,]*(?:\.\d+)?\s*%?")
_BETWEEN = re.compile(r"\s(?:or|and|/)\s|\s?/\s?")
_VAGUE = re.compile(r"\b(?:about|around|roughly|approximately|nearly|almost|some)\b", re.IGNORECASE)
_ASKING = re.compile(r"(?:what|who|where|which|when)\b.*\?\s*$", re.IGNORECASE | re.DOTALL)
_SHORT = 6
"""Words up to which two answers are a pair and not a sentence."""


def answer_kind(attempt: Attempt) -> AnswerKind:
    """The kind of the first gold answer."""
    gold = attempt.golds[0].strip() if attempt.golds else ""
    if _LETTER.fullmatch(gold) and gold.strip("().") in _LETTERS.findall(attempt.task):
        return AnswerKind.letter
    return AnswerKind.number if _NUMERIC.fullmatch(gold) else AnswerKind.text


def diagnose(attempt: Attempt) -> Flaw | None:
    """The most telling flaw of a failed attempt, or None when there is nothing to see."""
    if not attempt.prediction.strip() or not attempt.golds:
        return None
    if _ASKING.match(attempt.prediction.strip()):
        return Flaw.asked_back
    match answer_kind(attempt):
        case AnswerKind.letter:
            return _of_letter(attempt.prediction)
        case AnswerKind.number:
            return _of_number(attempt)
        case AnswerKind.text:
            return _of_text(attempt)


def _of_letter(prediction: str) -> Flaw:
    letters = set(_LETTERS.findall(prediction))
    if not letters:
        return Flaw.wrong_pick if _LETTER.fullmatch(prediction.strip()) else Flaw.spelled_option
    return _of_form(prediction) if len(letters) > 1 else Flaw.wrong_pick


def _of_number(attempt: Attempt) -> Flaw:
    numbers = _NUMBERS.findall(attempt.prediction)
    if len(numbers) > 1:
        return _of_form(attempt.prediction)
    if _VAGUE.search(attempt.prediction):
        return Flaw.not_exact
    return Flaw.wrong_pick if set(numbers) & set(_NUMBERS.findall(attempt.task)) else Flaw.stopped_early


def _of_text(attempt: Attempt) -> Flaw:
    said = _words(attempt.prediction)
    for gold in map(_words, attempt.golds):
        if _contains(said, gold):
            return _of_form(attempt.prediction)
        if said and _contains(gold, said):
            return Flaw.no_unit if _NUMERIC.fullmatch(attempt.prediction.strip()) else Flaw.cut_short
    return Flaw.wrong_pick


def _of_form(prediction: str) -> Flaw:
    """What is wrong with a prediction that holds the answer and more."""
    if re.search(r"[(\[][^)\]]{2,}[)\]]", prediction):
        return Flaw.extra_remark
    if _BETWEEN.search(prediction) and len(prediction.split()) <= _SHORT:
        return Flaw.two_answers
    return Flaw.too_many_words


def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))


def _contains(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    width = len(part)
    return width > 0 and any(words[at : at + width] == part for at in range(len(words) - width + 1))
