"""How each habit spoils a gold answer. Pure; a habit that cannot spoil an answer returns None.

Three kinds of gold differ: the letter of an option, a number, any other text.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from skillopt_exp.records import Item
from skillopt_exp.simulation.target.chance import pick
from skillopt_exp.simulation.target.habits import Habit

_OPTION = re.compile(r"^\s*\(([A-Z])\)\s*(.*\S)", re.MULTILINE)
_CHOICE_GOLD = re.compile(r"\(?([A-Z])\)?\.?")
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_NUMBER_GOLD = re.compile(r"\W{0,2}-?\d[\d,]*(?:\.\d+)?\s*%?")
_WITH_UNIT = re.compile(r"(\W{0,2}\d[\d,]*(?:\.\d+)?)\s*([^\W\d_]\S*(?: \S+){0,3}|[°%].*)")
_TITLE = re.compile(r"\[TLE\]\s*(.*?)\s*(?=\[PAR\]|\[DOC\]|\[TLE\]|$)", re.DOTALL)
_CAPITALISED = re.compile(r"(?<=[a-z,] )[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_ARTICLES = {"a", "an", "the"}
_LONGEST_TITLE = 40
_LARGEST = 1e100


@dataclass(frozen=True)
class Case:
    """One item as the habits see it."""

    item: Item

    @property
    def gold(self) -> str:
        return self.item.answers[0]

    def choose(self, options: tuple[str, ...], what: str) -> str:
        return pick(options, what, self.item.question)

    @cached_property
    def options(self) -> dict[str, str]:
        """Letter to text of the options in the question; empty when the gold is no option's letter."""
        options = dict(_OPTION.findall(self.item.question))
        return options if self.letter in options else {}

    @cached_property
    def letter(self) -> str:
        match = _CHOICE_GOLD.fullmatch(self.gold.strip())
        return match[1] if match else ""

    @cached_property
    def number(self) -> float | None:
        """The gold as a number, or None; one that is too large to reckon with is text like any other."""
        if not _NUMBER_GOLD.fullmatch(self.gold.strip()):
            return None
        value = _value(_NUMBER.findall(self.gold)[0])
        return value if abs(value) <= _LARGEST else None

    @cached_property
    def other(self) -> str:
        """A wrong answer of the right kind; ``unknown`` when neither context nor question offers one."""
        if self.options:
            # Real data has questions with a single option; a letter that is not there is wrong all the same.
            letters = self.options if len(self.options) > 1 else "AB"
            return self.choose(tuple(f"({each})" for each in letters if each != self.letter), "other")
        if self.number is not None:
            return self.other_number
        golds = [_plain(answer) for answer in self.item.answers]
        titles = map(_short_title, _TITLE.findall(self.item.context))
        names = (*titles, *_CAPITALISED.findall(self.item.question))
        # A name that overlaps with a gold might be taken for it.
        wrong = tuple(name for name in names if not any(_overlap(_plain(name), gold) for gold in golds))
        return self.choose(wrong, "other") if wrong else "unknown"

    @cached_property
    def other_number(self) -> str:
        """A number of the question that is not the gold, else one near it."""
        numbers = tuple(text for text in _NUMBER.findall(self.item.question) if _value(text) != self.number)
        return self.choose(numbers, "other") if numbers else _written((self.number or 0) + 2)


def spoil(item: Item, habit: Habit) -> str | None:
    """The answer to ``item`` with ``habit`` in it, or None where the habit does not apply."""
    return _SPOILERS[habit](Case(item))


def applicable(item: Item) -> tuple[Habit, ...]:
    """The habits that can spoil the answer to ``item``, in the order of the enumeration."""
    return tuple(habit for habit in Habit if spoil(item, habit) is not None)


def _wordy(case: Case) -> str | None:
    return case.choose(_sentences(case), "wordy")


def _sentences(case: Case) -> tuple[str, ...]:
    if case.options:
        return (
            f"Of the options, {case.other} can be ruled out, so that {case.gold} is what remains.",
            f"I would say that {case.gold} fits better here than {case.other} does.",
        )
    if case.number is not None:
        return (
            f"The result comes to {case.gold} when one starts from the {case.other} that is given.",
            f"It adds up to {case.gold} in the end, counted from the given {case.other}.",
        )
    return (
        f"This is about {case.gold}, as far as one can tell from what is given.",
        f"The one that is meant here must be {case.gold}.",
        f"I believe that it refers to {case.gold}.",
    )


def _hedging(case: Case) -> str | None:
    if case.other == "unknown":
        return None
    # The last number of a prediction is the one that counts, and any order will do elsewhere.
    pairs: tuple[str, ...] = (f"{case.gold} or {case.other}", f"{case.gold} or maybe {case.other}")
    if case.number is None:
        pairs += (f"{case.other} or {case.gold}",)
    return case.choose(pairs, "hedging")


def _aside(case: Case) -> str | None:
    if case.options:
        return f"{case.gold} (closer than {case.other})"
    if case.number is not None:
        return f"{case.gold} (worked out from {case.other})"
    remarks = ("as the passages suggest", "the one meant by the clue", "also known from other sources")
    return f"{case.gold} ({case.choose(remarks, 'aside')})"


def _distractor(case: Case) -> str | None:
    return case.other


def _partial(case: Case) -> str | None:
    words = case.gold.split()
    telling = [word for word in words if _plain(word) not in _ARTICLES]
    if case.options or len(telling) < 2 or _WITH_UNIT.fullmatch(case.gold.strip()):
        return None
    part = telling[-1].strip("\"'“”()")
    return part if _plain(part) not in map(_plain, case.item.answers) else None


def _question_form(case: Case) -> str | None:
    if case.options or case.number is not None:
        return None
    return case.choose((f"What is {case.gold}?", f"Who is {case.gold}?"), "question_form")


def _unit(case: Case) -> str | None:
    match = _WITH_UNIT.fullmatch(case.gold.strip())
    return match[1] if match else None


def _option_text(case: Case) -> str | None:
    return case.options.get(case.letter)


def _rounding(case: Case) -> str | None:
    if case.number is None:
        return None
    for step in (1000, 100, 10, 5):
        rounded = round(case.number / step) * step
        if rounded and rounded != case.number and abs(rounded - case.number) <= abs(case.number) / 2:
            return case.choose((f"about {_written(rounded)}", f"roughly {_written(rounded)}"), "rounding")
    return None


def _unfinished(case: Case) -> str | None:
    if case.number is None:
        return None
    given = {_value(text) for text in _NUMBER.findall(case.item.question)}
    before = (case.number * 2, case.number * 3, case.number + 7, case.number * 4 + 1, case.number + 13)
    return next((_written(value) for value in before if value not in given and value != case.number), None)


_SPOILERS: dict[Habit, Callable[[Case], str | None]] = {
    Habit.wordy: _wordy,
    Habit.hedging: _hedging,
    Habit.aside: _aside,
    Habit.distractor: _distractor,
    Habit.partial: _partial,
    Habit.question_form: _question_form,
    Habit.unit: _unit,
    Habit.option_text: _option_text,
    Habit.rounding: _rounding,
    Habit.unfinished: _unfinished,
}


def _value(text: str) -> float:
    return float(text.replace(",", ""))


def _written(value: float) -> str:
    return f"{value:.12g}"


def _plain(text: str) -> str:
    return re.sub(r"[^\w ]", "", text).casefold().strip()


def _overlap(one: str, other: str) -> bool:
    return not one or one in other or other in one


def _short_title(title: str) -> str:
    """A passage's title without the site's name, as a model would copy it; empty when it is a headline."""
    short = re.split(r"\s+[-–|:(]\s*|\s*\(", title)[0].strip()
    return short if len(short) <= _LONGEST_TITLE and "..." not in short else ""
