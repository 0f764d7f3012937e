import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.llm.reasoning import Separated, separate


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Oslo", Separated("Oslo")),
        ("<think>a</think>Oslo", Separated("Oslo", "a")),
        ("\n<Thinking>a</Thinking>\n\nOslo", Separated("Oslo", "a")),
        ("<think>a</think><think>b</think>Oslo", Separated("Oslo", "a\nb")),
        ("<think></think>Oslo", Separated("Oslo")),
        ("a</think>Oslo", Separated("Oslo", "a")),
        ("<think>a", Separated("", "a", complete=False)),
        ("<think>a</think><think>b", Separated("", "a\nb", complete=False)),
        ("Say <think>x</think> first", Separated("Say <think>x</think> first")),
        ('{"content": "end with </think>"}', Separated('{"content": "end with </think>"}')),
    ],
)
def test_reasoning_is_cut_off_the_start_alone(text: str, expected: Separated) -> None:
    assert separate(text) == expected


@given(st.text(), st.text())
def test_whatever_was_thought_the_answer_stays(thought: str, answer: str) -> None:
    if "think" in (thought + answer).lower():
        return
    assert separate(f"<think>{thought}</think>{answer}").visible == answer.lstrip()
