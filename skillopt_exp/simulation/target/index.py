"""Finds the item that a prompt is about by its question's text, whatever is said around it."""

import re
from collections import defaultdict
from collections.abc import Iterable

from skillopt_exp.errors import UsageError
from skillopt_exp.records import Item

_WORD = re.compile(r"\w+")


class ItemIndex:
    """Items by question. The longest question that stands in a text wins.

    Raises:
        UsageError: two items ask the same and expect different answers.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        by_question: dict[str, Item] = {}
        for item in items:
            known = by_question.setdefault(item.question.strip(), item)
            if set(known.answers) != set(item.answers):
                raise UsageError(
                    f"items {known.id!r} and {item.id!r} have the same question and different answers, so "
                    "the simulated target cannot tell them apart; remove one of them, or make their "
                    "questions differ"
                )
        by_question.pop("", None)
        self._by_first_line: dict[str, list[tuple[str, Item]]] = defaultdict(list)
        self._by_rare_word: dict[str, list[tuple[str, Item]]] = defaultdict(list)
        for question, item in by_question.items():
            self._by_first_line[question.splitlines()[0].strip()].append((question, item))
            self._by_rare_word[_rare_word(question)].append((question, item))

    def find(self, text: str) -> Item | None:
        """The item whose question stands in ``text``, or None."""
        return self._on_lines_of(text) or self._anywhere_in(text)

    def _on_lines_of(self, text: str) -> Item | None:
        """The usual case: the question begins a line, or what follows a label such as ``Question:``."""
        found = []
        for line in text.splitlines():
            stripped = line.strip()
            for start in (stripped, stripped.partition(":")[2].lstrip()):
                if start in self._by_first_line:
                    found += self._by_first_line[start]
        return _longest(found, text)

    def _anywhere_in(self, text: str) -> Item | None:
        words = {"", *_WORD.findall(text)}
        known = sorted(words & self._by_rare_word.keys())
        return _longest((pair for word in known for pair in self._by_rare_word[word]), text)


def _rare_word(question: str) -> str:
    """The word by which few questions are found: the longest."""
    return max(_WORD.findall(question), key=lambda word: (len(word), word), default="")


def _longest(candidates: Iterable[tuple[str, Item]], text: str) -> Item | None:
    longest, found = 0, None
    for question, item in candidates:
        if len(question) > longest and question in text:
            longest, found = len(question), item
    return found
