"""The simulated target: which answer it gives to which item under which skill."""

from collections.abc import Iterable
from dataclasses import dataclass

from skillopt_exp.records import Item
from skillopt_exp.simulation.target.chance import fraction, pick, pick_by_weight
from skillopt_exp.simulation.target.effect import cured, encouraged
from skillopt_exp.simulation.target.habits import Habit
from skillopt_exp.simulation.target.index import ItemIndex
from skillopt_exp.simulation.target.spoiling import applicable, spoil

# Shares of items, all in [0, 1].
_AFFLICTED = 0.65
"""Items whose answer a habit spoils while nothing cures it."""
_INCURABLE = 0.10
"""Afflicted items that no skill helps."""
_IGNORANT = 0.03
"""Items that the model gets wrong whatever the skill says."""
_SUGGESTIBLE = 0.60
"""Items whose answer a habit spoils when the skill asks for it."""
_FLIPPED = 0.025
"""Items that turn out the other way in one attempt: two attempts differ on twice as many."""

_WEIGHTS: dict[Habit, float] = {
    Habit.wordy: 24,
    Habit.hedging: 18,
    Habit.aside: 18,
    Habit.distractor: 12,
    Habit.partial: 14,
    Habit.question_form: 16,
    Habit.unit: 60,
    Habit.option_text: 32,
    Habit.rounding: 22,
    Habit.unfinished: 20,
}

_OPENINGS = (
    "Let me look at this.",
    "I went through what is given.",
    "Here is what I found.",
    "Having read the task, I answer as follows.",
)


@dataclass(frozen=True, slots=True)
class _Nature:
    """What is the model's nature about one item, before any skill."""

    applicable: tuple[Habit, ...]
    habit: Habit | None
    afflicted: bool
    incurable: bool
    ignorant: bool
    suggestible: bool


class Target:
    """Knows the golds of ``items``, and spoils them.

    Raises:
        UsageError: two items ask the same and expect different answers.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._index = ItemIndex(items)
        self._natures: dict[str, _Nature] = {}

    def reply(self, skill: str, prompt: str, attempt: int) -> str:
        """The reply to ``prompt`` under ``skill``; ``attempt`` (1 is the first) varies a few of them."""
        item = self._index.find(prompt)
        answer = "unknown" if item is None else self._answer(item, skill, attempt)
        return f"{pick(_OPENINGS, 'opening', prompt)}\n<answer>{answer}</answer>"

    def _answer(self, item: Item, skill: str, attempt: int) -> str:
        habit = self._shown_habit(item, skill, attempt)
        spoiled = None if habit is None else spoil(item, habit)
        return item.answers[0] if spoiled is None else spoiled

    def _shown_habit(self, item: Item, skill: str, attempt: int) -> Habit | None:
        nature = self._natures.get(item.question)
        if nature is None:
            nature = self._natures[item.question] = _nature(item)
        if nature.ignorant or nature.habit is None:
            return Habit.distractor if nature.ignorant else None
        uncured = nature.incurable or nature.habit not in cured(skill)
        shown = nature.habit if nature.afflicted and uncured else None
        asked_for = [habit for habit in nature.applicable if habit in encouraged(skill)]
        if shown is None and asked_for and nature.suggestible:
            shown = pick(asked_for, "asked for", item.question)
        if fraction("flipped", item.question, str(attempt)) < _FLIPPED:
            return nature.habit if shown is None else None
        return shown


def _nature(item: Item) -> _Nature:
    possible = applicable(item)
    weights = {habit: _WEIGHTS[habit] for habit in possible}

    def is_one_of(share: float, trait: str) -> bool:
        return fraction(trait, item.question) < share

    return _Nature(
        applicable=possible,
        habit=pick_by_weight(weights, "habit", item.question) if weights else None,
        afflicted=is_one_of(_AFFLICTED, "afflicted"),
        incurable=is_one_of(_INCURABLE, "incurable"),
        ignorant=is_one_of(_IGNORANT, "ignorant"),
        suggestible=is_one_of(_SUGGESTIBLE, "suggestible"),
    )
