"""The simulated target: how often it is right, and under which skill."""

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from simulation.simulated_items import GOOD_SKILL, answer_of, bbh_items, gsm8k_items, quiz_items

from skillopt_exp.config.dataset import Scorer
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Item
from skillopt_exp.simulation import simulation
from skillopt_exp.simulation.target import Habit, Target
from skillopt_exp.simulation.target.spoiling import applicable, spoil
from skillopt_exp.tasks.scoring import score

RECIPE = (
    "# Tomato soup\n\nChop two onions and fry them in butter. Add tomatoes and simmer for twenty minutes. "
    "Keep the heat low, do not add too much salt, and check the seasoning before serving."
)
COMMIT_STYLE = (
    "# Commit messages\n\nKeep the subject line short. Use the imperative mood and do not end it with a full "
    "stop. Explain in the body why the change was made. Name one topic only in each commit."
)
HARMFUL = (
    "Answer in a full sentence. Explain your reasoning inside the answer. If unsure, give two candidates."
)

DATA: dict[str, tuple[Callable[[], list[Item]], Scorer]] = {
    "quiz": (lambda: quiz_items(600), Scorer.exact),
    "date": (lambda: bbh_items("date_understanding"), Scorer.choice),
    "snarks": (lambda: bbh_items("snarks"), Scorer.choice),
    "tracking": (lambda: bbh_items("tracking_shuffled_objects_three_objects"), Scorer.choice),
    "gsm8k": (gsm8k_items, Scorer.numeric),
}


ABSURD_NUMBERS = (
    "9" * 309,
    "9" * 5000,
    "$" + "9" * 5000,
    "9" * 5000 + " km",
    "9" * 5000 + "/3",
    "1e999999",
    "-1e-999999",
    "10^" + "9" * 5000,
    "1/0",
    "0/0",
    "-0",
    "²",
)
"""Numbers that do not fit into a float, that Python makes no integer of, or that are none at all."""

texts = st.one_of(st.text(max_size=40), st.sampled_from(ABSURD_NUMBERS))


@settings(deadline=None)
@given(st.builds("{}{}{}".format, st.text(max_size=3), texts, st.text(max_size=3)), texts, texts)
def test_whatever_the_gold_every_habit_spoils_it_or_does_not_apply(
    gold: str, question: str, context: str
) -> None:
    item = Item(id="1", question=question, answers=(gold,), context=context)
    for habit in Habit:
        assert isinstance(spoil(item, habit), str | None)


@pytest.mark.parametrize("gold", ABSURD_NUMBERS)
@pytest.mark.parametrize("scorer", [Scorer.numeric, Scorer.exact, Scorer.f1, Scorer.contains, Scorer.choice])
def test_absurd_numbers_are_scored_like_any_text(scorer: Scorer, gold: str) -> None:
    for said in ABSURD_NUMBERS:
        assert 0 <= score(scorer, [gold], said).hard <= score(scorer, [gold], said).soft <= 1


def share_solved(items: list[Item], scorer: Scorer, skill: str) -> float:
    served = simulation(items)
    solved = [score(scorer, item.answers, answer_of(served, item, skill)).hard for item in items]
    return sum(solved) / len(solved)


@pytest.mark.parametrize("name", DATA)
def test_the_skill_decides_how_often_the_target_is_right(name: str) -> None:
    load, scorer = DATA[name]
    items = load()
    empty = share_solved(items, scorer, "")
    assert 0.30 <= empty <= 0.40
    assert share_solved(items, scorer, GOOD_SKILL) > 0.80
    assert share_solved(items, scorer, RECIPE) == empty
    assert share_solved(items, scorer, COMMIT_STYLE) == empty
    assert share_solved(items, scorer, HARMFUL) < empty - 0.10


def test_each_cure_alone_helps_some_items() -> None:
    items = quiz_items(600)
    empty = share_solved(items, Scorer.exact, "")
    cures = [line for line in GOOD_SKILL.splitlines() if line.startswith("-")]
    gains = {cure: share_solved(items, Scorer.exact, cure) - empty for cure in cures[:6]}
    assert all(0.02 < gain < 0.30 for gain in gains.values()), gains


@pytest.mark.parametrize("name", DATA)
def test_every_habit_spoils_what_it_applies_to(name: str) -> None:
    load, scorer = DATA[name]
    spoiled = [(item, habit, spoil(item, habit)) for item in load()[:300] for habit in applicable(item)]
    right = [case for case in spoiled if score(scorer, case[0].answers, str(case[2])).hard == 1.0]
    assert len(spoiled) > 800
    assert right == []


def test_a_number_loses_its_unit_and_keeps_it_when_told_to() -> None:
    item = Item("q", "How long is the river?", ("42 km",))
    assert Habit.unit in applicable(item)
    assert spoil(item, Habit.unit) == "42"


def test_attempts_of_one_item_differ_seldom_and_repeat_exactly() -> None:
    items = quiz_items(600)
    served = simulation(items)
    first = [answer_of(served, item, seed=1) for item in items]
    assert first == [answer_of(served, item) for item in items]
    second = [answer_of(served, item, seed=2) for item in items]
    assert 0.02 < sum(one != two for one, two in zip(first, second, strict=True)) / len(items) < 0.10


def test_two_items_that_ask_the_same_and_expect_different_answers_are_refused_by_name() -> None:
    items = [Item("first", "Who?", ("Ada",)), Item("second", " Who? ", ("Bruno",))]
    with pytest.raises(UsageError, match=r"'first' and 'second'"):
        simulation(items)


def test_an_item_that_is_there_twice_is_no_matter() -> None:
    served = simulation([Item("first", "Who?", ("Ada",)), Item("second", "Who?", ("Ada",))])
    assert answer_of(served, Item("", "Who?", ("Ada",))) != "unknown"


def test_a_question_that_nobody_knows_gets_an_answer_all_the_same() -> None:
    assert answer_of(simulation([]), Item("q", "Who mapped the river?", ("Ada",))) == "unknown"


def right_item(items: list[Item]) -> Item:
    served = simulation(items)
    return next(item for item in items if answer_of(served, item) in item.answers)


def test_a_question_inside_another_one_is_not_taken_for_it() -> None:
    long = right_item(quiz_items(30))
    short = Item("short", long.question.partition(", ")[2], ("Nobody",))
    for items in ([short, long], [long, short]):
        assert answer_of(simulation(items), long) == long.answers[0]


@pytest.mark.parametrize(
    "wording",
    [
        "{question}",
        "Question: {question}",
        "Please tell me: {question} Thank you.",
        "## Question\n\n  {question}  \n\nGive the answer in tags.",
        "I was wondering about this, {question}, and could not find out",
    ],
)
def test_the_item_is_found_whatever_is_said_around_its_question(wording: str) -> None:
    items = quiz_items(30)
    item = right_item(items)
    prompt = Item("", wording.format(question=item.question), item.answers)
    assert answer_of(simulation(items), prompt) == item.answers[0]


def test_a_question_of_several_lines_is_found() -> None:
    items = [Item(str(n), f"Which is right?\nOptions:\n(A) {n}\n(B) {n + 1}", ("(A)",)) for n in range(40)]
    served = simulation(items)
    assert {answer_of(served, item) for item in items} >= {"(A)"}
    assert not any(answer_of(served, item) == "unknown" for item in items)


_TEXT = st.text(min_size=1, max_size=60)


@given(st.builds(Item, id=st.just("q"), question=_TEXT, answers=st.tuples(_TEXT), context=_TEXT), _TEXT)
def test_any_item_can_be_asked_about(item: Item, skill: str) -> None:
    assert answer_of(simulation([item]), item, skill) is not None


def test_the_answer_stands_in_tags_below_a_line_of_chatter() -> None:
    items = quiz_items(1)
    reply = Target(items).reply("", items[0].question, 1)
    assert re.fullmatch(r"[^<\n]+\n<answer>[^<\n]+</answer>", reply)
