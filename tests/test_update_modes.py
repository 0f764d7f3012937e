"""The update modes: what is proposed, how the candidate is made of it, and what never becomes one."""

import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from scripted import Answer, ScriptedChat
from test_loop import HARMFUL, USEFUL, Listener, failing, make

from skillopt_exp.commands.composing import compose
from skillopt_exp.decide import decide
from skillopt_exp.errors import ReplyFault, UsageError
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Trainer
from skillopt_exp.records import (
    Fault,
    Message,
    Outcome,
    RateControl,
    Rejection,
    Skill,
    Split,
    UpdateMode,
)

SUGGESTED, WHOLE = UpdateMode.rewrite_from_suggestions, UpdateMode.full_rewrite_minibatch


def suggest(*instructions: str) -> str:
    """A reply with these suggestions."""
    entries = [{"type": "add_rule", "title": "rules", "instruction": each} for each in instructions]
    return json.dumps({"failure_summary": "wrong", "revise_suggestions": entries})


def write(*skills: str, title: str = "rules") -> str:
    """A reply with these whole skills."""
    return json.dumps({"skill_candidates": [{"title": title, "new_skill": skill} for skill in skills]})


def suggesting(rewritten: str, *instructions: str) -> Answer:
    """An optimizer that suggests and merges to ``instructions``, and rewrites the skill to ``rewritten``."""

    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        match stage:
            case Stage.rewrite:
                return json.dumps({"new_skill": rewritten})
            case Stage.select:
                return '{"selected_indices": [1, 0], "learning_rate": 1, "reasoning": "one will do"}'
            case _:
                return suggest(*instructions)

    return optimizer


def made(optimizer: Answer, mode: UpdateMode, **changes: object) -> tuple[Trainer, Listener]:
    if not mode.budgeted:
        changes = {"rate_control": RateControl.none, **changes}
    return make(optimizer, update_mode=mode, **{"batch_size": 8, **changes})  # type: ignore[arg-type]


def asked(trainer: Trainer, stage: Stage) -> list[str]:
    assert isinstance(trainer.optimizer, ScriptedChat)
    return [messages[0].content for asked, messages in trainer.optimizer.asked if asked is stage]


async def test_selected_suggestions_are_worked_in_by_one_rewrite_of_the_body() -> None:
    optimizer = suggesting(USEFUL, "Say no.", "Say yes.", "Be brief.")
    trainer, listener = made(optimizer, SUGGESTED)
    state = await trainer.train(Skill(body="- Old.", guidance="- Keep calm.", appendix="- Mind it."))
    assert state.current.skill == Skill(USEFUL, "- Keep calm.", "- Mind it."), "other parts stay"
    record = listener.traces[0].record
    assert (record.edits_reflected, record.edits_merged) == (2 * 2, 3)
    assert (record.edits_proposed, record.edits_applied, record.edits_rejected) == (2, 2, {})
    (prompt,) = asked(trainer, Stage.rewrite)
    shown = json.loads(prompt.split("<suggestions>")[1].split("</suggestions>")[0])
    assert [each["instruction"] for each in shown] == ["Say yes.", "Say no."], "as ranked"
    assert "- Keep calm." in prompt, "what it may not change is shown"
    assert record.parse_paths == {"strict": 2 + 1 + 1 + 1}, "reflect, merge, ranking and rewrite"
    assert [path.value for path in listener.traces[0].selected.replies] == ["strict"] * 5


def cut(messages: Sequence[Message], stage: Stage) -> str:
    if stage is Stage.rewrite:
        raise ReplyFault(Fault.truncated, "cut at the limit")
    return suggest("Say yes.", "Be brief.")


PLACED = Skill(body="- Answer {question}.", guidance="- Keep calm.", appendix="- Mind it.")


@pytest.mark.parametrize(
    ("optimizer", "rejection"),
    [
        (cut, Rejection.unreadable),
        (lambda messages, stage: suggest("Say yes.", "Be brief."), Rejection.unreadable),
        (suggesting("", "Say yes.", "Be brief."), Rejection.bad_content),
        (suggesting('{"rule": "- Answer {question}."}', "Say yes.", "Be brief."), Rejection.bad_content),
        (suggesting("- Say yes.", "Say yes.", "Be brief."), Rejection.placeholders),
        (suggesting("- Answer {question} in {words}.", "Say yes.", "Be brief."), Rejection.placeholders),
        (suggesting("- Answer {question}.\n- Mind it.", "Say yes.", "Be brief."), Rejection.duplicate),
        (suggesting(PLACED.text, "Say yes.", "Be brief."), Rejection.no_change),
        (suggesting(replace(PLACED, appendix="- Mind.").text, "Say yes.", "Be brief."), Rejection.protected),
        (suggesting(f"- {{question}} {Skill.APPENDIX_END}", "Say yes.", "Be brief."), Rejection.protected),
    ],
)
async def test_a_rewrite_that_may_not_be_is_no_candidate_and_all_it_was_to_apply_is_rejected_for_one_reason(
    optimizer: Answer, rejection: Rejection
) -> None:
    trainer, listener = made(optimizer, SUGGESTED, target=failing)
    state = await trainer.train(PLACED)
    assert state.current.skill == PLACED
    trace = listener.traces[0]
    assert trace.judged.verdict.outcome is Outcome.unchanged
    assert trace.record.edits_rejected == {rejection: 2}
    assert trace.record.edits_applied + 2 == trace.record.edits_proposed == 2
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.selection) == 6, "the seed alone"
    said = [reason for reason in trace.selected.dropped if reason.startswith("rewrite reply: ")]
    assert len(said) == (rejection is Rejection.unreadable)
    assert trace.record.parse_paths.get("failed", 0) == (rejection is Rejection.unreadable)


async def test_a_suggestion_that_asks_for_nothing_never_reaches_the_rewrite() -> None:
    trainer, listener = made(suggesting(USEFUL, " ", "Say yes."), SUGGESTED)
    await trainer.train(Skill())
    record = listener.traces[0].record
    assert (record.edits_applied, record.edits_rejected) == (1, {Rejection.bad_content: 1})
    trainer, listener = made(suggesting(USEFUL, " "), SUGGESTED)
    await trainer.train(Skill())
    assert listener.traces[0].record.edits_rejected == {Rejection.bad_content: 1}
    assert asked(trainer, Stage.rewrite) == []


async def test_the_rate_control_counts_suggestions_as_it_counts_edits() -> None:
    optimizer = suggesting(USEFUL, "Say no.", "Say yes.", "Be brief.")
    trainer, listener = made(optimizer, SUGGESTED, rate_control=RateControl.autonomous)
    await trainer.train(Skill())
    record = listener.traces[0].record
    assert (record.edit_budget, record.edit_budget_reason, record.edits_proposed) == (1, "one will do", 1)
    assert '"instruction": "Say no."' in asked(trainer, Stage.select)[0]
    trainer, listener = made(optimizer, SUGGESTED, rate_control=RateControl.none)
    await trainer.train(Skill())
    record = listener.traces[0].record
    assert (record.edit_budget, record.edits_proposed) == (None, 3)
    assert "As many suggestions as the attempts call for" in asked(trainer, Stage.reflect)[0]


async def test_suggestions_that_were_not_kept_are_remembered() -> None:
    trainer, listener = made(suggesting(HARMFUL, "Say no."), SUGGESTED, batch_size=4)
    await trainer.train(Skill())
    assert str(listener.traces[0].judged.verdict) == "rejected(by: score)"
    memory = json.loads(asked(trainer, Stage.reflect)[-1].split("<memory>")[1].split("</memory>")[0])
    assert [each["instruction"] for each in memory[0]["rejected_edits"]] == ["Say no."]


async def test_each_minibatch_writes_a_whole_skill_and_one_is_made_of_them() -> None:
    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        return write(USEFUL) if stage is Stage.aggregate else write(HARMFUL, "- Second.", title="no")

    trainer, listener = made(optimizer, WHOLE, learning_rate=1, min_learning_rate=1)
    seed = Skill(body="- Old.", guidance="- Keep calm.", appendix="- Mind it.")
    state = await trainer.train(seed)
    assert state.current.skill == replace(seed, body=USEFUL)
    trace, record = listener.traces[0], listener.traces[0].record
    assert (record.edit_budget, record.edits_reflected, record.edits_merged) == (None, 2, 1)
    assert (record.edits_proposed, record.edits_applied) == (1, 1)
    assert [patch.dropped for patch in trace.patches] == [("more than the 1 asked for: rewrite 'no'",)] * 2
    assert asked(trainer, Stage.select) == asked(trainer, Stage.rewrite) == []
    (merge,) = asked(trainer, Stage.aggregate)
    assert merge.count(json.dumps(HARMFUL)) == 2
    assert not any("At most" in prompt for prompt in asked(trainer, Stage.reflect))


async def test_whole_skills_that_cannot_be_merged_leave_the_first() -> None:
    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        if stage is Stage.aggregate:
            return "They are all good."
        prompt = messages[0].content
        return write(USEFUL if prompt.index("question a") % 2 else HARMFUL, title=str(len(prompt)))

    trainer, listener = made(optimizer, WHOLE, target=failing)
    await trainer.train(Skill())
    trace = listener.traces[0]
    assert trace.merged.edits == trace.patches[0].edits
    assert any(reason.startswith("merge reply: ") for reason in trace.merged.dropped)
    assert trace.record.edits_proposed == 1


@pytest.mark.parametrize(
    ("skill", "rejection"),
    [
        ("", Rejection.bad_content),
        ("[1]", Rejection.bad_content),
        ("- Say yes.", Rejection.placeholders),
        (f"- {{question}}\n{Skill.GUIDANCE_START}", Rejection.protected),
        (PLACED.body, Rejection.no_change),
    ],
)
async def test_a_whole_skill_that_may_not_be_is_rejected_with_its_reason(
    skill: str, rejection: Rejection
) -> None:
    trainer, listener = made(lambda messages, stage: write(skill), WHOLE, target=failing)
    state = await trainer.train(PLACED)
    assert state.current.skill == PLACED
    assert listener.traces[0].record.edits_rejected == {rejection: 1}
    assert listener.traces[0].judged.verdict.outcome is Outcome.unchanged


async def test_a_whole_skill_that_was_not_kept_is_remembered_by_what_it_changed() -> None:
    trainer, _ = made(lambda messages, stage: write(HARMFUL, title="say no"), WHOLE, batch_size=4)
    await trainer.train(Skill())
    memory = json.loads(asked(trainer, Stage.reflect)[-1].split("<memory>")[1].split("</memory>")[0])
    assert memory[0]["rejected_edits"] == [
        {"title": "say no", "support_count": 1, "source_type": "failure"}
    ], "the text itself would fill the prompt"


async def test_a_minibatch_may_write_nothing() -> None:
    trainer, listener = made(lambda messages, stage: write(), WHOLE)
    await trainer.train(Skill(body="- Old."))
    assert listener.traces[0].judged.verdict.outcome is Outcome.unchanged
    assert asked(trainer, Stage.aggregate) == []


def test_without_an_edit_budget_the_banner_says_that_the_rates_are_not_used() -> None:
    def origins(*overrides: str) -> list[str]:
        config = compose(["model=simulated", *overrides])
        return [each.source for each in decide(config, dict.fromkeys(Split, 100)).origins[1:]]

    whole = "optimizer.skill_update_mode=full_rewrite_minibatch"
    unused = "not used: full_rewrite_minibatch has no edit budget"
    assert origins(whole) == origins(whole, "optimizer.learning_rate=5") == [unused] * 2
    assert origins("optimizer.lr_control_mode=none") == ["not used: lr_control_mode is none"] * 2
    assert not any("not used" in source for source in origins("optimizer.lr_control_mode=autonomous"))


def test_counting_edits_where_there_are_none_is_refused() -> None:
    both = ["optimizer.skill_update_mode=full_rewrite_minibatch", "optimizer.lr_control_mode=autonomous"]
    with pytest.raises(UsageError, match=r"lr_control_mode=none"):
        compose(["model=simulated", *both])
