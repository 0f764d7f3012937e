"""The bundled quiz: reproducible, answerable, and with the conventions of real golds."""

import json
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from skillopt_exp.config.dataset import QADatasetConfig
from skillopt_exp.data import load
from skillopt_exp.data.demo.build import FOLDER, as_gold, build, mentions, to_jsonl, without_article
from skillopt_exp.records import Item


@pytest.fixture(scope="module")
def facts():
    return tomllib.loads((FOLDER / "facts.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def items() -> tuple[Item, ...]:
    config = QADatasetConfig(name="demo", task="searchqa", path=str(FOLDER / "items.jsonl"))
    return load(config, base=Path("/")).knowledge


def passages(item: Item) -> list[str]:
    return item.context.split("[DOC] ")[1:]


def spoken(answer: str) -> str:
    return answer.replace("\\'", "'")


def test_the_committed_file_is_what_the_script_makes(facts):
    committed = (FOLDER / "items.jsonl").read_bytes()
    assert to_jsonl(build(facts)) == committed
    assert len(committed) < 1_300_000


def test_the_demo_loads_without_a_warning():
    config = QADatasetConfig(name="demo", task="searchqa", path=str(FOLDER / "items.jsonl"))
    loaded = load(config, base=Path("/"))
    assert loaded.warnings == ()
    assert [len(loaded.splits.train), len(loaded.splits.val), len(loaded.splits.test)] == [240, 120, 840]


def test_every_question_is_asked_once_and_never_says_its_answer(items):
    assert len({item.question for item in items}) == len(items) == 1200
    for item in items:
        assert not any(mentions(item.question, spoken(answer)) for answer in item.answers), item


def test_one_or_two_of_three_to_five_passages_hold_the_answer(items):
    for item in items:
        found = passages(item)
        assert 3 <= len(found) <= 5
        assert all(passage.startswith("[TLE] ") and passage.count(" [PAR] ") == 1 for passage in found)
        holding = [passage for passage in found if mentions(passage, spoken(item.answers[0]))]
        assert 1 <= len(holding) <= 2, item


def test_the_answer_stands_at_every_position(items):
    places = Counter(
        next(n for n, passage in enumerate(passages(item)) if mentions(passage, spoken(item.answers[0])))
        for item in items
    )
    assert set(places) == {0, 1, 2, 3}
    assert min(places.values()) > 50


def test_golds_have_the_conventions_of_real_ones(items):
    golds = [item.answers[0] for item in items]
    assert sum(gold != without_article(gold) for gold in golds) > 100
    assert sum(gold.startswith('"') and gold.endswith('"') for gold in golds) > 20
    assert sum("\\'" in gold for gold in golds) >= 10
    assert sum(gold[0].isdigit() and not gold.isdigit() for gold in golds) > 100
    assert sum(gold.isdigit() for gold in golds) > 20
    assert sum(len(item.answers) > 1 for item in items) > 20


def test_a_clue_that_says_its_answer_stops_the_build():
    words = {"noun": "river", "kind": "place", "plural": "rivers"}
    group = words | {"entries": [["the Nile", "is where the Nile is"]]}
    with pytest.raises(ValueError, match="says its answer"):
        build({"group": [group], "measure": []})


def test_too_few_facts_stop_the_build(facts):
    with pytest.raises(ValueError, match="write more facts"):
        build({"group": facts["group"][:2], "measure": []})


def test_every_item_is_of_one_of_six_groups_none_of_them_small(items):
    groups = Counter(item.group for item in items)
    assert groups.keys() == {"place", "nature", "person", "culture", "everyday life", "number"}
    assert min(groups.values()) > 90


def test_apostrophes_are_at_times_behind_a_backslash():
    assert {as_gold("Rubik's Cube", str(key)) for key in range(20)} == {"Rubik's Cube", "Rubik\\'s Cube"}


def test_the_items_have_the_fields_of_searchqa_files_and_a_group():
    first = json.loads((FOLDER / "items.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert list(first) == ["id", "question", "context", "answers", "group"]
