"""Repeated ids and repeated content."""

import pytest

from skillopt_exp.config.dataset import FieldsConfig
from skillopt_exp.data.items import ItemReader, Sourced
from skillopt_exp.data.read import Record, Value
from skillopt_exp.data.repeats import without_repeats
from skillopt_exp.errors import DataError


def record(where: str = "a:1", **fields: Value) -> Record:
    return Record(where, {"question": "Capital of Norway?", "answers": "Oslo"} | fields)


def read_all(*records: Record) -> list[Sourced]:
    return [ItemReader(FieldsConfig()).read(each, split=None) for each in records]


def test_repeated_ids_are_listed_with_their_lines_up_to_five():
    records = [record(where=f"a.jsonl:{line}", id=str(line % 6), question=f"q{line}") for line in range(12)]
    with pytest.raises(
        DataError, match=r"ids that stand at more than one record .6.*'0' at a\.jsonl:0 and a\.jsonl:6"
    ) as caught:
        without_repeats(read_all(*records))
    assert str(caught.value).count(" at a.jsonl") == 5


def test_equal_records_without_ids_are_kept_once_and_counted():
    kept, warnings = without_repeats(read_all(record("a:1"), record("a:2"), record("a:3", question="Other?")))
    assert [each.where for each in kept] == ["a:1", "a:3"]
    assert len(warnings) == 1
    assert "1 record dropped" in warnings[0]
    assert "a:2" in warnings[0]


def test_the_same_content_under_two_ids_stays_with_one_warning():
    kept, warnings = without_repeats(read_all(record(id="x"), record(id="y"), record(id="z")))
    assert len(kept) == 3
    assert len(warnings) == 1
    assert "2 items with the same content" in warnings[0]
