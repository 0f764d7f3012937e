"""An option is chosen by its letter, and by one letter alone."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.tasks.choice import option_of, options_named, says_word

FORMS = [
    "({})", "{}", "{})", "{}.", "{}:", "[{}]", "**{}**", "**({})**", "`{}`", "'{}'", "The answer is ({})",
    "The answer is ({}).", "The answer is {}.", "Answer: {}", "**Answer:** {}", "Answer: ({}) 12/11/1937",
    "The correct answer is: **({})**", "({}) Frankenstein", "{}) Frankenstein", "{}. Frankenstein",
    "{}: Frankenstein", "{} - Frankenstein", "Option {}", "option {} is correct", "I choose {}.",
    "{} is the correct answer", "The correct choice is ({})", "\\boxed{{{}}}", "$\\boxed{{\\text{{{}}}}}$",
    "（{}）", "So the answer is {}, because she swapped last.", "Choice {}!",
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("letter", ["A", "B", "F", "I"])
def test_an_option_is_read_however_it_is_dressed(form: str, letter: str):
    assert options_named(form.format(letter)) == (letter,)


@pytest.mark.parametrize(
    "text", ["b", "(b)", "b)", "b.", "[b]", "answer: b", "Answer: (b)", "the answer is a."]
)
def test_small_letters_count_where_no_prose_can_be_meant(text: str):
    assert len(options_named(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Frankenstein",
        "A man walked in",
        "a man",
        "I think so",
        "The answer is A man of means",
        "the answer is a book",
        "The answer is I don't know",
        "The answer is Bob",
        "vitamin C",
        "f(x) grows",
        "option(s)",
        "not (A)",
        "It is not option B",
        "The answer is not B",
        "...",
        "12",
    ],
)
def test_prose_and_refusals_name_no_option(text: str):
    assert options_named(text) == ()


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("A or B", ("A", "B")),
        ("A, B", ("A", "B")),
        ("(A) and (C)", ("A", "C")),
        ("(B), not (A)", ("A", "B")),
        ("Either (A) or (B), so the answer is (B)", ("A", "B")),
        ("A/B/C", ("A", "B", "C")),
        ("(b) and (B)", ("B",)),
    ],
)
def test_all_options_that_are_named_are_reported(text: str, letters: tuple[str, ...]):
    assert options_named(text) == letters


@pytest.mark.parametrize(
    ("gold", "letter"),
    [
        ("(B)", "B"),
        ("B", "B"),
        ("b)", "B"),
        ("B.", "B"),
        ("A", "A"),
        ("yes", None),
        ("2", None),
        ("AB", None),
    ],
)
def test_a_gold_is_a_letter_or_a_word(gold: str, letter: str | None):
    assert option_of(gold) == letter


@pytest.mark.parametrize(
    ("gold", "prediction", "says"),
    [
        ("yes", "Yes.", True),
        ("yes", "**Yes**", True),
        ("Yes", "The answer is yes", True),
        ("yes", "Answer: yes", True),
        ("not plausible", "Not plausible", True),
        ("(2)", "2", True),
        ("yes", "no", False),
        ("yes", "yes and no", False),
        ("yes", "yesterday", False),
        ("yes", "", False),
        ("the", "", False),
        ("the Rhine", "Rhine", False),
        ("...", "...", False),
    ],
)
def test_a_word_must_be_the_whole_answer_articles_included(gold: str, prediction: str, says: bool):
    assert says_word(gold, prediction) is says


@given(st.sampled_from(string.ascii_uppercase), st.sampled_from(FORMS))
def test_every_letter_of_the_alphabet_is_read_in_every_form(letter: str, form: str):
    assert options_named(form.format(letter)) == (letter,)


@given(st.text(st.one_of(st.characters(), st.sampled_from("ABab()[] .:answer option not is"))))
def test_any_text_names_sorted_capital_letters_or_none(text: str):
    named = options_named(text)
    assert list(named) == sorted(set(named))
    assert all(letter in string.ascii_uppercase for letter in named)
