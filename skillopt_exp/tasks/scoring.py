"""How each scorer of ``dataset.scorer`` compares one answer with one gold, and the best over golds.

All functions are pure and never raise on any text, but for ``regex`` with a gold that is no pattern.
Nothing equals an empty answer, and an empty gold equals nothing.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType

from skillopt_exp.config.dataset import Scorer
from skillopt_exp.records import Score
from skillopt_exp.tasks.choice import option_of, options_named, says_word
from skillopt_exp.tasks.feedback import compared, contains_run, quoted, shortened, text_difference
from skillopt_exp.tasks.normalise import tokens
from skillopt_exp.tasks.numeric import miss, numbers, same_number, sole_number

SOLVED = Score(hard=1.0, soft=1.0)


def score(scorer: Scorer, golds: Sequence[str], prediction: str) -> Score:
    """The best score of ``prediction`` over ``golds`` (at least one); its feedback names the others.

    >>> score(Scorer.exact, ["Oslo", "Christiania"], "Bergen").feedback
    "predicted 'Bergen', expected 'Oslo': a different answer, no word in common (accepted too: \
'Christiania')"
    """
    compare = _COMPARE[scorer]
    scores = [compare(gold, prediction) for gold in golds]
    nearest = max(range(len(scores)), key=lambda index: (scores[index].hard, scores[index].soft, -index))
    best = scores[nearest]
    others = [gold for index, gold in enumerate(golds) if index != nearest]
    if best.hard == 1.0 or not others:
        return best
    named = " or ".join(quoted(gold) for gold in others[:3])
    return Score(best.hard, best.soft, f"{best.feedback} (accepted too: {named})")


def exact(gold: str, prediction: str) -> Score:
    """Solved when both normalise to the same tokens; partial credit is their F1.

    >>> exact("The Stand", "stand"), exact("The Stand", "").hard
    (Score(hard=1.0, soft=1.0, feedback=''), 0.0)
    """
    wanted, said = tokens(gold), tokens(prediction)
    if wanted and wanted == said:
        return SOLVED
    return _unsolved(text_difference(gold, prediction), soft=token_f1(wanted, said))


def f1(gold: str, prediction: str) -> Score:
    """Partial credit is the tokens' F1; solved when that is 1, in whatever order the tokens stand.

    >>> f1("Ludwig van Beethoven", "Beethoven").soft
    0.5
    """
    overlap = token_f1(tokens(gold), tokens(prediction))
    return SOLVED if overlap == 1.0 else _unsolved(text_difference(gold, prediction), soft=overlap)


def token_f1(one: Sequence[str], other: Sequence[str]) -> float:
    """Harmonic mean of precision and recall over tokens counted with repeats; 0 of nothing. Symmetric.

    >>> token_f1(["dew", "point"], ["the", "dew", "point"])
    0.8
    """
    common = (Counter(one) & Counter(other)).total()
    return 2 * common / (len(one) + len(other)) if common else 0.0


def numeric(gold: str, prediction: str) -> Score:
    """Solved when the last number of the prediction equals the gold; no partial credit.

    What counts as a number and as equal is told in ``numeric.numbers`` and ``numeric.same_number``.
    A gold that is not one number is compared as text.

    >>> numeric("1,450", "So it costs $1450.00."), numeric("18", "20").feedback
    (Score(hard=1.0, soft=1.0, feedback=''), 'predicted 20, expected 18: too high by 2')
    """
    wanted = sole_number(gold)
    if wanted is None:
        as_text = exact(gold, prediction)
        return Score(as_text.hard, as_text.hard, as_text.feedback)
    said = numbers(prediction)
    if not said:
        return _unsolved(compared(gold, prediction, "no number was given"))
    if same_number(said[-1].value, wanted.value):
        return SOLVED
    sides = f"predicted {shortened(said[-1].text)}, expected {shortened(wanted.text)}"
    return _unsolved(f"{sides}: {miss(wanted, said)}")


def choice(gold: str, prediction: str) -> Score:
    """Solved when the prediction names the gold's option and no other; no partial credit.

    A gold that is a word, such as ``yes``, must be the whole prediction, or follow "the answer is".

    >>> choice("(B)", "B. Frankenstein").hard, choice("(B)", "Frankenstein").feedback
    (1.0, "predicted 'Frankenstein', expected '(B)': no option letter could be read from it")
    """
    wanted = option_of(gold)
    if wanted is None:
        return SOLVED if says_word(gold, prediction) else _unsolved(text_difference(gold, prediction))
    said = options_named(prediction)
    if said == (wanted,):
        return SOLVED
    if not said:
        cause = "no option letter could be read from it"
    elif len(said) == 1:
        cause = f"option {said[0]} was chosen"
    else:
        cause = f"{len(said)} options are named, {' and '.join(said)}, where one must be chosen"
    return _unsolved(compared(gold, prediction, cause))


def contains(gold: str, prediction: str) -> Score:
    """Solved when the gold's tokens occur in the prediction in one piece; no partial credit.

    >>> contains("dew point", "It is called the dew point."), contains("point", "pointless").hard
    (Score(hard=1.0, soft=1.0, feedback=''), 0.0)
    """
    wanted, said = tokens(gold), tokens(prediction)
    if contains_run(wanted, said):
        return SOLVED
    if wanted and not Counter(wanted) - Counter(said):
        return _unsolved(compared(gold, prediction, "its words are all there, but not in one piece"))
    return _unsolved(text_difference(gold, prediction))


def regex(gold: str, prediction: str) -> Score:
    """Solved when the pattern ``gold`` is found in the prediction; no partial credit.

    The pattern is Python's, found anywhere, its case kept (``(?i)`` ignores it). A pattern that nests
    one repeat in another can take very long on some replies; ``golds.check`` warns of those.

    Raises:
        re.error: the gold is no pattern.

    >>> regex("^[0-9]+$", "1987").hard, regex("^[0-9]+$", "in 1987").feedback
    (1.0, "predicted 'in 1987', expected a match of the pattern '^[0-9]+$'")
    """
    pattern = compiled(gold)
    if not prediction.strip():
        return _unsolved(f"no answer was given, expected a match of the pattern {quoted(gold)}")
    if pattern.search(prediction):
        return SOLVED
    return _unsolved(f"predicted {quoted(prediction)}, expected a match of the pattern {quoted(gold)}")


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """``pattern``, compiled once. Raises re.error when it is none."""
    with warnings.catch_warnings():
        # Python warns of "[[" because it may mean something else one day; a gold means what it means now.
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(pattern)


def _unsolved(feedback: str, *, soft: float = 0.0) -> Score:
    return Score(0.0, soft, feedback)


_COMPARE: Mapping[Scorer, Callable[[str, str], Score]] = MappingProxyType(
    {
        Scorer.exact: exact,
        Scorer.f1: f1,
        Scorer.numeric: numeric,
        Scorer.choice: choice,
        Scorer.contains: contains,
        Scorer.regex: regex,
    }
)
