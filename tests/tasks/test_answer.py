"""The last pair of answer tags counts, else the last line that has text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.tasks.answer import read_answer


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("<answer>Oslo</answer>", "Oslo"),
        ("I think so.\n<answer>\n  Oslo\n</answer>\nBye.", "Oslo"),
        ("<answer>Bergen</answer> no, <answer>Oslo</answer>", "Oslo"),
        ("<answer>Bergen <answer>Oslo</answer>", "Oslo"),
        ("<ANSWER>Oslo</Answer>", "Oslo"),
        ("< answer >Oslo</ answer >", "Oslo"),
        ("<answer>two\nlines</answer>", "two\nlines"),
        ("<answer>Oslo</answer></answer>", "Oslo"),
        ("<answer>Oslo</answer> or <answer>Ber", "Oslo"),
        ("<answer></answer>", ""),
        ("<answer>Oslo</answer><answer> </answer>", ""),
        ("Oslo", "Oslo"),
        ("First I thought Bergen.\n\nOslo\n \n", "Oslo"),
        ("It is the capital.\n<answer>Oslo", "Oslo"),
        ("<answer>\nOslo\n", "Oslo"),
        ("Oslo</answer>", "Oslo"),
        ("</answer>Oslo<answer>", "Oslo"),
        ("", ""),
        (" \n\t", ""),
        ("<answer>", ""),
    ],
)
def test_the_prediction_is_where_the_reply_says(reply: str, expected: str):
    assert read_answer(reply) == expected


@given(
    st.text(), st.text(st.characters(exclude_characters="<>")), st.text(st.characters(exclude_characters="<"))
)
def test_whatever_stands_around_the_last_pair_does_not_matter(before: str, answer: str, after: str):
    assert read_answer(f"{before}<answer>{answer}</answer>{after}") == answer.strip()


@given(st.text())
def test_a_prediction_is_part_of_the_reply_without_outer_blanks(reply: str):
    prediction = read_answer(reply)
    assert prediction == prediction.strip()
    assert prediction in reply
