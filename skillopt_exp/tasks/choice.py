"""Reading a lettered option out of an answer.

An answer names an option by its letter; the option's own words do not count, because nothing here
knows them. Whoever names two options has not chosen.
"""

import re
from collections.abc import Iterator

from skillopt_exp.tasks.normalise import fold, unify

_GOLD = re.compile(r"\s*[(\[]?([A-Za-z])[)\]]?[.:]?\s*")

_MARKDOWN = re.compile(r"[*`$\"“”]|(?<!\w)_|_(?!\w)")
_LATEX = re.compile(r"\\(?:boxed|text|textbf|mathrm)\{([^{}]*)\}")

_MARK = r"[(\[{]?\s?([A-Za-z])\s?[)\]}]?"
_NOTHING_ELSE = re.compile(
    rf"(?:option |choice )?{_MARK}(?:\s*(?:,|/|&|\band\b|\bor\b)\s*{_MARK})*\s*[.:!)]*", re.I
)
_ANY_MARK = re.compile(r"(?<![A-Za-z])[A-Za-z](?![A-Za-z])")

_NOT = r"(?P<negated>\bnot\s+(?:option\s+|choice\s+)?)?"
# "A" and "I" are words, and so is a small "a": they are options only where no word follows.
_NO_WORD_AFTER = r"(?=\s*(?:$|[.,;:!)\]\n—-]|because\b|since\b|as\b))"
_BARE = rf"(?:[B-HJ-Z](?![\w'’])|[A-Za-z](?![\w'’]){_NO_WORD_AFTER})"
_CUE = (
    r"\b(?i:answer|option|choice|letter|(?:correct|right|best) one|choose|pick|select)\b"
    r"(?:\s+(?i:is|would be|must be|should be))?"
)

_BRACKETED = rf"{_NOT}(?<!\w)[(\[]\s?(?P<option>[A-Za-z])\s?[)\]]"
_IN_FRONT = r"^(?P<option>[A-Za-z])(?:[.):]\s|\s[—-]+\s)"
_AFTER_OPTION = rf"{_NOT}\b(?i:option|choice|letter)\s+(?P<option>[A-Z])(?![\w'’])"
_AFTER_CUE = rf"{_NOT}{_CUE}\s*+(?:[:=]\s*+)?(?P<option>{_BARE})"
_BEFORE_VERDICT = r"(?<!\w)(?P<option>[A-Z])\s+is\s+(?:the\s+)?(?:correct|right|best|answer)\b"
_MENTIONS = tuple(
    re.compile(pattern) for pattern in (_BRACKETED, _IN_FRONT, _AFTER_OPTION, _AFTER_CUE, _BEFORE_VERDICT)
)

_ANSWER_CUE = re.compile(
    r"\A(?:so |therefore |thus )?(?:my |the )?(?:final |correct |right |best )?"
    r"answer (?:is |would be |must be )?"
)


def option_of(gold: str) -> str | None:
    """The capital letter of a gold such as ``(B)``, ``B`` or ``b)``; None for a word such as ``yes``.

    >>> option_of("(B)"), option_of("b."), option_of("yes")
    ('B', 'B', None)
    """
    match = _GOLD.fullmatch(unify(gold))
    return match[1].upper() if match else None


def options_named(prediction: str) -> tuple[str, ...]:
    """The different option letters that ``prediction`` names, sorted; capital letters.

    Counted are a letter alone, in brackets, at the start before ``)``, ``.`` or ``:``, and after words
    such as "answer" or "option". A letter in prose, such as the article of "A man", is none. Nor is
    the only letter named when the answer rules it out ("not (A)").

    >>> options_named("The answer is **(b)**."), options_named("A man is B"), options_named("A or B")
    (('B',), (), ('A', 'B'))
    """
    text = _plain(prediction)
    if _NOTHING_ELSE.fullmatch(text):
        listing = re.sub(r"\b(?:and|or|option|choice)\b", " ", text, flags=re.IGNORECASE)
        return tuple(sorted({letter.upper() for letter in _ANY_MARK.findall(listing)}))
    mentions = list(_mentions(text))
    affirmed = {letter for letter, negated in mentions if not negated}
    return tuple(sorted({letter for letter, _ in mentions})) if affirmed else ()


def says_word(gold: str, prediction: str) -> bool:
    """Whether ``prediction`` is the word ``gold``, alone or after "the answer is". Articles count.

    >>> says_word("yes", "Answer: Yes."), says_word("yes", "yes and no")
    (True, False)
    """
    wanted, said = fold(gold), fold(prediction)
    return bool(wanted) and wanted in {said, _ANSWER_CUE.sub("", said)}


def _plain(prediction: str) -> str:
    text = unify(prediction)
    for _ in range(3):  # \boxed{\text{B}} is nested
        text = _LATEX.sub(r"\1", text)
    return _MARKDOWN.sub("", text).strip("'‘’ \n\t")


def _mentions(text: str) -> Iterator[tuple[str, bool]]:
    for pattern in _MENTIONS:
        for match in pattern.finditer(text):
            yield match["option"].upper(), bool(match.groupdict().get("negated"))
