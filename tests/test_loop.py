import json
from collections.abc import Sequence
from dataclasses import replace

import pytest
from scripted import Answer, EchoTask, ScriptedChat, append, items, patch_reply

from skillopt_exp.errors import ProviderError
from skillopt_exp.final import score_on_test
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Settings, Trainer
from skillopt_exp.records import (
    Message,
    Metric,
    Outcome,
    RateControl,
    Rejection,
    ScoredSkill,
    Skill,
    Splits,
    StepTrace,
)
from skillopt_exp.schedule import Scheduler
from skillopt_exp.skill import num_tokens
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.watch import Watcher

USEFUL, USELESS, HARMFUL = "- Say yes.", "- Be careful.", "- Say no."


class Listener(Watcher):
    """Keeps the traces of the steps and what was tested."""

    def __init__(self) -> None:
        self.traces: list[StepTrace] = []
        self.tests: list[str] = []
        self.seed: ScoredSkill | None = None

    def baseline(self, seed: ScoredSkill, selection: Sequence[object]) -> None:
        self.seed = seed

    def step(self, trace: StepTrace) -> None:
        self.traces.append(trace)

    def tested(self, which: str, skill: Skill, rollouts: Sequence[object], *rest: object) -> None:
        self.tests.append(which)


def obedient(messages: Sequence[Message], stage: Stage) -> str:
    """A target that says what the last rule of its skill says; without one it solves every other item."""
    skill, question = messages[0].content, messages[1].content
    rules = [line for line in skill.splitlines() if line in (USEFUL, HARMFUL)]
    if rules:
        return "yes" if rules[-1] == USEFUL else "no"
    return "yes" if int(question[-1]) % 2 else "no"


def nearly(messages: Sequence[Message], stage: Stage) -> str:
    """As ``obedient``, but for one val item that nothing solves, so that val has no ceiling to reach."""
    return "no" if messages[1].content == "question b0" else obedient(messages, stage)


def make(optimizer: Answer, target: Answer = obedient, **changes: object) -> tuple[Trainer, Listener]:
    settings = {
        "num_epochs": 1,
        "batch_size": 4,
        "seed": 1,
        "learning_rate": 2,
        "min_learning_rate": 2,
        "scheduler": Scheduler.constant,
        "minibatch_size": 2,
        "merge_batch_size": 4,
        "failure_only": True,
        "trajectory_chars": 1000,
        "gate": GateSettings(Metric.hard),
    } | changes
    listener = Listener()
    trainer = Trainer(
        task=EchoTask(),
        splits=Splits(items("a", 8), items("b", 6), items("c", 6)),
        target=ScriptedChat(target),
        optimizer=ScriptedChat(optimizer),
        settings=Settings(**settings),  # type: ignore[arg-type]
        watcher=listener,
    )
    return trainer, listener


def always(reply: str) -> Answer:
    return lambda messages, stage: reply


async def test_a_useful_edit_is_accepted_and_becomes_current_and_best() -> None:
    trainer, listener = make(always(patch_reply(append(USEFUL))), target=nearly)
    state = await trainer.train(Skill())
    assert state.current.skill.body == USEFUL
    assert state.best == state.current
    assert state.best.step == 1
    assert [trace.judged.verdict.outcome for trace in listener.traces] == [
        Outcome.accepted,
        Outcome.unchanged,
    ]
    assert listener.traces[0].record.best_hard == 5 / 6


async def test_a_harmful_edit_is_rejected_and_remembered_without_its_score() -> None:
    trainer, listener = make(always(patch_reply(append(HARMFUL))))
    state = await trainer.train(Skill())
    assert state.current.skill == Skill()
    first, second = listener.traces
    assert str(first.judged.verdict) == "rejected(by: score)"
    assert [each.edit.content for each in first.state.step_buffer[0].rejected_edits] == [HARMFUL]
    assert state.step_buffer == (), "the buffer ends with the epoch"
    assert isinstance(trainer.optimizer, ScriptedChat)
    shown = [messages[0].content for stage, messages in trainer.optimizer.asked if stage is Stage.reflect][-1]
    memory = json.loads(shown.split("<memory>")[1].split("</memory>")[0])
    assert memory == [
        {
            "step": 1,
            "outcome": "rejected",
            "failures": ["wrong"],
            "rejected_edits": [
                {
                    "op": "append",
                    "target": None,
                    "content": HARMFUL,
                    "support_count": 1,
                    "source_type": "failure",
                }
            ],
        }
    ]
    assert second.judged.verdict.outcome is Outcome.rejected


async def test_a_candidate_scored_before_costs_no_calls() -> None:
    trainer, listener = make(always(patch_reply(append(USELESS))))
    await trainer.train(Skill())
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.selection) == 6 + 6, "the seed and the candidate, once each"
    assert [len(trace.judged.selection) for trace in listener.traces] == [6, 0]
    assert {trace.judged.verdict.outcome for trace in listener.traces} == {Outcome.rejected}


async def test_no_patches_mean_an_unchanged_skill() -> None:
    trainer, listener = make(always("I have no idea."))
    state = await trainer.train(Skill(body="seed"))
    assert state.current.skill.body == "seed"
    assert {trace.judged.verdict.outcome for trace in listener.traces} == {Outcome.unchanged}
    assert all(trace.record.parse_paths == {"failed": trace.record.num_patches} for trace in listener.traces)


async def test_five_steps_of_unreadable_replies_end_the_run_with_the_reason() -> None:
    trainer, listener = make(always("I have no idea."), batch_size=1, target=lambda messages, stage: "no")
    with pytest.raises(ProviderError, match=r"5 steps in a row.*model\.optimizer\.name"):
        await trainer.train(Skill())
    assert len(listener.traces) == 5


async def test_an_unreadable_reply_is_asked_for_once_more_with_the_reason() -> None:
    def stubborn_once(messages: Sequence[Message], stage: Stage) -> str:
        return "no json here" if len(messages) == 1 else patch_reply(append(USEFUL))

    trainer, _ = make(stubborn_once)
    state = await trainer.train(Skill())
    assert state.current.skill.body == USEFUL
    assert isinstance(trainer.optimizer, ScriptedChat)
    corrections = [messages[-1].content for _, messages in trainer.optimizer.asked if len(messages) == 3]
    assert corrections
    assert all("could not be read" in text for text in corrections)


async def test_edits_over_the_budget_are_ranked_and_the_first_stay() -> None:
    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        match stage:
            case Stage.reflect:
                return patch_reply(append("- one"), append("- two"))
            case Stage.aggregate:
                return patch_reply(append("- one"), append("- two"), append("- three"))
            case _:
                return '{"selected_indices": [2, 9, 0, 1]}'

    trainer, listener = make(optimizer, batch_size=8)
    await trainer.train(Skill())
    trace = listener.traces[0]
    assert [edit.content for edit in trace.selected.edits] == ["- three", "- one"]
    record = trace.record
    assert (record.edits_reflected, record.edits_merged, record.edits_proposed) == (4, 3, 2)


def inventive(messages: Sequence[Message], stage: Stage) -> str:
    """Two edits of its own for every minibatch; merging keeps them all; one edit is wanted."""
    prompt = messages[0].content
    if "learning_rate" in prompt:
        return '{"reasoning": "they say the same", "learning_rate": 1}'
    match stage:
        case Stage.reflect:
            return patch_reply(append(f"- {len(prompt)} one"), append(f"- {len(prompt)} two"))
        case Stage.aggregate:
            return patch_reply(*(append(f"- Rule {number}.") for number in range(5)))
        case _:
            return '{"selected_indices": [4, 3, 2, 1, 0]}'


async def test_without_a_budget_every_edit_is_applied_and_nobody_ranks() -> None:
    trainer, listener = make(inventive, batch_size=8, learning_rate=1, rate_control=RateControl.none)
    await trainer.train(Skill())
    trace = listener.traces[0]
    assert [len(patch.edits) for patch in trace.patches] == [2, 2], "no patch is cut"
    assert (trace.record.edit_budget, trace.record.edits_applied) == (None, 5)
    assert isinstance(trainer.optimizer, ScriptedChat)
    assert trainer.optimizer.count(Stage.select) == 0
    shown = trainer.optimizer.asked[0][1][0].content
    assert "At most" not in shown
    assert "As many edits as the attempts call for" in shown


async def test_the_optimizer_may_say_how_many_edits_and_why() -> None:
    trainer, listener = make(inventive, batch_size=8, rate_control=RateControl.autonomous)
    await trainer.train(Skill())
    record = listener.traces[0].record
    assert (record.edit_budget, record.edit_budget_reason) == (1, "they say the same")
    assert [edit.content for edit in listener.traces[0].selected.edits] == ["- Rule 4."]
    assert record.parse_paths == {"strict": 2 + 1 + 2}, "reflect, merge, the rate and the ranking"


@pytest.mark.parametrize(
    ("said", "limit"),
    [("0", 0), ("2.0", 2), ("99", 5), ("-1", None), ("true", None), ('"two"', None), ("1.5", None)],
)
async def test_a_count_that_is_no_count_leaves_what_is_scheduled(said: str, limit: int | None) -> None:
    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        if "learning_rate" in messages[0].content:
            return f'{{"learning_rate": {said}}}'
        return inventive(messages, stage)

    trainer, listener = make(optimizer, batch_size=8, learning_rate=3, rate_control=RateControl.autonomous)
    await trainer.train(Skill())
    record = listener.traces[0].record
    assert record.edit_budget == (3 if limit is None else limit)
    assert record.edits_proposed == record.edit_budget
    assert ("as scheduled" in record.edit_budget_reason) is (limit is None)


async def test_a_step_of_several_batches_reflects_on_each_apart_and_merges_once() -> None:
    trainer, listener = make(inventive, batch_size=3, minibatch_size=4, accumulation=2, target=failing)
    await trainer.train(Skill())
    assert [len(trace.rollouts) for trace in listener.traces] == [6, 2], "ceil(8 / (3 * 2)) steps"
    assert [len(trace.patches) for trace in listener.traces] == [2, 1], "no minibatch crosses a batch"
    assert isinstance(trainer.target, ScriptedChat)
    assert isinstance(trainer.optimizer, ScriptedChat)
    assert trainer.optimizer.count(Stage.aggregate) == 1
    assert {skill.content for stage, (skill, _) in trainer.target.asked[6:14] if stage is Stage.rollout} == {
        ""
    }


def failing(messages: Sequence[Message], stage: Stage) -> str:
    return "no"


async def test_batches_of_one_step_wait_for_each_other() -> None:
    order: list[str] = []

    def target(messages: Sequence[Message], stage: Stage) -> str:
        order.append("attempt")
        return "no"

    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        order.append(str(stage))
        return patch_reply()

    trainer, _ = make(optimizer, target, batch_size=4, minibatch_size=4, accumulation=2)
    await trainer.train(Skill())
    assert order[6:] == [*["attempt"] * 4, "reflect", *["attempt"] * 4, "reflect"]


async def test_applied_and_rejected_edits_add_up_to_the_proposed_ones() -> None:
    reply = patch_reply(append(USELESS), {"op": "delete", "target": "- Not there"})
    trainer, listener = make(always(reply), minibatch_size=8)
    await trainer.train(Skill())
    record = listener.traces[0].record
    assert record.edits_rejected == {Rejection.anchor_missing: 1}
    assert record.edits_applied + sum(record.edits_rejected.values()) == record.edits_proposed == 2


async def test_reflection_sees_what_went_wrong_and_what_was_expected() -> None:
    trainer, _ = make(always(patch_reply()))
    await trainer.train(Skill(body="seed rule"))
    assert isinstance(trainer.optimizer, ScriptedChat)
    prompts = [messages[0].content for _, messages in trainer.optimizer.asked]
    shown = json.loads(prompts[0].split('<trajectories kind="failure">')[1].split("</trajectories>")[0])
    assert shown[0]["gold"] == ["yes"]
    assert shown[0]["prediction"] == shown[0]["reply"] == "no"
    assert shown[0]["feedback"] == "expected yes"
    assert shown[0]["task"].startswith("question a")
    assert "<skill>\nseed rule\n</skill>" in prompts[0]


async def test_successes_are_reflected_on_unless_switched_off() -> None:
    for failure_only, sources in ((True, {"failure"}), (False, {"failure", "success"})):
        trainer, listener = make(always(patch_reply()), failure_only=failure_only)
        await trainer.train(Skill())
        assert {str(patch.source) for trace in listener.traces for patch in trace.patches} == sources


async def test_test_is_scored_once_a_distinct_skill_and_after_the_last_step() -> None:
    trainer, listener = make(always(patch_reply(append(USEFUL))))
    state = await trainer.train(Skill())
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.test) == 0
    results = await score_on_test(
        trainer.task,
        trainer.target,
        trainer.splits.test,
        seed_skill=Skill(),
        state=state,
        watcher=listener,
        control=True,
    )
    assert trainer.target.count(Stage.test) == 2 * 6, "best and final are one text, and so are the others"
    assert listener.tests == ["control", "baseline", "best", "final"]
    assert sum(rollout.score.hard for rollout in results["best"]) == 6


LONG = "- " + " ".join(f"word{number}" for number in range(30))


def shortening(*replies: str) -> Answer:
    """An optimizer that proposes ``LONG`` and answers in turn when it is asked to say it in less."""
    left = list(replies)

    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        return left.pop(0) if "<long_skill>" in messages[0].content else patch_reply(append(LONG))

    return optimizer


async def test_a_candidate_that_is_too_long_is_sent_back_once_and_goes_on_shorter() -> None:
    shorter = json.dumps({"new_skill": USEFUL})
    trainer, listener = make(shortening(shorter), max_skill_tokens=20, batch_size=8)
    state = await trainer.train(Skill())
    record = listener.traces[0].record
    assert state.best.skill.body == USEFUL
    assert record.outcome is Outcome.accepted
    assert record.compaction is not None
    assert (record.compaction.before, record.compaction.after) == (num_tokens(LONG), num_tokens(USEFUL))


@pytest.mark.parametrize(
    "replies",
    [
        (json.dumps({"new_skill": LONG}),),
        (json.dumps({"skill_candidates": [{"new_skill": LONG + " more"}]}),),
        (json.dumps({"new_skill": '{"a": 1}'}),),
        (json.dumps({"new_skill": "- Say {x}."}),),
        ("nothing", "nothing again"),
    ],
)
async def test_a_candidate_that_stays_too_long_is_rejected_before_it_costs_a_val_call(
    replies: tuple[str, ...],
) -> None:
    trainer, listener = make(shortening(*replies), max_skill_tokens=20, batch_size=8)
    state = await trainer.train(Skill())
    assert state.current.skill == Skill()
    trace = listener.traces[0]
    assert str(trace.judged.verdict) == "rejected(by: length)"
    assert "at most 20" in trace.record.detail
    assert trace.record.candidate_hard is None
    assert [edit.content for edit in trace.state.step_buffer] == [], "the epoch has ended"
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.selection) == 6, "the seed alone"


async def test_a_skill_that_was_too_long_from_the_start_may_shrink() -> None:
    shrinking = always(patch_reply({"op": "delete", "target": "word29"}))
    trainer, listener = make(shrinking, max_skill_tokens=20, batch_size=8)
    await trainer.train(Skill(body=LONG))
    assert listener.traces[0].judged.verdict.by == "score"
    assert listener.traces[0].record.compaction is None


async def test_a_leak_is_rejected_with_its_match_before_it_costs_a_val_call() -> None:
    told = always(patch_reply(append("- Item zebra-42 is easy.")))
    trainer, listener = make(told, batch_size=8)
    val = (replace(trainer.splits.val[0], id="zebra-42"), *trainer.splits.val[1:])
    trainer = replace(trainer, splits=replace(trainer.splits, val=val))
    state = await trainer.train(Skill())
    record = listener.traces[0].record
    assert (record.outcome, record.by) == (Outcome.rejected, "leak")
    assert record.detail == "id of val item zebra-42: 'zebra-42'"
    assert state.current.skill == Skill()
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.selection) == 6


async def test_what_leaked_is_shown_to_nobody() -> None:
    told = always(patch_reply(append("- Item zebra-42 is easy.")))
    trainer, _ = make(told, batch_size=4)
    test = (replace(trainer.splits.test[0], id="zebra-42"), *trainer.splits.test[1:])
    trainer = replace(trainer, splits=replace(trainer.splits, test=test))
    await trainer.train(Skill())
    assert isinstance(trainer.optimizer, ScriptedChat)
    shown = [messages[0].content for stage, messages in trainer.optimizer.asked if stage is Stage.reflect][-1]
    assert "of test item" not in shown
    assert '"outcome": "rejected (by: leak)"' in shown


async def test_a_failure_of_the_provider_ends_the_step_and_is_no_score() -> None:
    class Refusal(Exception):
        pass

    def refusing(messages: Sequence[Message], stage: Stage) -> str:
        if stage is Stage.rollout:
            raise Refusal
        return "no"

    trainer, listener = make(always(patch_reply()), target=refusing)
    with pytest.raises(Refusal):
        await trainer.train(Skill())
    assert listener.traces == []


async def test_the_optimizer_is_told_why_an_edit_or_a_candidate_was_refused() -> None:
    nowhere = {"op": "replace", "target": "not there", "content": "- Say yes."}
    trainer, _ = make(always(patch_reply(append(LONG), nowhere)), max_skill_tokens=20)
    await trainer.train(Skill())
    assert isinstance(trainer.optimizer, ScriptedChat)
    shown = [messages[0].content for stage, messages in trainer.optimizer.asked if stage is Stage.reflect][-1]
    (step,) = json.loads(shown.split("<memory>")[1].split("</memory>")[0])
    assert step["outcome"] == "rejected (by: length)"
    assert [each.get("why") for each in step["rejected_edits"]] == [None, "anchor_missing"]
