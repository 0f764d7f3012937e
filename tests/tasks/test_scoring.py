"""Each scorer's table, what holds for all of them, and what their feedback says."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.config.dataset import Scorer
from skillopt_exp.records import Metric
from skillopt_exp.tasks.choice import option_of
from skillopt_exp.tasks.normalise import normalise, tokens
from skillopt_exp.tasks.scoring import choice, contains, exact, f1, numeric, regex, score, token_f1

COMPARES_TEXT = [scorer for scorer in Scorer if scorer is not Scorer.regex]
ANY_TEXT = st.text(st.one_of(st.characters(), st.sampled_from("theAB 0123.,-/%$()'\"東京½×^")), max_size=40)


@pytest.mark.parametrize(
    ("gold", "prediction", "hard", "soft"),
    [
        ("Oslo", "Oslo", 1, 1.0),
        ("Oslo", "oslo.", 1, 1.0),
        ("The Stand", "stand", 1, 1.0),
        ('"Seasons In The Sun"', "Seasons in the Sun", 1, 1.0),
        ("Grauman\\'s Chinese Theater", "Grauman's Chinese Theater", 1, 1.0),
        ("東京タワー", "東京 タワー", 1, 1.0),
        ("A", "A", 1, 1.0),
        ("Oslo", "O", 0, 0.0),
        ("Oslo", "", 0, 0.0),
        ("A", "", 0, 0.0),
        ("A", "The", 0, 0.0),
        ("...", "!", 0, 0.0),
        ("", "", 0, 0.0),
        ("3.5", "35", 0, 0.0),
        ("dew point", "point dew", 0, 1.0),
        ("dew point", "the dew point", 1, 1.0),
        ("dew point", "dew", 0, 2 / 3),
        ("東京タワー", "東京", 0, 4 / 7),
    ],
)
def test_exact_needs_the_same_tokens_in_the_same_order(gold: str, prediction: str, hard: int, soft: float):
    result = exact(gold, prediction)
    assert (result.hard, result.soft) == (hard, pytest.approx(soft))


@pytest.mark.parametrize(
    ("gold", "prediction", "hard", "soft"),
    [
        ("dew point", "point dew", 1, 1.0),
        ("Ludwig van Beethoven", "Beethoven", 0, 0.5),
        ("Beethoven", "Ludwig van Beethoven", 0, 0.5),
        ("New York New York", "New York", 0, 2 / 3),
        ("Oslo", "", 0, 0.0),
        ("", "", 0, 0.0),
    ],
)
def test_f1_counts_common_tokens_with_their_repeats(gold: str, prediction: str, hard: int, soft: float):
    result = f1(gold, prediction)
    assert (result.hard, result.soft) == (hard, pytest.approx(soft))


@pytest.mark.parametrize(
    ("gold", "prediction", "hard"),
    [
        ("18", "18", 1),
        ("18", "She makes $18 every day.", 1),
        ("18", "16 - 3 + 5 = 18.", 1),
        ("18", "18.0", 1),
        ("2,125", "2125 dollars", 1),
        ("-10", "\u221210", 1),
        ("3/4", "0.75", 1),
        ("1/3", "0.3333333333", 1),
        ("1450000", "1.45 million", 1),
        ("undefined", "Undefined.", 1),
        ("18", "18 of 20", 0),
        ("18", "17", 0),
        ("18", "", 0),
        ("18", "eighteen", 0),
        ("0", "", 0),
        ("1000000000000", "1000000000001", 0),
        ("undefined", "0", 0),
    ],
)
def test_numeric_compares_the_last_number(gold: str, prediction: str, hard: int):
    result = numeric(gold, prediction)
    assert (result.hard, result.soft) == (hard, hard)


@pytest.mark.parametrize(
    ("gold", "prediction", "hard"),
    [
        ("(B)", "(B)", 1),
        ("B", "**b**", 1),
        ("(B)", "The answer is (B).", 1),
        ("A", "A", 1),
        ("yes", "Yes", 1),
        ("A", "", 0),
        ("A", "The", 0),
        ("A", "A man", 0),
        ("(B)", "A", 0),
        ("(B)", "(A) or (B)", 0),
        ("(B)", "Frankenstein", 0),
        ("yes", "no", 0),
    ],
)
def test_choice_needs_the_one_letter(gold: str, prediction: str, hard: int):
    result = choice(gold, prediction)
    assert (result.hard, result.soft) == (hard, hard)


@pytest.mark.parametrize(
    ("gold", "prediction", "hard"),
    [
        ("dew point", "It is called the dew point.", 1),
        ("The Stand", "It was Stand by King", 1),
        ("京", "東京タワー", 1),
        ("point", "pointless", 0),
        ("dew point", "the point of dew", 0),
        ("dew point", "", 0),
        ("...", "...", 0),
    ],
)
def test_contains_needs_the_gold_in_one_piece(gold: str, prediction: str, hard: int):
    result = contains(gold, prediction)
    assert (result.hard, result.soft) == (hard, hard)


@pytest.mark.parametrize(
    ("pattern", "prediction", "hard"),
    [
        (r"^\d{4}$", "1987", 1),
        (r"(?i)\boslo\b", "It is OSLO", 1),
        ("oslo", "Oslo", 0),
        (r"^\d{4}$", "in 1987", 0),
        (".*", "", 0),
        ("[[a]", "a", 1),
    ],
)
def test_regex_searches_for_the_pattern(pattern: str, prediction: str, hard: int):
    result = regex(pattern, prediction)
    assert (result.hard, result.soft) == (hard, hard)


def test_a_pattern_that_does_not_compile_is_an_error_and_never_a_score():
    with pytest.raises(re.error):
        regex("(", "anything")


def test_gold_shapes_that_people_have_are_scored_as_they_mean_them():
    assert score(Scorer.exact, ("Oslo",), "Oslo").hard == 1
    assert score(Scorer.exact, ("Oslo",), "O").hard == 0
    assert score(Scorer.exact, ("Oslo",), "").hard == 0
    assert score(Scorer.exact, ("1987",), "1987").hard == 1
    assert score(Scorer.choice, ("A",), "").hard == 0
    assert score(Scorer.choice, ("A",), "A").hard == 1


def test_the_best_of_several_golds_counts_and_the_others_are_told():
    golds = ("Christiania", "Oslo", "Kristiania")
    assert score(Scorer.exact, golds, "oslo").hard == 1
    nearest = score(Scorer.f1, ("Bergen", "city of Oslo"), "Oslo")
    assert nearest.soft == 0.5
    assert "expected 'city of Oslo'" in nearest.feedback
    assert "accepted too: 'Bergen'" in nearest.feedback


@pytest.mark.parametrize(
    ("scorer", "gold", "prediction", "words"),
    [
        (Scorer.exact, "Oslo", "", "no answer was given, expected 'Oslo'"),
        (Scorer.exact, "Oslo", "...", "only punctuation"),
        (Scorer.exact, "Oslo", "Bergen", "predicted 'Bergen', expected 'Oslo': a different answer"),
        (Scorer.exact, "dew point", "It is the dew point", "with others around them: 'it', 'is'"),
        (Scorer.exact, "dew point", "dew", "missing words: 'point'"),
        (Scorer.exact, "dew point", "dew drop", "missing words: 'point'; extra words: 'drop'"),
        (Scorer.exact, "dew point", "point dew", "another order"),
        (Scorer.exact, "ping-pong", "ping pong", "other spaces"),
        (Scorer.f1, "dew point", "dew", "missing words: 'point'"),
        (Scorer.numeric, "18", "20", "predicted 20, expected 18: too high by 2"),
        (Scorer.numeric, "18", "eighteen", "no number was given"),
        (Scorer.numeric, "18", "18 of 20", "the last number is what counts"),
        (Scorer.choice, "(B)", "(A)", "option A was chosen"),
        (Scorer.choice, "(B)", "(A) or (B)", "2 options are named, A and B"),
        (Scorer.choice, "(B)", "Frankenstein", "no option letter could be read"),
        (Scorer.choice, "yes", "I would say yes", "with others around them"),
        (Scorer.contains, "dew point", "point of dew", "not in one piece"),
        (Scorer.contains, "dew point", "fog", "a different answer"),
        (Scorer.regex, "^[0-9]+$", "fog", "expected a match of the pattern '^[0-9]+$'"),
    ],
)
def test_feedback_says_what_differed(scorer: Scorer, gold: str, prediction: str, words: str):
    assert words in score(scorer, (gold,), prediction).feedback


def test_feedback_stays_short_for_a_long_reply_and_many_golds():
    feedback = score(Scorer.exact, tuple(f"gold {n}" for n in range(50)), "word " * 5000).feedback
    assert len(feedback) < 600


@pytest.mark.parametrize("scorer", COMPARES_TEXT)
@given(gold=ANY_TEXT, prediction=ANY_TEXT)
@settings(deadline=None)
def test_scores_lie_in_range_and_an_unsolved_one_has_a_reason(scorer: Scorer, gold: str, prediction: str):
    result = score(scorer, (gold,), prediction)
    assert result.hard in {0.0, 1.0}
    assert result.hard <= result.soft <= 1.0
    assert 0.0 <= result.value(Metric.mixed) <= 1.0
    assert bool(result.feedback) == (result.hard == 0.0)


@pytest.mark.parametrize("scorer", COMPARES_TEXT)
@given(gold=ANY_TEXT)
@settings(deadline=None)
def test_a_gold_matches_itself_exactly_when_something_of_it_remains(scorer: Scorer, gold: str):
    assert score(scorer, (gold,), gold).hard == bool(normalise(gold))


@pytest.mark.parametrize("scorer", list(Scorer))
@given(gold=ANY_TEXT)
@settings(deadline=None)
def test_an_empty_answer_never_matches(scorer: Scorer, gold: str):
    pattern = re.escape(gold) if scorer is Scorer.regex else gold
    for blank in ("", " ", "\n\t"):
        assert score(scorer, (pattern,), blank).hard == 0.0


@given(one=ANY_TEXT, other=ANY_TEXT)
@settings(deadline=None)
def test_f1_is_symmetric_and_one_only_for_the_same_tokens(one: str, other: str):
    first, second = tokens(one), tokens(other)
    assert token_f1(first, second) == token_f1(second, first)
    assert (token_f1(first, second) == 1.0) == (bool(first) and sorted(first) == sorted(second))


@given(gold=st.sampled_from("ABCDEFGHIJ"), prediction=ANY_TEXT)
@settings(deadline=None)
def test_a_letter_never_earns_the_point_of_another(gold: str, prediction: str):
    if choice(gold, prediction).hard:
        others = [letter for letter in "ABCDEFGHIJ" if letter != gold]
        assert not any(choice(letter, prediction).hard for letter in others)
    assert option_of(gold) == gold


@given(golds=st.lists(ANY_TEXT, min_size=1, max_size=4), prediction=ANY_TEXT)
@settings(deadline=None)
def test_one_more_gold_never_lowers_a_score(golds: list[str], prediction: str):
    fewer = score(Scorer.exact, golds[:1], prediction)
    more = score(Scorer.exact, golds, prediction)
    assert (more.hard, more.soft) >= (fewer.hard, fewer.soft)
