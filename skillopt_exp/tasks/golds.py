"""What gold answers tell before the first call is paid: what can never pass, and what looks odd."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from skillopt_exp.config.dataset import Scorer
from skillopt_exp.errors import DataError
from skillopt_exp.records import Item
from skillopt_exp.tasks.choice import option_of
from skillopt_exp.tasks.feedback import quoted
from skillopt_exp.tasks.normalise import fold, normalise
from skillopt_exp.tasks.numeric import sole_number
from skillopt_exp.tasks.scoring import compiled

_NAMED_ITEMS = 3
_MOST_CHOICE_WORDS = 4
_FEWEST_FOR_MAJORITY = 20
_MAJORITY = 2 / 3

# A repeated group that ends in an open repeat, but for parts that may be absent: (a+)* or (\w+\s?)+.
_NESTED_REPEAT = re.compile(
    r"""
    (?<!\\)\( [^()]* (?:[*+]|\{\d*,\}) \??
    (?: \\?[^()\\][?*] | \[[^\]]*\][?*] )*
    (?<!\\)\) (?:[*+]|\{\d+,\})
    """,
    re.VERBOSE,
)


def check(scorer: Scorer, items: Iterable[Item]) -> tuple[str, ...]:
    """Warnings about golds that ``scorer`` will not read as their author may have meant.

    Raises:
        DataError: an item that no answer can solve, a pattern that does not compile, or a numeric
            data set without one number.
    """
    known = tuple(items)
    if scorer is Scorer.regex:
        _compile_all(known)
        return tuple(_oddities(scorer, known))
    _refuse_unsolvable(scorer, known)
    if scorer is Scorer.numeric:
        _refuse_without_numbers(known)
    return (*_oddities(scorer, known), *_majority(known))


def _compile_all(items: Sequence[Item]) -> None:
    for item in items:
        for gold in item.answers:
            try:
                compiled(gold)
            except re.error as error:
                raise DataError(
                    f"item {item.id!r}: the gold pattern {quoted(gold)} does not compile: {error}; "
                    "correct it, or set dataset.scorer to one that compares text"
                ) from error


def _refuse_unsolvable(scorer: Scorer, items: Sequence[Item]) -> None:
    empty = [item.id for item in items if not any(normalise(gold) for gold in item.answers)]
    if empty:
        raise DataError(
            f"no answer can ever match the gold of {_named(empty)}: nothing remains of it without "
            f"punctuation, and scorer {scorer.value!r} compares what remains; correct or remove "
            "what is wrong, or set dataset.scorer=regex and give patterns"
        )


def _refuse_without_numbers(items: Sequence[Item]) -> None:
    if items and not any(sole_number(gold) for item in items for gold in item.answers):
        first = items[0]
        raise DataError(
            f"dataset.scorer is numeric, but no gold answer is one number, as {quoted(first.answers[0])} "
            f"of item {first.id!r}; if the number follows a mark, set dataset.gold_after to it, "
            "else choose another dataset.scorer"
        )


def _not_a_number(gold: str) -> bool:
    return sole_number(gold) is None


def _many_words(gold: str) -> bool:
    return option_of(gold) is None and len(fold(gold).split()) > _MOST_CHOICE_WORDS


def _matches_nothing_at_all(gold: str) -> bool:
    return compiled(gold).search("") is not None


def _nests_repeats(gold: str) -> bool:
    return _NESTED_REPEAT.search(gold) is not None


_ODDITIES: Mapping[Scorer, tuple[tuple[Callable[[str], bool], str], ...]] = MappingProxyType(
    {
        Scorer.exact: (),
        Scorer.f1: (),
        Scorer.contains: (),
        Scorer.numeric: ((_not_a_number, "is not a number, so it is compared as text"),),
        Scorer.choice: (
            (_many_words, "is neither a letter nor a short word; must answers repeat it in full?"),
        ),
        Scorer.regex: (
            (_matches_nothing_at_all, "is a pattern that any answer matches"),
            (_nests_repeats, "is a pattern with a repeat inside a repeat, which can take very long"),
        ),
    }
)


def _oddities(scorer: Scorer, items: Sequence[Item]) -> list[str]:
    warnings = []
    for is_odd, what in _ODDITIES[scorer]:
        ids = [item.id for item in items if any(is_odd(gold) for gold in item.answers)]
        if ids:
            warnings.append(f"gold of {_named(ids)} {what}")
    return warnings


def _majority(items: Sequence[Item]) -> list[str]:
    """A warning when one and the same answer is right so often that a skill could just say it."""
    counts = Counter(gold for item in items for gold in {normalise(gold) for gold in item.answers} if gold)
    if len(items) < _FEWEST_FOR_MAJORITY or not counts:
        return []
    gold, count = counts.most_common(1)[0]
    if count < _MAJORITY * len(items):
        return []
    share = f"{count} of {len(items)} items"
    return [f"the answer {quoted(gold)} is right for {share}: a skill that always gives it would score that"]


def _named(ids: Sequence[str]) -> str:
    shown = ", ".join(repr(item_id) for item_id in ids[:_NAMED_ITEMS])
    rest = len(ids) - _NAMED_ITEMS
    return f"item{'s' if len(ids) > 1 else ''} {shown}" + (f" and {rest} more" if rest > 0 else "")
