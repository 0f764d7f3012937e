"""SQuAD's published rules on plain English, and what is added for the rest of Unicode."""

import re
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skillopt_exp.tasks.normalise import fold, normalise, tokens, unify

ANY_TEXT = st.text(
    st.one_of(st.characters(), st.sampled_from("aAthe .-+#5²½−–´`'\"¨ª\u0301\u200d\ufe0f東タ゛가C∞°⁄/,$€%"))
)


def published_squad_rules(text: str) -> str:
    """Lower case, then no ASCII punctuation, then no articles, then single spaces."""
    lowered = text.lower()
    bare = "".join(char for char in lowered if char not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tom Clancy", "tom clancy"),
        ("The Stand", "stand"),
        ("the Red Badge of Courage", "red badge of courage"),
        ("An apple, a pear & the plum!", "apple pear plum"),
        ("  two\tspaces \n here ", "two spaces here"),
        ("U.S.", "us"),
        ("rock 'n' roll", "rock n roll"),
        ("don't", "dont"),
        ("well-known", "wellknown"),
        ("1,000", "1000"),
        ("$5", "5"),
        ("50%", "50"),
        ("Theatre", "theatre"),
        ("ban another", "ban another"),
    ],
)
def test_plain_english_is_normalised_as_squad_does(text: str, expected: str):
    assert published_squad_rules(text) == expected
    assert normalise(text) == expected


@given(st.text(string.ascii_letters + " .,;:!?'\"()-_/&*", max_size=60))
@settings(deadline=None)
def test_english_without_numbers_equals_the_published_rules_wherever_those_leave_something(text: str):
    expected = published_squad_rules(text)
    if expected:
        assert normalise(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", "a"),
        ("The", "the"),
        ("the a an", "the a an"),
        ("3.5", "3.5"),
        ("3.5.", "3.5"),
        ("35", "35"),
        ("$1,234.50", "1234.50"),
        ("-5", "-5"),
        ("\u22125", "-5"),
        ("\u20135", "-5"),
        ("(-5)", "-5"),
        ("-$5", "-5"),
        ("1914-1918", "19141918"),
        ("1914\u20131918", "19141918"),
        ("F-16", "f16"),
        ("12.25.1937", "12251937"),
        ("2.5km", "2.5km"),
        ("C++", "c++"),
        ("(C#).", "c#"),
        ("18+", "18"),
        ("+5", "5"),
        ("#1", "1"),
        ("rock\u00b4n\u00b4roll", "rocknroll"),
    ],
)
def test_marks_that_change_the_meaning_stay_and_the_others_go(text: str, expected: str):
    assert normalise(text) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ｏｓｌｏ", "oslo"),
        ("STRASSE", "straße"),
        ("Beyonce\u0301", "beyoncé"),
        ("«Oslo»", "“Oslo”"),
        ("「東京」", "東京"),
        ("¿Qué?", "qué"),
        ("soft\u00adhyphen", "softhyphen"),
        ("zero\u200bwidth", "zerowidth"),
        ("\ufeffOslo", "Oslo"),
        ("New\u00a0York", "New York"),
        ("Lego™", "Lego"),
        ("❤\ufe0f", "❤"),
        ("1½", "1 1/2"),
        ("İstanbul", "i\u0307stanbul"),
        ("oﬃce", "office"),
        ("€5", "$5"),
    ],
)
def test_one_answer_in_two_unicode_spellings_is_the_same(one: str, other: str):
    assert normalise(one) == normalise(other) != ""


@pytest.mark.parametrize(
    ("one", "other"), [("3.5", "35"), ("-5", "5"), ("C", "C++"), ("cafe", "café"), ("∞", "♥"), ("A", "The")]
)
def test_different_answers_stay_different(one: str, other: str):
    assert normalise(one) != normalise(other)


@pytest.mark.parametrize("text", ["", " ", "...", '""', "«»", "—", "\u200b", "。", "\\'", "+", "$"])
def test_what_has_nothing_but_punctuation_is_empty(text: str):
    assert normalise(text) == ""
    assert tokens(text) == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Grauman\\'s Chinese Theater", "graumans chinese theater"),
        ('"Seasons In The Sun"', "seasons in sun"),
        ("'The Stand'", "stand"),
    ],
)
def test_quotes_and_backslashes_in_golds_normalise_away(text: str, expected: str):
    assert normalise(text) == expected


def test_articles_stay_in_text_of_another_script_and_when_folding():
    assert normalise("the 東京 tower") == "the 東京 tower"
    assert normalise("the Москва") == "the москва"
    assert fold("The Stand") == "the stand"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dew point", ("dew", "point")),
        ("東京タワー", ("東", "京", "タ", "ワ", "ー")),
        ("서울 타워", ("서", "울", "타", "워")),
        ("iPhone手机15", ("iphone", "手", "机", "15")),
        ("東京 2020", ("東", "京", "2020")),
    ],
)
def test_tokens_are_words_and_single_characters_in_cjk_runs(text: str, expected: tuple[str, ...]):
    assert tokens(text) == expected


@given(ANY_TEXT)
@example("1.2'3.4")
@example("a\u200d\u0301")
@example("a+.b")
@settings(deadline=None, max_examples=400)
def test_normalising_twice_changes_nothing(text: str):
    once = normalise(text)
    assert normalise(once) == once
    assert fold(fold(text)) == fold(text)
    assert bool(tokens(text)) == bool(once)


@given(ANY_TEXT)
@settings(deadline=None)
def test_case_and_surrounding_quotes_never_matter(text: str):
    assert normalise(f'"{text}"') == normalise(text)
    assert normalise(text.casefold()) == normalise(text)


@given(st.text())
@settings(deadline=None)
def test_unifying_keeps_case_of_ascii_and_never_raises(text: str):
    assert unify("Oslo") == "Oslo"
    assert isinstance(unify(text), str)
