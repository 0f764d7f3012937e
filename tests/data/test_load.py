"""From a configuration to splits, manifest and warnings, on real files."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.config.dataset import DatasetConfig, FieldsConfig, QADatasetConfig
from skillopt_exp.data import load
from skillopt_exp.data.items import item_digest
from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.records import Split, Splits

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=f"the real files are not at {SHARED}")


def config(**keys: object) -> QADatasetConfig:
    return QADatasetConfig(name="mine", task="qa", **keys)  # type: ignore[arg-type]


def rows(count: int, **extra: object) -> list[dict[str, object]]:
    return [{"id": f"i{n}", "question": f"q{n}?", "answers": [f"a{n}"]} | extra for n in range(count)]


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def write_folder(folder: Path, **splits: list[dict[str, object]]) -> None:
    for name, content in splits.items():
        write(folder / name / "items.json", content)


def ids(splits: Splits) -> list[str]:
    return [item.id for item in splits]


def test_one_file_is_split_by_the_rule_when_no_ratio_is_given(tmp_path):
    write(tmp_path / "items.json", rows(100))
    loaded = load(config(path="items.json"), base=tmp_path)
    sizes = [len(part) for part in (loaded.splits.train, loaded.splits.val, loaded.splits.test)]
    assert sizes == [40, 30, 30]
    assert sorted(ids(loaded.splits)) == sorted(f"i{n}" for n in range(100))
    assert loaded.warnings == ()
    assert loaded.knowledge == tuple(loaded.splits)


def test_a_given_ratio_wins(tmp_path):
    write(tmp_path / "items.json", rows(100))
    loaded = load(config(path="items.json", split=[0.6, 0.2, 0.2]), base=tmp_path)
    assert len(loaded.splits.train) == 60


def test_the_rule_caps_the_test_split_and_says_so(tmp_path):
    write(tmp_path / "items.json", rows(2000))
    loaded = load(config(path="items.json"), base=tmp_path)
    assert len(loaded.splits.test) == 1000
    assert loaded.manifest.num_unused == 400
    assert any("400 of 2000 items are unused" in warning for warning in loaded.warnings)
    assert len(load(config(path="items.json", split=[2, 1, 7]), base=tmp_path).splits.test) == 1400


@pytest.mark.parametrize("name", ["{}/items.json", "{}/items.jsonl", "{}.json", "{}.jsonl"])
def test_a_split_folder_is_taken_as_it_is(tmp_path, name):
    for split, count in (("train", 5), ("val", 2), ("test", 3)):
        content = [
            row | {"id": f"{split}{row['id']}", "question": f"{split} {row['id']}"} for row in rows(count)
        ]
        text = json.dumps(content) if name.endswith(".json") else "\n".join(map(json.dumps, content))
        path = tmp_path / "data" / name.format(split)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    loaded = load(config(split_dir="data", split=[2, 1, 7]), base=tmp_path)
    assert [item.id for item in loaded.splits.val] == ["vali0", "vali1"]
    assert (len(loaded.splits.train), len(loaded.splits.test)) == (5, 3)
    assert loaded.manifest.ratio is None
    assert len(loaded.manifest.sources) == 3


def test_csv_files_make_a_split_folder_too(tmp_path):
    for split in Split:
        (tmp_path / f"{split}.csv").write_text(f"question,answers\nq {split},1987\n", encoding="utf-8")
    assert load(config(split_dir="."), base=tmp_path).splits.test[0].answers == ("1987",)


def test_no_data_at_all_says_what_is_missing_and_the_ways_on(tmp_path):
    with pytest.raises(DataError, match=r"dataset\.path=FILE.*dataset\.split_dir=FOLDER.*dataset=demo"):
        load(config(), base=tmp_path)


def test_a_missing_path_is_named_with_what_was_tried(tmp_path):
    tried = tmp_path / "data" / "none.jsonl"
    with pytest.raises(DataError, match=rf"dataset\.path=data/none\.jsonl does not exist; tried {tried}"):
        load(config(path="data/none.jsonl"), base=tmp_path)
    with pytest.raises(
        DataError, match=rf"dataset\.split_dir=none does not exist; tried {tmp_path / 'none'}"
    ):
        load(config(split_dir="none"), base=tmp_path)


def test_a_missing_split_is_named_with_what_the_folder_holds(tmp_path):
    write_folder(tmp_path / "data", train=rows(3), valid=rows(3), test=rows(3))
    with pytest.raises(DataError, match=r"data: no val split; tried .*holds test, train, valid"):
        load(config(split_dir="data"), base=tmp_path)


def test_two_files_for_one_split_are_an_error(tmp_path):
    write_folder(tmp_path, train=rows(3), val=rows(3), test=rows(3))
    write(tmp_path / "train.json", rows(3))
    with pytest.raises(DataError, match=r"train/items\.json and train\.json"):
        load(config(split_dir="."), base=tmp_path)


def test_a_file_for_a_folder_and_a_folder_for_a_file_are_told_apart(tmp_path):
    write(tmp_path / "items.json", rows(3))
    with pytest.raises(DataError, match=r"use dataset\.path=items\.json"):
        load(config(split_dir="items.json"), base=tmp_path)
    with pytest.raises(DataError, match=r"use dataset\.split_dir=\."):
        load(config(path="."), base=tmp_path)


def test_home_and_environment_are_expanded(tmp_path, monkeypatch):
    write(tmp_path / "items.json", rows(10))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DATA_HERE", str(tmp_path))
    for path in ("~/items.json", "$DATA_HERE/items.json", "${DATA_HERE}/items.json"):
        assert load(config(path=path), base=Path("/")).manifest.num_source_items == 10


@pytest.mark.parametrize("key", [{"limit": 3}, {"split_field": "part"}])
def test_a_key_without_effect_on_a_split_folder_is_refused(tmp_path, key):
    write_folder(tmp_path, train=rows(3), val=rows(3), test=rows(3))
    with pytest.raises(UsageError, match=rf"dataset\.{next(iter(key))}=null"):
        load(config(split_dir=".", **key), base=tmp_path)


def test_an_empty_split_is_never_filled_from_another(tmp_path):
    write(
        tmp_path / "items.json", [*rows(4, part="train"), {"question": "q", "answers": "a", "part": "test"}]
    )
    with pytest.raises(DataError, match="the val split is empty"):
        load(config(path="items.json", split_field="part"), base=tmp_path)


def test_fewer_than_three_items_cannot_be_split(tmp_path):
    write(tmp_path / "items.json", rows(2))
    with pytest.raises(DataError, match="has 2 items; at least 3"):
        load(config(path="items.json"), base=tmp_path)


def test_a_field_can_say_the_split(tmp_path):
    content = [row | {"part": ("train", "val", "test")[n % 3]} for n, row in enumerate(rows(9))]
    write(tmp_path / "items.json", content)
    loaded = load(config(path="items.json", split_field="part"), base=tmp_path)
    assert [item.id for item in loaded.splits.val] == ["i1", "i4", "i7"]
    assert loaded.manifest.split_field == "part"


def test_partly_labelled_records_are_an_error(tmp_path):
    content = [row | {"part": "train"} for row in rows(5)]
    content[1]["part"] = None
    del content[3]["part"]
    write(tmp_path / "items.json", content)
    with pytest.raises(DataError, match=r"2 of 5 records .*: record 2, items\.json: record 4"):
        load(config(path="items.json", split_field="part"), base=tmp_path)


@pytest.mark.parametrize("label", ["validation", "Train", 1, ["train"]])
def test_an_unknown_split_name_is_an_error(tmp_path, label):
    write(tmp_path / "items.json", [*rows(1, part=label)])
    with pytest.raises(DataError, match=r"items\.json: record 1: .*a split is train, val, test"):
        load(config(path="items.json", split_field="part"), base=tmp_path)


def test_an_id_in_two_splits_is_an_error_naming_both_files(tmp_path):
    write_folder(tmp_path, train=rows(3), val=rows(1), test=[{"id": "z", "question": "q", "answers": "a"}])
    with pytest.raises(DataError, match=r"'i0' at train/items\.json: record 1 and val/items\.json: record 1"):
        load(config(split_dir="."), base=tmp_path)


def test_repeats_without_ids_are_dropped_and_counted(tmp_path):
    bare = [{"question": f"q{n % 10}", "answers": "a"} for n in range(13)]
    write(tmp_path / "items.json", bare)
    loaded = load(config(path="items.json"), base=tmp_path)
    assert loaded.manifest.num_source_items == 13
    assert loaded.manifest.num_dropped == 3
    assert len(ids(loaded.splits)) == 10
    assert any("3 records dropped" in warning for warning in loaded.warnings)


def test_limit_takes_items_by_seed_and_is_recorded(tmp_path):
    write(tmp_path / "items.json", rows(100))
    one = load(config(path="items.json", limit=30), base=tmp_path)
    other = load(config(path="items.json", limit=30, split_seed=7), base=tmp_path)
    assert len(ids(one.splits)) == one.manifest.limit == 30
    assert one.manifest.num_unused == 70
    assert set(ids(one.splits)) != set(ids(other.splits))


def test_a_source_smaller_than_meant_is_warned_about(tmp_path):
    write(tmp_path / "items.json", rows(30))
    (warning,) = load(config(path="items.json", min_source_items=5000), base=tmp_path).warnings
    assert "the source has 30 items" in warning
    assert "at least 5000" in warning
    assert load(config(path="items.json", min_source_items=30), base=tmp_path).warnings == ()


def test_shuffled_answers_leave_the_knowledge_true(tmp_path):
    write(tmp_path / "items.json", rows(60))
    true = load(config(path="items.json"), base=tmp_path)
    control = load(config(path="items.json", shuffle_answers=True), base=tmp_path)
    assert control.knowledge == true.knowledge
    assert ids(control.splits) == ids(true.splits)
    for split in Split:
        dealt, kept = getattr(control.splits, split), getattr(true.splits, split)
        assert all(one.answers != other.answers for one, other in zip(dealt, kept, strict=True))
        assert {one.answers for one in dealt} == {one.answers for one in kept}
    assert control.manifest.train.sha256 != true.manifest.train.sha256


def test_the_manifest_rebuilds_the_splits(tmp_path):
    write(tmp_path / "data" / "items.json", rows(50))
    keys = config(path="data/items.json", split=[2, 1, 1], split_seed=9, limit=40)
    first = load(keys, base=tmp_path)
    manifest = json.loads(first.manifest.to_json())
    assert manifest["sources"][0]["path"] == "data/items.json"
    assert manifest["sources"][0]["num_items"] == manifest["num_source_items"] == 50
    rebuilt = load(
        config(
            path=manifest["sources"][0]["path"],
            split=manifest["ratio"],
            split_seed=manifest["seed"],
            limit=manifest["limit"],
        ),
        base=tmp_path,
    )
    assert rebuilt == first
    assert manifest["train"]["ids"] == [item.id for item in first.splits.train]


def test_the_manifest_changes_with_the_content(tmp_path):
    write(tmp_path / "items.json", rows(50))
    before = load(config(path="items.json"), base=tmp_path).manifest
    changed = rows(50)
    index = int(before.val.ids[0][1:])
    changed[index]["answers"] = ["changed"]
    write(tmp_path / "items.json", changed)
    after = load(config(path="items.json"), base=tmp_path).manifest
    assert after.sources[0].sha256 != before.sources[0].sha256
    assert (after.train, after.test) == (before.train, before.test)
    assert after.val.ids == before.val.ids
    assert after.val.sha256 != before.val.sha256


def test_a_source_outside_the_launch_folder_is_recorded_by_its_full_path(tmp_path):
    path = write(tmp_path / "items.json", rows(10))
    assert load(config(path=str(path)), base=tmp_path / "run").manifest.sources[0].path == str(path)


@settings(max_examples=25, deadline=None)
@given(order=st.permutations(range(12)), has_ids=st.booleans())
def test_other_test_answers_change_nothing_in_train_and_val(tmp_path_factory, order, has_ids):
    folder = tmp_path_factory.mktemp("permuted")
    content = rows(40) if has_ids else [{k: v for k, v in row.items() if k != "id"} for row in rows(40)]
    write(folder / "items.json", content)
    before = load(config(path="items.json"), base=folder).splits
    place = {item.question: index for index, item in enumerate(before.test)}
    answers = [list(item.answers) for item in before.test]
    for row in content:
        index = place.get(str(row["question"]))
        if index is not None:
            row["answers"] = answers[order[index]]
    write(folder / "items.json", content)
    after = load(config(path="items.json"), base=folder).splits
    assert (after.train, after.val) == (before.train, before.val)
    assert [item.question for item in after.test] == [item.question for item in before.test]


def test_a_task_without_golds_behind_marks_loads_through_the_shared_keys(tmp_path):
    write(tmp_path / "items.json", rows(10, answers="so #### 4"))
    shared = DatasetConfig(name="mine", task="other", path="items.json")
    assert load(shared, base=tmp_path).splits.train[0].answers == ("so #### 4",)


@needs_shared
def test_the_searchqa_sample_loads_with_the_warnings_that_it_deserves():
    loaded = load(config(split_dir=str(SHARED / "searchqa_sample"), min_source_items=5000), base=Path("/"))
    assert (len(loaded.splits.train), len(loaded.splits.val), len(loaded.splits.test)) == (6, 3, 3)
    golds = {answer for item in loaded.splits for answer in item.answers}
    assert {'"Seasons In The Sun"', "Grauman\\'s Chinese Theater", "Jif"} <= golds
    assert any(item.context == "" for item in loaded.splits)
    (warning,) = loaded.warnings
    assert "12 items" in warning


@needs_shared
@pytest.mark.parametrize("name", ["date_understanding", "snarks", "tracking_shuffled_objects_three_objects"])
@pytest.mark.parametrize("records", ["examples", None])
def test_the_bbh_files_load_with_and_without_the_name_of_their_list(name, records):
    keys = config(
        path=str(SHARED / "bbh" / f"{name}.json"),
        records=records,
        fields=FieldsConfig(question="input", answers="target"),
    )
    loaded = load(keys, base=Path("/"))
    assert loaded.manifest.num_source_items == (178 if name == "snarks" else 250)
    assert all(item.answers[0].startswith("(") for item in loaded.splits)


@needs_shared
def test_gsm8k_golds_are_the_numbers_behind_the_marks():
    keys = config(
        path=str(SHARED / "gsm8k" / "test.jsonl"),
        fields=FieldsConfig(answers="answer"),
        gold_after="####",
        split=[2, 1, 7],
    )
    loaded = load(keys, base=Path("/"))
    assert len(ids(loaded.splits)) == 1319
    known = {item.question: item.answers for item in loaded.splits}
    first = json.loads((SHARED / "gsm8k" / "test.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert known[first["question"]] == ("18",)


def test_an_items_digest_ignores_its_id(tmp_path):
    write(tmp_path / "items.json", rows(3))
    item = load(config(path="items.json"), base=tmp_path).splits.train[0]
    assert item_digest(item) == item_digest(replace(item, id="other"))
