"""The gold answers of real files match themselves, and survive the check before a run."""

import json
from pathlib import Path

import pytest

from skillopt_exp.config.dataset import Scorer
from skillopt_exp.records import Item
from skillopt_exp.tasks.golds import check
from skillopt_exp.tasks.scoring import score

DATA = Path(__file__).parents[2].parent / "shared" / "data"
BBH = ["date_understanding", "snarks", "tracking_shuffled_objects_three_objects"]

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the real data files are not beside the repository")


def searchqa() -> list[Item]:
    records = [
        record
        for split in ("train", "val", "test")
        for record in json.loads((DATA / "searchqa_sample" / split / "items.json").read_text("utf-8"))
    ]
    return [
        Item(record["id"], record["question"], tuple(record["answers"]), record["context"] or "")
        for record in records
    ]


def bbh(name: str) -> list[Item]:
    examples = json.loads((DATA / "bbh" / f"{name}.json").read_text("utf-8"))["examples"]
    return [Item(str(n), example["input"], (example["target"],)) for n, example in enumerate(examples)]


def gsm8k() -> list[Item]:
    lines = (DATA / "gsm8k" / "test.jsonl").read_text("utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [
        Item(str(n), record["question"], (record["answer"].rpartition("####")[2].strip(),))
        for n, record in enumerate(records)
    ]


@pytest.mark.parametrize("scorer", [Scorer.exact, Scorer.f1, Scorer.contains])
def test_searchqa_golds_match_themselves_with_and_without_their_quotes(scorer: Scorer):
    items = searchqa()
    assert len(items) == 12
    assert check(scorer, items) == ()
    for item in items:
        for gold in item.answers:
            plain = gold.replace("\\", "").strip('"')
            for form in (gold, plain, plain.upper(), f"{plain.removeprefix('The ')}.", f"“{plain}”"):
                assert score(scorer, item.answers, form).hard == 1.0, (gold, form)


@pytest.mark.parametrize("name", BBH)
def test_bbh_golds_match_themselves_in_every_form_and_no_other_letter(name: str):
    items = bbh(name)
    assert check(Scorer.choice, items) == ()
    for item in items:
        letter = item.answers[0].strip("()")
        for form in (f"({letter})", letter, letter.lower(), f"The answer is ({letter}).", f"**{letter}**"):
            assert score(Scorer.choice, item.answers, form).hard == 1.0, (item.answers, form)
        other = "A" if letter != "A" else "B"
        assert score(Scorer.choice, item.answers, f"({other})").hard == 0.0


@pytest.mark.parametrize("name", BBH)
def test_an_option_s_bare_text_earns_nothing(name: str):
    for item in bbh(name):
        _, _, rest = item.question.partition(f"\n{item.answers[0]} ")
        text = rest.split("\n")[0]
        assert text
        assert score(Scorer.choice, item.answers, text).hard == 0.0, text
        assert score(Scorer.choice, item.answers, f"{item.answers[0]} {text}").hard == 1.0, text


def test_gsm8k_golds_match_themselves_in_every_dress():
    items = gsm8k()
    assert len(items) == 1319
    assert check(Scorer.numeric, items) == ()
    for item in items:
        (gold,) = item.answers
        value = int(gold.replace(",", ""))
        minus = "\u2212" if value < 0 else ""
        for form in (gold, str(value), f"{value:,}.00", f"${gold}.", f"So it is {minus}{abs(value)} eggs."):
            assert score(Scorer.numeric, item.answers, form).hard == 1.0, (gold, form)
        assert score(Scorer.numeric, item.answers, str(value + 1)).hard == 0.0
