"""Golds are judged before a call is paid: errors for what can never pass, warnings for the odd."""

import pytest

from skillopt_exp.config.dataset import Scorer
from skillopt_exp.errors import DataError
from skillopt_exp.records import Item
from skillopt_exp.tasks.golds import check


def items(*golds: str) -> list[Item]:
    return [Item(f"q{number}", "?", (gold,)) for number, gold in enumerate(golds)]


@pytest.mark.parametrize("scorer", list(Scorer))
def test_sound_golds_pass_without_a_word(scorer: Scorer):
    assert check(scorer, items("1", "2", "3")) == ()


def test_no_items_have_no_faults():
    assert all(check(scorer, ()) == () for scorer in Scorer)


def test_a_pattern_that_does_not_compile_names_its_item_and_why():
    with pytest.raises(DataError, match=r"item 'q1'.*'\(unclosed'.*missing \)"):
        check(Scorer.regex, items("fine", "(unclosed"))


def test_one_broken_pattern_is_an_error_even_beside_a_sound_one():
    with pytest.raises(DataError, match="does not compile"):
        check(Scorer.regex, [Item("q", "?", ("fine", "["))])


@pytest.mark.parametrize("scorer", [scorer for scorer in Scorer if scorer is not Scorer.regex])
def test_a_gold_of_punctuation_alone_can_never_pass(scorer: Scorer):
    with pytest.raises(DataError, match=r"item 'q1'.*dataset\.scorer"):
        check(scorer, items("7", "..."))


def test_a_gold_that_is_empty_beside_a_usable_one_is_no_error():
    assert check(Scorer.exact, [Item("q", "?", ("...", "ellipsis"))]) == ()


def test_many_faulty_items_are_counted_and_not_all_listed():
    with pytest.raises(DataError, match=r"items 'q0', 'q1', 'q2' and 7 more"):
        check(Scorer.exact, items(*["!"] * 10))


def test_a_numeric_gold_that_is_no_number_is_told():
    (warning,) = check(Scorer.numeric, items("18", "undefined", "10:30"))
    assert warning == "gold of items 'q1', 'q2' is not a number, so it is compared as text"


def test_a_numeric_data_set_without_any_number_points_at_gold_after():
    solution = "16 - 3 = 13 eggs are left.\n#### 13"
    with pytest.raises(DataError, match=r"item 'q0'.*dataset\.gold_after"):
        check(Scorer.numeric, items(solution, solution))


def test_a_choice_gold_that_is_a_sentence_is_told():
    (warning,) = check(Scorer.choice, items("(A)", "yes", "Bob ends up with the blue ball"))
    assert "item 'q2'" in warning


def test_patterns_that_match_anything_or_may_never_end_are_told():
    (everything,) = check(Scorer.regex, items(r"\d*", "x"))
    assert everything == "gold of item 'q0' is a pattern that any answer matches"
    (endless,) = check(Scorer.regex, items("x", r"^(\w+\s?)*!$", "(a+)+b"))
    assert endless.startswith("gold of items 'q1', 'q2' is a pattern with a repeat inside a repeat")


@pytest.mark.parametrize(
    "pattern",
    [r"^\d{4}$", "(a|b)+", r"(\d{3},)+x", r"(\d+,)*\d+", "(ab)?c+", r"\(a+\)+", "([+*])+x", "(?i)oslo"],
)
def test_harmless_patterns_are_not_suspected(pattern: str):
    assert check(Scorer.regex, items(pattern)) == ()


def test_an_answer_that_is_right_nearly_always_is_told():
    (warning,) = check(Scorer.choice, items(*["(B)"] * 15, *["(A)"] * 5))
    assert "'b' is right for 15 of 20 items" in warning
    assert check(Scorer.choice, items(*["(B)"] * 11, *["(A)"] * 9)) == ()
