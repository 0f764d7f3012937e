"""What a search of ``optimizer=gepa`` really asks lies within its plan, and within its budget of attempts."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import count

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from planning.rehearsal import SEED, SETTINGS, GradedTask, models, splits
from planning.test_plan_bounds import bounds, by_chance, everything
from scripted import Answer, ScriptedChat

from skillopt_exp.algorithms.gepa import Gepa, MinibatchCost
from skillopt_exp.config.spending import BudgetConfig
from skillopt_exp.errors import ProviderError
from skillopt_exp.final import score_on_test
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Settings, Trainer
from skillopt_exp.planning.case import Guesses
from skillopt_exp.planning.ground import AtOnce, survey
from skillopt_exp.planning.plan import Plan, plan_gepa
from skillopt_exp.records import Message, Metric, Splits
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.stats.criterion import Criterion, GateRule
from skillopt_exp.watch import Watcher

runs = st.builds(
    replace,
    st.just(SETTINGS),
    minibatch_size=st.integers(1, 5),
    gate=st.builds(
        GateSettings,
        st.just(Metric.soft),
        st.builds(Criterion, st.sampled_from([GateRule.strict, GateRule.accept_all])),
    ),
    max_skill_tokens=st.sampled_from([None, 40]),
)
data = st.builds(splits, st.integers(1, 14), st.integers(1, 4), st.integers(1, 3))
more = st.integers(0, 60)
"""Attempts beyond what the seed skill and one proposal need."""
few = hypothesis_settings(max_examples=60, deadline=None)


def searched(
    target: Answer, optimizer: Answer, settings: Settings, data: Splits, budget: int
) -> Counter[Stage]:
    """How often each stage asked, in a search with its test."""
    chats = ScriptedChat(target), ScriptedChat(optimizer)
    trainer = Trainer(GradedTask(), data, *chats, settings, Watcher())

    async def run() -> None:
        try:
            state = await Gepa(budget).optimizer(trainer).train(SEED)
        except ProviderError:
            return
        await score_on_test(
            trainer.task,
            trainer.target,
            data.test,
            seed_skill=SEED,
            state=state,
            control=True,
            watcher=Watcher(),
        )

    asyncio.run(run())
    return Counter(stage for chat in chats for stage, _ in chat.asked)


def planned(settings: Settings, data: Splits, budget: int, *, failure_rate: float = 0.5) -> Plan:
    async def whole() -> Plan:
        ground = await survey(GradedTask(), data, settings, SEED, AtOnce(4, 4), control=True)
        return await plan_gepa(
            ground, budget, models(), BudgetConfig(), Guesses(failure_rate, 5.0, 300, 2000)
        )

    return asyncio.run(whole())


def budget_of(settings: Settings, data: Splits, more: int) -> int:
    return MinibatchCost(settings.minibatch_size, len(data.val)).least + more


@given(settings=runs, data=data, more=more, seed=st.integers(0, 2**32), failure_rate=st.floats(0, 1))
@few
def test_a_search_of_any_outcome_stays_within_the_plan_and_its_budget(
    settings: Settings, data: Splits, more: int, seed: int, failure_rate: float
) -> None:
    budget = budget_of(settings, data, more)
    plan = planned(settings, data, budget, failure_rate=failure_rate)
    asked = searched(*by_chance(seed), settings, data, budget)
    for stage in Stage:
        least, most = bounds(plan, stage)
        assert asked[stage] <= most, stage
        if stage is not Stage.test:  # a search that gives up on the optimizer is not tested
            assert asked[stage] >= least, stage
    assert asked[Stage.rollout] + asked[Stage.selection] <= budget


@given(settings=runs, data=data, more=more)
@few
def test_proposals_that_never_can_be_read_reach_the_most_of_all_but_what_is_scored(
    settings: Settings, data: Splits, more: int
) -> None:
    """Up to the last iteration, which alone could have tried a new skill."""
    budget = budget_of(settings, data, min(more, 3 * settings.minibatch_size))
    asked = searched(never, lambda messages, stage: "I have no idea.", settings, data, budget)
    proposals = bounds(planned(settings, data, budget), Stage.reflect)[1] / 2
    assert asked[Stage.reflect] == 2 * proposals
    assert asked[Stage.rollout] == settings.minibatch_size * proposals
    assert asked[Stage.selection] == len(data.val)


@given(settings=runs, data=data, more=more)
@few
def test_proposals_that_always_help_are_scored_as_often_as_the_plan_says_at_most(
    settings: Settings, data: Splits, more: int
) -> None:
    settings = replace(settings, max_skill_tokens=None)
    budget, number = budget_of(settings, data, more), count(1)

    def target(messages: Sequence[Message], stage: Stage) -> str:
        newest = int("".join(filter(str.isdigit, messages[0].content)) or 0)
        return f"{newest / 1e5:.9f}"

    asked = searched(
        target, lambda *_: everything(new_skill=f"- Rule {next(number)}."), settings, data, budget
    )
    assert asked[Stage.selection] == bounds(planned(settings, data, budget), Stage.selection)[1]


def test_a_seed_skill_that_solves_all_of_val_reaches_the_least() -> None:
    data = splits()
    asked = searched(lambda *_: "yes", lambda *_: everything(), SETTINGS, data, 200)
    plan = planned(SETTINGS, data, 200)
    assert {stage: asked[stage] for stage in Stage} == {stage: bounds(plan, stage)[0] for stage in Stage}


def test_one_seed_is_one_search() -> None:
    data, asked = splits(14), []
    for _ in range(2):
        chance = random.Random(3)

        def target(messages: Sequence[Message], stage: Stage, chance: random.Random = chance) -> str:
            return "yes" if chance.random() < 0.5 else "no"

        asked.append(searched(target, by_chance(5)[1], SETTINGS, data, 300))
    assert asked[0] == asked[1]


def never(messages: Sequence[Message], stage: Stage) -> str:
    return "no"
