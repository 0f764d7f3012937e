"""Passages are cut at the borders of documents, other text at white space."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.tasks.context import cut

FIRST = "[DOC] [TLE] Fog [PAR] Wet air."
SECOND = "[DOC] [TLE] Dew [PAR] Drops."
BOTH = f"{FIRST} {SECOND}"


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (len(BOTH), BOTH),
        (len(BOTH) - 1, FIRST),
        (len(FIRST) + 2, FIRST),
        (len(FIRST) + 1, FIRST),
        (len(FIRST), FIRST),
        (len(FIRST) - 1, "[DOC] [TLE] Fog [PAR] Wet"),
        (0, ""),
    ],
)
def test_whole_documents_are_kept_and_the_first_in_part_when_even_it_is_too_long(limit: int, expected: str):
    assert cut(BOTH, limit) == expected


@pytest.mark.parametrize(
    ("text", "limit", "expected"),
    [
        ("Fog is wet air.", 15, "Fog is wet air."),
        ("Fog is wet air.", 14, "Fog is wet"),
        ("Fog is wet air.", 10, "Fog is wet"),
        ("Fog is wet air.", 9, "Fog is"),
        ("unbreakable", 4, "unbr"),
        ("  unbreakable", 5, "  unb"),
        ("", 0, ""),
    ],
)
def test_plain_text_is_cut_at_white_space_where_there_is_some(text: str, limit: int, expected: str):
    assert cut(text, limit) == expected


@pytest.mark.parametrize("more", range(4))
def test_a_document_that_fits_to_the_last_character_is_kept(more: int):
    three = f"{BOTH}  [DOC] [TLE] Rain [PAR] Falls."
    assert cut(three, len(BOTH) + more) == BOTH
    assert cut(three, len(BOTH) - 1) == FIRST


def test_a_mark_inside_a_word_is_no_border():
    assert cut("see x[DOC] here and there", 20) == "see x[DOC] here and"


@given(
    st.lists(st.sampled_from(["[DOC]", "[TLE]", "[PAR]", "fog", " ", "\n", "dew point"])).map("".join),
    st.integers(0, 80),
)
def test_the_result_is_a_beginning_of_the_text_and_fits(context: str, limit: int):
    result = cut(context, limit)
    assert context.startswith(result)
    assert len(result) <= limit
    assert cut(result, limit) == result


@given(st.text(min_size=1).filter(str.strip), st.integers(1, 20))
def test_something_of_the_first_document_is_always_shown(text: str, limit: int):
    text = text.strip()
    assert cut(text, limit)
