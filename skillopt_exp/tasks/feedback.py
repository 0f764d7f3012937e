"""Words for what differs between an answer and the gold: short, specific, and only what was seen."""

from collections import Counter
from collections.abc import Iterable, Sequence

from skillopt_exp.tasks.normalise import tokens

_SHOWN_CHARS = 120
_LISTED = 6


def shortened(text: str) -> str:
    """``text`` on one line, its middle left out beyond 120 characters.

    >>> shortened(" New   York ")
    'New York'
    """
    line = " ".join(text.split())
    if len(line) <= _SHOWN_CHARS:
        return line
    half = _SHOWN_CHARS // 2
    return f"{line[:half].rstrip()} ... {line[-half:].lstrip()}"


def quoted(text: str) -> str:
    """``text`` shortened, in single quotes."""
    return f"'{shortened(text)}'"


def listed(texts: Sequence[str]) -> str:
    """``texts`` in quotes, at most six of them, and how many more there are.

    >>> listed(["dew", "point"])
    "'dew', 'point'"
    """
    shown = ", ".join(quoted(text) for text in texts[:_LISTED])
    rest = len(texts) - _LISTED
    return f"{shown} and {rest} more" if rest > 0 else shown


def compared(gold: str, prediction: str, cause: str) -> str:
    """Both sides and ``cause``, what separates them; a blank prediction needs no further cause.

    >>> compared("18", "eighteen", "no number was given"), compared("18", " ", "no number was given")
    ("predicted 'eighteen', expected '18': no number was given", "no answer was given, expected '18'")
    """
    if not prediction.strip():
        return f"no answer was given, expected {quoted(gold)}"
    sides = f"predicted {quoted(prediction)}, expected {quoted(gold)}"
    return f"{sides}: {cause}" if cause else sides


def text_difference(gold: str, prediction: str) -> str:
    """What separates two texts that are not the same answer, word by word.

    >>> text_difference("dew point", "It is the dew point")
    "predicted 'It is the dew point', expected 'dew point': the expected words are there, with others \
around them: 'it', 'is'"
    """
    return compared(gold, prediction, _difference(tokens(gold), tokens(prediction)))


def contains_run(run: Sequence[str], words: Sequence[str]) -> bool:
    """Whether ``run`` (at least one word) occurs in ``words`` in one piece.

    >>> contains_run(["dew", "point"], ["the", "dew", "point"])
    True
    """
    return bool(run) and f" {' '.join(run)} " in f" {' '.join(words)} "


def _difference(wanted: Sequence[str], said: Sequence[str]) -> str:
    if wanted == said:
        return ""
    if not said:
        return "only punctuation was given"
    missing = _left_over(wanted, said)
    extra = _left_over(said, wanted)
    if "".join(wanted) == "".join(said):
        return "the same letters, with other spaces between them"
    if not missing and not extra:
        return "the right words in another order"
    if contains_run(wanted, said):
        return f"the expected words are there, with others around them: {listed(extra)}"
    if len(missing) == len(wanted):
        return "a different answer, no word in common"
    parts = [f"missing words: {listed(missing)}"] if missing else []
    parts += [f"extra words: {listed(extra)}"] if extra else []
    return "; ".join(parts)


def _left_over(words: Iterable[str], without: Iterable[str]) -> list[str]:
    """The words that remain, in order, after each of ``without`` took one of its equals away."""
    taken = Counter(without)
    remaining = []
    for word in words:
        if taken[word] > 0:
            taken[word] -= 1
        else:
            remaining.append(word)
    return remaining
