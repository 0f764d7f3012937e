from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.llm.errors import seconds_to_wait
from skillopt_exp.llm.failure import Failure

NOW = 1_790_000_000.0


def test_retry_after_is_read_as_seconds_and_as_a_date() -> None:
    assert seconds_to_wait("2", now=NOW) == 2.0
    assert seconds_to_wait(" 0.5 ", now=NOW) == 0.5
    assert seconds_to_wait("0", now=NOW) == 0.0
    assert seconds_to_wait(formatdate(NOW + 90, usegmt=True), now=NOW) == 90.0
    assert seconds_to_wait(formatdate(NOW - 90, usegmt=True), now=NOW) == 0.0


@pytest.mark.parametrize("header", [None, "", "soon", "-3", "nan", "1e400", "Mon, 99 Foo 2026"])
def test_an_unreadable_retry_after_is_no_wish(header: str | None) -> None:
    assert seconds_to_wait(header, now=NOW) is None


@given(st.text())
def test_any_retry_after_is_read_without_an_error(header: str) -> None:
    seconds = seconds_to_wait(header, now=NOW)
    assert seconds is None or seconds >= 0


@given(st.integers(100, 599), st.text())
def test_words_never_decide_what_is_asked_again(status: int, said: str) -> None:
    expected = status in (408, 409, 429) or status >= 500
    assert Failure(said, status=status).retried is expected
    assert Failure("insufficient_quota " + said, status=status).retried is expected
