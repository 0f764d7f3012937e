"""``searchqa`` and ``qa``: how they are built, what the target is sent, what comes of its reply."""

import re
from collections.abc import Sequence

import pytest

from skillopt_exp import tasks
from skillopt_exp.config.dataset import DatasetConfig, QADatasetConfig, Scorer
from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.records import Item, Message, Rollout, Tool
from skillopt_exp.tasks.base import Ask

CONTEXT = "[DOC] [TLE] Oslo [PAR] The capital of Norway. [DOC] [TLE] Bergen [PAR] A city of rain."
WITH_CONTEXT = Item("q1", 'Its "fjord" is a port', ("Oslo",), CONTEXT)
WITHOUT_CONTEXT = Item("q2", "Capital of Norway?", ("Oslo",))


def config(**changes: object) -> QADatasetConfig:
    return QADatasetConfig(**{"name": "mine", "task": "qa", **changes})


def replying(text: str) -> Ask:
    async def ask(messages: Sequence[Message], /, *, tools: Sequence[Tool] = ()) -> Message:
        return Message("assistant", text)

    return ask


async def asked(item: Item, skill: str = "", **changes: object) -> Rollout:
    task = tasks.build(config(**changes))
    return await task.rollout(item, skill, replying("<answer>Oslo</answer>"), attempt=1)


@pytest.mark.parametrize("name", ["searchqa", "qa"])
def test_a_task_is_built_by_its_name(name: str):
    assert tasks.build(config(task=name)).name == name


def test_an_unknown_task_names_the_nearest_and_all():
    with pytest.raises(UsageError, match=r"'serchqa'.*did you mean 'searchqa'\?.*searchqa, qa"):
        tasks.build(config(task="serchqa"))
    with pytest.raises(UsageError, match=r"'zzz', which is no task; known are: searchqa, qa"):
        tasks.build(config(task="zzz"))


def test_a_configuration_without_the_keys_of_question_answering_is_refused():
    with pytest.raises(UsageError, match="base_qa"):
        tasks.build(DatasetConfig(name="mine", task="qa"))


@pytest.mark.parametrize("task", ["searchqa", "qa"])
async def test_the_skill_comes_first_and_the_question_word_for_word_last(task: str):
    rollout = await asked(WITH_CONTEXT, "# Skill\n\nBe exact.\n", task=task)
    system, user, reply = rollout.messages
    assert system == Message("system", "# Skill\n\nBe exact.\n")
    assert (user.role, reply.role) == ("user", "assistant")
    assert user.content.endswith('\n\n## Question\n\nIts "fjord" is a port')
    assert user.content.index("## Context") < user.content.index(CONTEXT) < user.content.index("## Question")


@pytest.mark.parametrize("skill", ["", " \n"])
async def test_an_empty_skill_sends_no_system_message(skill: str):
    rollout = await asked(WITH_CONTEXT, skill)
    assert [message.role for message in rollout.messages] == ["user", "assistant"]


@pytest.mark.parametrize("task", ["searchqa", "qa"])
async def test_an_item_without_passages_is_not_told_to_read_any(task: str):
    rollout = await asked(WITHOUT_CONTEXT, task=task)
    assert "## Context" not in rollout.messages[0].content
    assert "passages" not in rollout.messages[0].content


@pytest.mark.parametrize("task", ["searchqa", "qa"])
@pytest.mark.parametrize("item", [WITH_CONTEXT, WITHOUT_CONTEXT], ids=["passages", "none"])
async def test_the_instruction_asks_for_answer_tags_and_leaves_style_to_the_skill(task: str, item: Item):
    rollout = await asked(item, task=task)
    instruction = rollout.messages[0].content.split("\n\n")[0]
    assert "<answer>" in instruction
    assert "</answer>" in instruction
    assert not re.search(r"short|brief|concise|only|exact|word|letter|number|style", instruction)


async def test_ones_own_instruction_replaces_the_task_s_words_but_not_the_place_of_the_answer():
    own = await asked(WITH_CONTEXT, instruction="Solve the riddle.")
    assert own.messages[0].content.startswith("Solve the riddle. Put the final answer inside <answer>")
    full = await asked(WITH_CONTEXT, instruction="Say it as <answer>x</answer>.")
    assert full.messages[0].content.startswith("Say it as <answer>x</answer>.\n\n## Context")


async def test_passages_are_cut_to_the_budget_and_left_out_at_zero():
    first = await asked(WITH_CONTEXT, context_chars=60)
    assert "The capital of Norway." in first.messages[0].content
    assert "Bergen" not in first.messages[0].content
    none = await asked(WITH_CONTEXT, context_chars=0)
    assert "## Context" not in none.messages[0].content


@pytest.mark.parametrize(
    ("scorer", "gold", "reply", "hard"),
    [
        (Scorer.exact, "Oslo", "It is <answer>oslo</answer>", 1.0),
        (Scorer.exact, "Oslo", "It is Oslo", 0.0),
        (Scorer.contains, "Oslo", "It is Oslo", 1.0),
        (Scorer.choice, "(B)", "thinking...\nThe answer is (B).", 1.0),
        (Scorer.numeric, "18", "<answer>$18.00</answer>", 1.0),
        (Scorer.regex, "^O", "Oslo", 1.0),
        (Scorer.f1, "Oslo Norway", "<answer>Norway Oslo</answer>", 1.0),
    ],
)
async def test_a_reply_is_read_and_scored_by_the_scorer_of_the_configuration(
    scorer: Scorer, gold: str, reply: str, hard: float
):
    task = tasks.build(config(scorer=scorer))
    rollout = await task.rollout(Item("q", "?", (gold,)), "", replying(reply), attempt=1)
    assert rollout.score.hard == hard
    assert rollout.fault is None


def test_validation_uses_the_scorer_of_the_configuration():
    broken = [Item("q7", "?", ("(",))]
    with pytest.raises(DataError, match="q7"):
        tasks.build(config(scorer=Scorer.regex)).validate(broken)
    assert tasks.build(config(scorer=Scorer.numeric)).validate(
        [Item("q1", "?", ("5",)), Item("q2", "?", ("five",))]
    )
