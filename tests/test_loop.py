import json
from collections.abc import Sequence

import pytest
from scripted import Answer, EchoTask, ScriptedChat, append, items, patch_reply

from skillopt_exp.errors import ProviderError
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Settings, Trainer
from skillopt_exp.records import Message, Metric, Outcome, Rejection, Skill, Splits, StepTrace
from skillopt_exp.schedule import Scheduler
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.watch import Watcher

USEFUL, USELESS, HARMFUL = "- Say yes.", "- Be careful.", "- Say no."


class Listener(Watcher):
    """Keeps the traces of the steps and what was tested."""

    def __init__(self) -> None:
        self.traces: list[StepTrace] = []
        self.tests: list[str] = []

    def step(self, trace: StepTrace) -> None:
        self.traces.append(trace)

    def tested(self, which: str, skill: Skill, rollouts: Sequence[object]) -> None:
        self.tests.append(which)


def obedient(messages: Sequence[Message], stage: Stage) -> str:
    """A target that says what the last rule of its skill says; without one it solves every other item."""
    skill, question = messages[0].content, messages[1].content
    rules = [line for line in skill.splitlines() if line in (USEFUL, HARMFUL)]
    if rules:
        return "yes" if rules[-1] == USEFUL else "no"
    return "yes" if int(question[-1]) % 2 else "no"


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
    trainer, listener = make(always(patch_reply(append(USEFUL))))
    state = await trainer.train(Skill())
    assert state.current.skill.body == USEFUL
    assert state.best == state.current
    assert state.best.step == 1
    assert [trace.verdict.outcome for trace in listener.traces] == [Outcome.accepted, Outcome.unchanged]
    assert listener.traces[0].record.best_hard == 1.0


async def test_a_harmful_edit_is_rejected_and_remembered_without_its_score() -> None:
    trainer, listener = make(always(patch_reply(append(HARMFUL))))
    state = await trainer.train(Skill())
    assert state.current.skill == Skill()
    first, second = listener.traces
    assert str(first.verdict) == "rejected(by: score)"
    assert [edit.content for edit in first.state.step_buffer[0].rejected_edits] == [HARMFUL]
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
    assert second.verdict.outcome is Outcome.rejected


async def test_a_candidate_scored_before_costs_no_calls() -> None:
    trainer, listener = make(always(patch_reply(append(USELESS))))
    await trainer.train(Skill())
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.selection) == 6 + 6, "the seed and the candidate, once each"
    assert [len(trace.selection) for trace in listener.traces] == [6, 0]
    assert {trace.verdict.outcome for trace in listener.traces} == {Outcome.rejected}


async def test_no_patches_mean_an_unchanged_skill() -> None:
    trainer, listener = make(always("I have no idea."))
    state = await trainer.train(Skill(body="seed"))
    assert state.current.skill.body == "seed"
    assert {trace.verdict.outcome for trace in listener.traces} == {Outcome.unchanged}
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
    results = await trainer.test(state, Skill())
    assert trainer.target.count(Stage.test) == 2 * 6, "best and final are one text"
    assert listener.tests == ["baseline", "best", "final"]
    assert sum(rollout.score.hard for rollout in results["best"]) == 6


async def test_a_failure_of_the_provider_ends_the_step_and_is_no_score() -> None:
    class Refusal(Exception):
        pass

    def refusing(messages: Sequence[Message], stage: Stage) -> str:
        if stage is Stage.rollout:
            raise Refusal
        return "yes"

    trainer, listener = make(always(patch_reply()), target=refusing)
    with pytest.raises(Refusal):
        await trainer.train(Skill())
    assert listener.traces == []
