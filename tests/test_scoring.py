"""How much of val is asked: enough to decide as if all of it had been."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import ScriptedChat, append, items, patch_reply
from test_loop import HARMFUL, USEFUL, USELESS, Listener, always, make, nearly

from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Settings, Trainer
from skillopt_exp.records import Item, Message, Metric, Rollout, Score, Skill, Splits, StopReason
from skillopt_exp.schedule import Scheduler
from skillopt_exp.scoring import Scoring
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.stats.criterion import Criterion, GateRule
from skillopt_exp.tasks.base import Ask


class GradedTask:
    """The reply is the score: a number in [0, 1]."""

    name = "graded"

    async def rollout(self, item: Item, skill: str, ask: Ask, *, attempt: int) -> Rollout:
        reply = await ask((Message("system", skill), Message("user", f"{item.question} #{attempt}")))
        soft = float(reply.content)
        return Rollout(item, attempt, (reply,), reply.content, Score(float(soft == 1), soft))


class Run(Listener):
    """One training by chance, and what it came to."""

    def __init__(self, gate: GateSettings, scoring: Scoring, *, world: int, num_val: int) -> None:
        super().__init__()
        self.reason: StopReason | None = None

        def target(messages: Sequence[Message], stage: Stage) -> str:
            # Any answers whatever, but the same ones to the same question.
            drawn = random.Random(f"{world} {messages[0].content} {messages[1].content}")
            skill_is_good = drawn.random() < random.Random(f"{world} {messages[0].content}").random()
            return "1" if skill_is_good else drawn.choice(["0", "0.25", "0.5"])

        def optimizer(messages: Sequence[Message], stage: Stage) -> str:
            # Few rules, so that equal texts come again; told by everything that the prompt says.
            return patch_reply(append(f"- Rule {random.Random(messages[0].content).randrange(4)}."))

        self.target = ScriptedChat(target)
        self.trainer = Trainer(
            task=GradedTask(),
            splits=Splits(items("a", 8), items("b", num_val), items("c", 1)),
            target=self.target,
            optimizer=ScriptedChat(optimizer),
            settings=Settings(
                num_epochs=2,
                batch_size=3,
                seed=world,
                learning_rate=2,
                min_learning_rate=2,
                scheduler=Scheduler.constant,
                minibatch_size=2,
                merge_batch_size=4,
                failure_only=False,
                trajectory_chars=1000,
                gate=gate,
                scoring=scoring,
            ),
            watcher=self,
        )
        self.state = asyncio.run(self.trainer.train(Skill()))

    def stopped(self, reason: StopReason) -> None:
        self.reason = reason

    @property
    def decisions(self) -> list[Any]:
        return [(trace.judged.verdict.outcome, trace.judged.verdict.by) for trace in self.traces]


gates = st.builds(
    GateSettings,
    st.sampled_from(Metric),
    st.one_of(
        st.just(Criterion()),
        st.floats(0, 0.4).map(lambda margin: Criterion(GateRule.margin, margin=margin)),
        st.floats(0.01, 0.49).map(lambda alpha: Criterion(GateRule.significant, alpha=alpha)),
        st.integers(0, 3).map(lambda most: Criterion(no_regression=most)),
        st.just(Criterion(GateRule.accept_all)),
    ),
)


@given(
    gate=gates,
    world=st.integers(0, 10**6),
    num_val=st.integers(1, 30),
    block=st.integers(1, 12),
    repeats=st.integers(1, 3),
    screened=st.booleans(),
    at_once=st.sampled_from([1, 8, 64]),
)
def test_a_run_that_ends_evaluations_early_decides_as_one_that_asks_all(
    gate: GateSettings, world: int, num_val: int, block: int, repeats: int, screened: bool, at_once: int
) -> None:
    early = Run(gate, Scoring(repeats, block, screened, at_once), world=world, num_val=num_val)
    whole = Run(gate, Scoring(repeats, None, screened), world=world, num_val=num_val)
    assert early.decisions == whole.decisions
    assert early.state == whole.state, "the best skill, its scores and what the next step is shown"
    assert early.reason == whole.reason
    for short, full in zip(early.traces, whole.traces, strict=True):
        asked, all_asked = short.judged.selection, full.judged.selection
        if all_asked:
            assert set(asked) <= set(all_asked)
        if short.record.candidate_at_most is not None:
            assert len(asked) % (block * repeats) == 0, "whole blocks"
            bound, reached = short.record.candidate_at_most, full.judged.candidate.mean(gate.metric)
            assert bound is not None
            assert reached is not None
            assert reached <= bound + 1e-12
            assert short.record.candidate_hard is None, "what was not asked has no score"


def test_a_candidate_that_cannot_pass_any_more_is_spared_the_rest_of_val() -> None:
    trainer, listener = make(always(patch_reply(append(HARMFUL))), scoring=Scoring(block=2))
    asyncio.run(trainer.train(Skill()))
    record = listener.traces[0].record
    assert str(listener.traces[0].judged.verdict) == "rejected(by: score)"
    # Three of six items are failed and asked first; when two stay failed and the third may be won, the
    # next block loses one: the bound is then a tie.
    assert record.num_selection == 4
    assert record.candidate_at_most == pytest.approx(2 / 6)
    assert (record.p_value, record.num_won, record.num_lost) == (None, None, None)
    ids = [rollout.item.id for rollout in listener.traces[0].judged.selection]
    assert ids == sorted(ids), "in the order of the split"
    assert {"b0", "b2", "b4"} <= set(ids), "what the current skill fails comes first"


@pytest.mark.parametrize(("at_once", "most"), [(1, 4), (64, 6)])
def test_what_is_asked_ahead_follows_from_the_slots_and_what_is_kept_does_not(
    at_once: int, most: int
) -> None:
    scoring = Scoring(block=2, at_once=at_once)
    trainer, listener = make(always(patch_reply(append(HARMFUL))), scoring=scoring, batch_size=8)
    asyncio.run(trainer.train(Skill()))
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.selection) == 6 + most
    assert listener.traces[0].record.num_selection == 4


def test_several_attempts_are_numbered_and_averaged_within_the_item() -> None:
    run = Run(GateSettings(Metric.soft), Scoring(repeats=3), world=4, num_val=5)
    assert run.seed is not None
    assert (run.seed.num_items, len(run.seed.scores)) == (5, 15)
    numbers = [attempt for stage, attempt in run.target.attempts if stage is Stage.selection]
    assert set(numbers) == {1, 2, 3}
    assert {numbers.count(number) for number in (1, 2, 3)} == {len(numbers) // 3}


async def test_each_epoch_takes_a_new_sample_of_its_train_items() -> None:
    trainer, _ = make(always(patch_reply()), num_epochs=3)
    await trainer.train(Skill())
    assert isinstance(trainer.target, ScriptedChat)
    numbers = [attempt for stage, attempt in trainer.target.attempts if stage is Stage.rollout]
    assert numbers == [1] * 8 + [2] * 8 + [3] * 8


async def test_a_candidate_that_does_not_help_on_its_own_batch_never_meets_val() -> None:
    trainer, listener = make(always(patch_reply(append(USELESS))), scoring=Scoring(screened=True))
    await trainer.train(Skill())
    assert isinstance(trainer.target, ScriptedChat)
    assert [str(trace.judged.verdict) for trace in listener.traces] == ["rejected(by: screen)"] * 2
    assert trainer.target.count(Stage.selection) == 6, "the seed alone"
    assert trainer.target.count(Stage.screen) == 4 + 4
    assert listener.traces[0].record.num_screening == 4


async def test_a_candidate_that_helps_on_its_batch_goes_on_to_val() -> None:
    trainer, listener = make(always(patch_reply(append(USEFUL))), nearly, scoring=Scoring(screened=True))
    await trainer.train(Skill())
    first = listener.traces[0]
    assert str(first.judged.verdict) == "accepted"
    assert (first.record.num_screening, first.record.num_selection) == (4, 6)


async def test_training_ends_where_nothing_can_be_gained_any_more() -> None:
    trainer, listener = make(always(patch_reply(append(USEFUL))))
    ends = Ends(listener)
    state = await replace(trainer, watcher=ends).train(Skill())
    assert state.step == 1, "of two: the first solves all of val"
    assert ends.reasons == [StopReason.ceiling]


async def test_a_test_of_significance_ends_where_too_few_items_are_left_to_win() -> None:
    significant = GateSettings(Metric.hard, Criterion(GateRule.significant, alpha=0.1))
    trainer, listener = make(always(patch_reply(append(USEFUL))), gate=significant)
    ends = Ends(listener)
    state = await replace(trainer, watcher=ends).train(Skill())
    assert state.step == 0, "three won of three would be one in eight"
    assert ends.reasons == [StopReason.ceiling]


@pytest.mark.parametrize(("patience", "epochs"), [(1, 1), (2, 2), (None, 4)])
async def test_training_ends_when_patience_does(patience: int | None, epochs: int) -> None:
    trainer, listener = make(always(patch_reply(append(USELESS))), num_epochs=4, patience=patience)
    ends = Ends(listener)
    state = await replace(trainer, watcher=ends).train(Skill())
    assert state.step == epochs * 2
    assert ends.reasons == ([] if patience is None else [StopReason.patience])


async def test_patience_counts_from_the_last_accepted_candidate() -> None:
    def late(messages: Sequence[Message], stage: Stage) -> str:
        asked = len(listener.traces)
        return patch_reply(append(USEFUL if asked == 3 else USELESS))

    trainer, listener = make(late, nearly, num_epochs=6, patience=2)
    state = await trainer.train(Skill())
    assert state.current.step == 4, "the last step of the second epoch"
    assert state.step == 8, "two epochs later"


class Ends(Listener):
    """Passes on what it hears, and keeps why training ended."""

    def __init__(self, listener: Listener) -> None:
        super().__init__()
        self.traces = listener.traces
        self.reasons: list[StopReason] = []

    def stopped(self, reason: StopReason) -> None:
        self.reasons.append(reason)


async def test_an_equal_text_is_not_asked_again_what_it_was_asked_before_its_evaluation_ended() -> None:
    trainer, listener = make(
        always(patch_reply(append(HARMFUL))), num_epochs=3, scoring=Scoring(block=2), batch_size=8
    )
    await trainer.train(Skill())
    assert isinstance(trainer.target, ScriptedChat)
    assert [trace.record.num_selection for trace in listener.traces] == [4, 4, 4]
    assert trainer.target.count(Stage.selection) == 6 + 4, "the seed, and the candidate once"


async def test_a_text_that_met_val_before_is_not_screened_however_far_it_came() -> None:
    def once(messages: Sequence[Message], stage: Stage) -> str:
        # Helps on its batch at first, and never on val.
        return "yes" if stage is Stage.screen and messages[0].content else "no"

    for block in (None, 2):
        trainer, listener = make(
            always(patch_reply(append(USELESS))), once, num_epochs=2, scoring=Scoring(1, block, True)
        )
        await trainer.train(Skill())
        assert isinstance(trainer.target, ScriptedChat)
        assert trainer.target.count(Stage.screen) == 4, "in the first step alone"
        assert {str(trace.judged.verdict) for trace in listener.traces} == {"rejected(by: score)"}
