"""What is written can be read, exactly; what cannot be trusted is refused with its place."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_run import SAMPLE, summary

from skillopt_exp.errors import DataError
from skillopt_exp.records import Outcome, Score, ScoredSkill, StepRecord, Summary, TrainState, Usage, Verdict
from skillopt_exp.runs.codec import from_json, to_json

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ANY_TEXT = st.text(st.characters(exclude_categories=()))


@dataclass(frozen=True)
class Nested:
    number: float
    text: str
    maybe: int | None
    many: tuple[Verdict, ...]
    counts: Mapping[str, int]


NESTED = st.builds(
    Nested,
    number=FINITE,
    # The two halves of a pair that stand side by side become the character that they make.
    text=ANY_TEXT.filter(
        lambda text: text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    ),
    maybe=st.none() | st.integers(),
    many=st.lists(st.builds(Verdict, st.sampled_from(Outcome), st.text(), FINITE)).map(tuple),
    counts=st.dictionaries(st.text(), st.integers()),
)


@given(NESTED)
def test_any_value_comes_back_as_it_was(value: Nested) -> None:
    line = to_json(value)
    assert "\n" not in line
    line.encode("utf-8")
    assert from_json(Nested, line, "here") == value
    assert from_json(Nested, to_json(value, indent=2), "here") == value


@given(NESTED)
def test_equal_values_have_equal_text_in_whatever_order_a_mapping_was_filled(value: Nested) -> None:
    turned = Nested(value.number, value.text, value.maybe, value.many, dict(list(value.counts.items())[::-1]))
    assert to_json(turned) == to_json(value)


def test_the_records_of_a_run_come_back_as_they_were() -> None:
    for trace in SAMPLE.traces:
        assert from_json(StepRecord, to_json(trace.record), "here") == trace.record
        assert from_json(TrainState, to_json(trace.state), "here") == trace.state
    assert from_json(Summary, to_json(summary(SAMPLE.traces)), "here") == summary(SAMPLE.traces)


def test_the_fields_of_a_record_stand_in_the_order_of_their_declaration() -> None:
    record = SAMPLE.traces[0].record
    assert list(json.loads(to_json(record))) == list(StepRecord.__slots__)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_a_number_that_is_not_finite_is_not_written(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json(Verdict(Outcome.rejected, "", number))


def test_a_value_of_an_unknown_kind_is_not_written() -> None:
    with pytest.raises(TypeError, match="object has no JSON form"):
        to_json((object(),))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"outcome": "rejected", "margin": NaN}', "NaN is not a number"),
        ('{"outcome": "rejected", "margin": 1e999}', r"here\.margin: must be a finite number"),
        ('{"outcome": "rejected", "margin": "1"}', r"here\.margin: must be of type float, not '1'"),
        ('{"outcome": "rejected", "margin": true}', r"here\.margin: must be of type float"),
        ('{"outcome": "lost"}', r"here\.outcome: must be one of accepted, rejected, .* not 'lost'"),
        ('{"outcome": 1}', r"here\.outcome: must be one of"),
        ('{"by": ""}', "the key 'outcome' is missing"),
        ('{"outcome": "rejected", "margins": 1}', "unknown key 'margins'"),
        ("[]", r"here: must be an object \(Verdict\)"),
        ('{"outcome": ', "here: not valid JSON"),
        ("[" * 100_000, "here: not valid JSON"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(text: str, complaint: str) -> None:
    with pytest.raises(DataError, match=complaint):
        from_json(Verdict, text, "here")


def test_a_place_inside_lists_and_objects_is_named() -> None:
    scored = '{"skill": {}, "scores": [{"hard": 1, "soft": 2}], "step": 0}'
    with pytest.raises(DataError, match=r"here\.scores\[0\]: a score must be a number in \[0, 1\], not 2"):
        from_json(ScoredSkill, scored, "here")
    with pytest.raises(DataError, match=r"here\.counts\.a: must be of type int, not '0'"):
        from_json(
            Nested, '{"number": 0, "text": "", "maybe": null, "many": [], "counts": {"a": "0"}}', "here"
        )


def test_a_whole_number_is_taken_for_a_fraction_and_absent_fields_for_their_defaults() -> None:
    assert from_json(Score, '{"hard": 1, "soft": 0}', "here") == Score(1.0, 0.0)
    assert from_json(Usage, '{"cost_usd": null}', "here") == Usage(cost_usd=None)
