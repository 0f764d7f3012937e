"""Roles, answers and ids of records."""

import pytest

from skillopt_exp.config.dataset import FieldsConfig
from skillopt_exp.data.items import ItemReader, require_chosen_fields
from skillopt_exp.data.read import Record, Value
from skillopt_exp.errors import DataError
from skillopt_exp.records import Item

READER = ItemReader(FieldsConfig())


def record(where: str = "tasks.jsonl:1", **fields: Value) -> Record:
    return Record(where, {"question": "Capital of Norway?", "answers": "Oslo"} | fields)


def item_of(reader: ItemReader = READER, **fields: Value) -> Item:
    return reader.read(record(**fields), split=None).item


@pytest.mark.parametrize(
    ("given", "answers"),
    [
        ("Oslo", ("Oslo",)),
        (["Oslo"], ("Oslo",)),
        (["Oslo", "Kristiania", "Oslo"], ("Oslo", "Kristiania")),
        ("1987", ("1987",)),
        ("A", ("A",)),
        ('"Seasons In The Sun"', ('"Seasons In The Sun"',)),
        ("Grauman\\'s Chinese Theater", ("Grauman\\'s Chinese Theater",)),
    ],
)
def test_answers_become_texts_as_they_stand(given, answers):
    assert item_of(answers=given).answers == answers


@pytest.mark.parametrize(
    "given", [[], None, True, "", "  ", ["Oslo", None], ["Oslo", " "], [["Oslo"]], [False]]
)
def test_what_cannot_be_an_answer_is_an_error_with_its_line(given):
    with pytest.raises(DataError, match=r"tasks\.jsonl:1: .*answer.*'answers'"):
        item_of(answers=given)


def test_answers_inside_a_record_are_pointed_at():
    with pytest.raises(DataError, match=r"dataset\.fields\.answers=answers\.text"):
        item_of(answers={"text": ["Oslo"], "start": ["3"]})


def test_a_missing_field_names_what_is_there_and_what_to_type():
    reader = ItemReader(FieldsConfig())
    with pytest.raises(DataError, match=r"bbh\.json: record 1: has no field 'question'.* input, target.*"
                                        r"dataset\.fields\.question=input"):  # fmt: skip
        reader.read(Record("bbh.json: record 1", {"input": "q", "target": "(B)"}), split=None)
    reader = ItemReader(FieldsConfig(question="input"))
    with pytest.raises(DataError, match=r"dataset\.fields\.answers=target"):
        reader.read(Record("bbh.json: record 1", {"input": "q", "target": "(B)"}), split=None)


def test_roles_reach_into_nested_records():
    reader = ItemReader(
        FieldsConfig(id="meta.id", question="task.input", answers="task.target", context=None)
    )
    nested = {"meta": {"id": "7"}, "task": {"input": "q", "target": "a"}, "context": "not asked for"}
    assert reader.read(Record("x", nested), split=None).item == Item("7", "q", ("a",))


@pytest.mark.parametrize("given", [None, ""])
def test_a_null_context_is_an_empty_one(given):
    assert item_of(context=given).context == ""


@pytest.mark.parametrize(
    ("given", "group"),
    [("bridge", "bridge"), (" two\n words ", "two words"), ("7", "7"), (None, ""), ("", "")],
)
def test_a_group_is_one_line_and_may_be_absent(given, group):
    assert item_of(group=given).group == group
    assert item_of().group == ""


def test_the_group_is_read_from_the_field_that_is_named_and_plays_no_part_in_the_id():
    reader = ItemReader(FieldsConfig(group="type"))
    comparison, bridge = (
        item_of(reader, type=kind, group="not asked for") for kind in ("comparison", "bridge")
    )
    assert (comparison.group, bridge.group) == ("comparison", "bridge")
    assert comparison.id == bridge.id
    with pytest.raises(DataError, match=r"'typ'.*type.*dataset\.fields\.group=null"):
        require_chosen_fields([record(type="bridge")], FieldsConfig(group="typ"))


@pytest.mark.parametrize("field", ["question", "context", "group", "id"])
def test_a_list_in_the_place_of_a_text_is_an_error(field):
    with pytest.raises(DataError, match=rf"tasks\.jsonl:1: the {field} .* is a list"):
        item_of(**{field: ["x"]})


def test_half_a_character_is_an_error_before_it_reaches_an_endpoint():
    with pytest.raises(DataError, match=r"tasks\.jsonl:1: .*half of a character"):
        item_of(context="cut off \ud83d")


def test_the_gold_follows_the_last_mark():
    reader = ItemReader(FieldsConfig(), gold_after="####")
    assert item_of(reader, answers="#### is a mark\nso 6*7\n#### 42 ").answers == ("42",)
    for broken in ("just 42", "42 ####", "42 #### \n"):
        with pytest.raises(
            DataError, match=r"tasks\.jsonl:1: no gold after '####'.*dataset\.gold_after=null"
        ):
            item_of(reader, answers=broken)


def test_an_id_is_kept_and_made_from_content_where_absent():
    assert item_of(id="7").id == "7"
    made = item_of()
    assert len(made.id) == 16
    assert item_of(id=None).id == item_of(id=" ").id == made.id
    for other in (item_of(question="Another?"), item_of(context="c"), item_of(answers="Bergen")):
        assert other.id != made.id


def test_a_misspelt_optional_field_does_not_pass_unnoticed():
    records = [record(passage="text")]
    require_chosen_fields(records, FieldsConfig())
    require_chosen_fields(records, FieldsConfig(context="passage", id=None))
    with pytest.raises(
        DataError, match=r"'pasage'.*question, answers, passage.*dataset\.fields\.context=null"
    ):
        require_chosen_fields(records, FieldsConfig(context="pasage"))
