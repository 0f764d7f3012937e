"""Source files as people have them, whole and broken."""

import gzip
from pathlib import Path

import pytest

from skillopt_exp.data.read import Source, look_up, read
from skillopt_exp.errors import DataError

ROW = '{"question": "Capital of Norway?", "answers": ["Oslo"]}'


def source_of(tmp_path: Path, name: str, content: str | bytes, *, list_at: str | None = None) -> Source:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read(path, label=name, list_at=list_at)


@pytest.mark.parametrize(
    ("name", "content", "num_records"),
    [
        ("a.jsonl", ROW, 1),
        ("b.jsonl", b"\xef\xbb\xbf" + f"{ROW}\r\n".encode(), 1),
        ("c.jsonl", f"{ROW}\n{ROW}\n\n", 2),
        ("e.json", f'{{"data": [{ROW}, {ROW}]}}', 2),
        ("f.csv", 'question,answers\n"two\nlines",yes\nplain,no\n', 2),
    ],
    ids=["one line", "byte order mark and CRLF", "blank last line", "object with a list", "quoted newline"],
)
def test_every_shape_of_file_gives_its_rows(tmp_path, name, content, num_records):
    assert len(source_of(tmp_path, name, content).records) == num_records


def test_a_broken_line_is_named(tmp_path):
    with pytest.raises(DataError, match=r"tasks\.jsonl:3: not valid JSON .*one JSON object a line"):
        source_of(tmp_path, "tasks.jsonl", f'{ROW}\n{ROW}\n{{"id":\n{ROW}\n')


def test_a_line_that_is_no_object_is_named(tmp_path):
    with pytest.raises(DataError, match=r"tasks\.jsonl:2: is a list"):
        source_of(tmp_path, "tasks.jsonl", f"{ROW}\n[1]\n")


def test_broken_json_names_its_line(tmp_path):
    with pytest.raises(DataError, match=r"items\.json:2: not valid JSON"):
        source_of(tmp_path, "items.json", '[\n{"question": }]')


def test_json_lines_under_a_json_name_are_told_to_rename(tmp_path):
    with pytest.raises(DataError, match=r"\.jsonl: rename it"):
        source_of(tmp_path, "items.json", f"{ROW}\n{ROW}\n")


def test_a_line_separator_inside_a_text_does_not_cut_the_line(tmp_path):
    record = source_of(tmp_path, "a.jsonl", '{"question": "one\u2028two"}\n').records[0]
    assert record.fields["question"] == "one\u2028two"


def test_numbers_stay_as_they_were_written(tmp_path):
    text = '{"a": 1987, "b": 3.0, "c": 1e3, "d": -0, "e": 12345678901234567890, "f": NaN, "g": true}'
    fields = source_of(tmp_path, "a.jsonl", text).records[0].fields
    assert fields == {
        "a": "1987", "b": "3.0", "c": "1e3", "d": "-0", "e": "12345678901234567890", "f": None, "g": True
    }  # fmt: skip


@pytest.mark.parametrize("name", ["items.jsonl.gz", "items.json.gz"])
def test_gzipped_files_are_read_by_the_extension_inside(tmp_path, name):
    text = f"[{ROW}]" if ".json." in name else ROW
    assert len(source_of(tmp_path, name, gzip.compress(text.encode())).records) == 1


def test_a_cut_gzip_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="not a whole gzip file"):
        source_of(tmp_path, "items.jsonl.gz", gzip.compress(ROW.encode())[:-9])


def test_the_list_is_found_by_dots_or_by_being_the_only_one(tmp_path):
    nested = f'{{"meta": {{"tags": ["x"]}}, "data": {{"rows": [{ROW}], "none": []}}}}'
    assert len(source_of(tmp_path, "a.json", nested).records) == 1
    assert len(source_of(tmp_path, "b.json", nested, list_at="data.rows").records) == 1


@pytest.mark.parametrize(
    ("content", "list_at", "message"),
    [
        (f'{{"train": [{ROW}], "test": [{ROW}]}}', None, r"dataset\.records=.*: train, test"),
        ('{"rows": []}', None, r"lists of objects in it: none"),
        (f'{{"rows": [{ROW}]}}', "items", r"dataset\.records=items is not in the file.*: rows"),
        ('{"rows": "none"}', "rows", r"dataset\.records=rows is a text, not a list"),
        (f"[{ROW}]", "examples", r"the file itself is a list, so set dataset\.records=null"),
        ("[1]", None, r"a\.json: record 1: is a text; each item must be a JSON object"),
        ("[]", None, r"a\.json: holds no items"),
    ],
)
def test_a_list_that_cannot_be_found_is_explained(tmp_path, content, list_at, message):
    with pytest.raises(DataError, match=message):
        source_of(tmp_path, "a.json", content, list_at=list_at)


def test_a_path_to_a_list_makes_no_sense_outside_json(tmp_path):
    with pytest.raises(DataError, match=r"set dataset\.records=null"):
        source_of(tmp_path, "a.jsonl", ROW, list_at="examples")


def test_csv_rows_know_the_line_they_start_at(tmp_path):
    source = source_of(tmp_path, "a.csv", 'q,a\r\n"x\r\ny",1\r\n\r\nz,2\r\n')
    assert [record.where for record in source.records] == ["a.csv:2", "a.csv:5"]
    assert source.records[0].fields == {"q": "x\r\ny", "a": "1"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q,a\nx,1\ny,2,3\n", r"a\.csv:3: has 3 fields, but the header has 2"),
        ("q,q\nx,1\n", r"a\.csv:1: the header names q more than once"),
        ('q,a\n"x,1\n', r"a\.csv:2: not valid CSV"),
        ("q,a\n", r"a\.csv: holds no items"),
        ("", r"a\.csv: holds no items"),
    ],
)
def test_a_broken_csv_file_is_explained(tmp_path, content, message):
    with pytest.raises(DataError, match=message):
        source_of(tmp_path, "a.csv", content)


def test_a_csv_field_may_be_as_long_as_a_context(tmp_path):
    source = source_of(tmp_path, "a.csv", f"q,a\n{'x' * 300_000},1\n")
    assert len(str(source.records[0].fields["q"])) == 300_000


def test_text_that_is_not_utf_8_names_its_line(tmp_path):
    with pytest.raises(DataError, match=r"a\.jsonl:2: is not UTF-8"):
        source_of(tmp_path, "a.jsonl", ROW.encode() + b'\n{"question": "caf\xe9"}\n')


def test_an_unknown_extension_lists_the_known_ones(tmp_path):
    with pytest.raises(DataError, match=r"\.json, \.json\.gz, \.jsonl"):
        source_of(tmp_path, "a.xlsx", ROW)


@pytest.mark.parametrize(("name", "line"), [("a.jsonl", ":1"), ("a.json", "")])
def test_hostile_nesting_is_an_error_and_no_crash(tmp_path, name, line):
    with pytest.raises(DataError, match=rf"{name}{line}: nested too deeply"):
        source_of(tmp_path, name, "[" * 200_000)


def test_a_key_with_dots_in_its_name_wins_over_nesting():
    record = {"a.b": "flat", "a": {"b": "nested", "c.d": "mixed"}}
    assert look_up(record, "a.b") == "flat"
    assert look_up(record, "a.c.d") == "mixed"
    with pytest.raises(KeyError):
        look_up(record, "a.x")
