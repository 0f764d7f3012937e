"""What of val and test items may not stand in a candidate, and what may."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.leak import LeakCheck
from skillopt_exp.records import Item, Skill, Split, Splits
from skillopt_exp.simulation.optimizer.advice import ADVICE, HARMFUL, USELESS

PASSAGE = "The tower was raised by a guild of dyers after the flood had carried off the wooden bridge."
TEMPLATE = "Read the passage below and answer the question that follows it in a few words."


def item(name: str, *answers: str, question: str = "Who?", context: str = "") -> Item:
    return Item(name, question, answers, context)


def check(*held_out: Item, train: tuple[Item, ...] = (), split: Split = Split.val) -> LeakCheck:
    if split is Split.val:
        return LeakCheck(Splits(train, held_out, ()))
    return LeakCheck(Splits(train, (), held_out))


@pytest.mark.parametrize("split", [Split.val, Split.test])
@pytest.mark.parametrize(
    ("gold", "line"),
    [
        ("Zanzibar", "- Clues on spice islands mean Zanzibar."),
        ("Zanzibar", "- ZANZIBAR is a likely answer."),
        ("the peacock", "- The sacred bird is the peacock."),
        ("Lewis Carroll", "- If Alice is named, say lewis carroll."),
        ("C. S. Lewis", "- Narnia means C.S. Lewis."),
        ("1,987", "- Answer 1987 when a year is asked for."),
        ("12 furlongs", "- Distances are 12 furlongs."),
        ("徳川家康", "- 江戸の答えは徳川家康です。"),
    ],
)
def test_an_answer_of_a_held_out_item_is_found_and_named(split: Split, gold: str, line: str) -> None:
    found = check(item("q-17", gold), split=split).find(line, "")
    assert found is not None
    assert str(found) == f"answer of {split} item q-17: {gold!r}"


@pytest.mark.parametrize(
    ("gold", "line"),
    [
        ("yes", "- Answer yes or no."),
        ("No", "- No sentence, only the answer."),
        ("B", "- Answer with the letter, such as B."),
        ("(C)", "- Answer (C) in parentheses."),
        ("12", "- Use at most 12 words."),
        ("4.5", "- Round to 4.5 when asked."),
        ("the name", "- Give the full name."),
        ("not enough information", "- Say so when there is not enough information."),
        ("Turkey", "- Do not talk turkey."),
        ("US", "- Tell us the answer."),
        ("Zanzibar", "- Clues on Zanzibarians."),
        ("木", "- 木曜日に答える。"),
    ],
)
def test_what_is_common_is_no_leak(gold: str, line: str) -> None:
    assert check(item("q-17", gold)).find(line, "") is None


def test_labels_that_several_items_share_are_no_leak() -> None:
    labels = [item(f"q-{n}", ("sarcastic", "sincere")[n % 2]) for n in range(6)]
    assert check(*labels).find("- Answer sarcastic or sincere.", "") is None


def test_words_that_several_questions_use_are_no_leak() -> None:
    asked = [item(f"q-{n}", f"A{n}00", question=f"How many furlongs has field {n}?") for n in range(3)]
    assert check(item("x", "furlongs"), *asked).find("- Give lengths in furlongs.", "") is None


@pytest.mark.parametrize(
    ("name", "found"),
    [("demo-0007", True), ("geography_2021_final", True), ("7", False), ("1234", False), ("plain", False)],
)
def test_an_id_is_a_leak_where_it_can_be_nothing_else(name: str, found: bool) -> None:
    line = f"- As in {name}, answer briefly with 1234 words."
    assert (check(item(name, "yes")).find(line, "") is not None) is found
    assert check(item("demo-0007", "yes")).find("- See demo-00071.", "") is None


def test_a_long_piece_of_a_held_out_text_is_found_whatever_its_punctuation() -> None:
    leaks = check(item("q-17", "yes", context=PASSAGE))
    copied = "- Remember: after the flood had carried off the *wooden* bridge, dyers built."
    found = leaks.find(copied, "")
    assert found is not None
    assert (found.kind, found.item_id) == ("text", "q-17")
    assert found.match == "after the flood had carried off the wooden"
    assert leaks.find("- The tower was raised by dyers.", "") is None, "a few words are no long piece"


def test_what_train_items_say_too_is_no_leak() -> None:
    train = (item("t", "yes", question=f"{TEMPLATE} Is it?"),)
    leaks = check(item("q", "yes", question=f"{TEMPLATE} Was it?"), train=train)
    assert leaks.find(f"- {TEMPLATE}", "") is None


def test_lines_that_the_current_skill_has_are_the_users_own() -> None:
    leaks = check(item("q-17", "Zanzibar"))
    seed = "- Clues on spice islands mean Zanzibar."
    assert leaks.find(f"{seed}\n- Be brief.", seed) is None
    assert leaks.find(f"{seed}\n- Be brief, say Zanzibar.", seed) is not None


def test_the_order_of_the_test_answers_plays_no_part() -> None:
    one = check(item("a", "Zanzibar"), item("b", "Timbuktu"), split=Split.test)
    other = check(item("a", "Timbuktu"), item("b", "Zanzibar"), split=Split.test)
    for line in ("- Zanzibar.", "- Be brief."):
        assert (one.find(line, "") is None) is (other.find(line, "") is None)


GENERAL = [*(rule for advice in ADVICE.values() for rule in advice.rules), *USELESS, *HARMFUL]
COMMON_GOLDS = (
    "answer",
    "sentence",
    "question",
    "letter",
    "a number",
    "the name",
    "units",
    "yes",
    "no",
    "10",
)


@given(st.lists(st.sampled_from(GENERAL), min_size=1, max_size=8))
def test_general_rules_are_never_a_leak_of_common_answers(rules: list[str]) -> None:
    leaks = check(*(item(f"q-{n}", gold) for n, gold in enumerate(COMMON_GOLDS)))
    assert leaks.find("\n".join(rules), "") is None


@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=60))
def test_any_text_can_be_looked_at(candidate: str, answer: str, context: str) -> None:
    leaks = check(item("q-17", answer or "x", context=context))
    found = leaks.find(candidate, "")
    assert found is None or found.item_id == "q-17"
    assert leaks.find(candidate, candidate) is None


def test_the_marks_around_the_parts_of_a_skill_tell_of_no_item() -> None:
    about_marks = check(item("q-1", "appendix"), item("q-2", "slow update"))
    assert about_marks.find(Skill("- a", "- b", "- c").text, "- a") is None
    found = about_marks.find(Skill("- a", "- b", "- Say appendix.").text, "- a")
    assert found is not None
    assert found.item_id == "q-1"
