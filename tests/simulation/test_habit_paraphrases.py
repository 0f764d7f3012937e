"""The simulated target against wordings that were written apart from it."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from skillopt_exp.simulation.target import Habit, cured

WORDINGS: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("habit_paraphrases.toml").read_text(encoding="utf-8")
)
ENOUGH = 8  # of ten


def test_every_habit_has_ten_wordings_and_five_near_misses() -> None:
    assert set(WORDINGS) == set(Habit)
    assert {(len(entry["cures"]), len(entry["near_misses"])) for entry in WORDINGS.values()} == {(10, 5)}


@pytest.mark.parametrize("habit", Habit)
def test_at_least_eight_of_ten_wordings_cure_their_habit(habit: Habit) -> None:
    understood = [text for text in WORDINGS[habit]["cures"] if habit in cured(text)]
    assert len(understood) >= ENOUGH


@pytest.mark.parametrize("habit", Habit)
def test_no_near_miss_cures_the_habit(habit: Habit) -> None:
    assert [text for text in WORDINGS[habit]["near_misses"] if habit in cured(text)] == []
