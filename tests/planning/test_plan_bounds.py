"""What a run really asks lies within the plan, and each end of the plan is reached by some run."""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import count, product

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from planning.rehearsal import SETTINGS, planned, splits, train
from scripted import Answer, append

from skillopt_exp.batching import batches
from skillopt_exp.epoch import EpochSettings
from skillopt_exp.errors import ReplyFault
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Settings
from skillopt_exp.planning.counts import Patches, asked, cut
from skillopt_exp.planning.plan import Plan
from skillopt_exp.records import Fault, Message, Metric, PairPolicy, RateControl, Skill, Splits, UpdateMode
from skillopt_exp.schedule import Scheduler
from skillopt_exp.scoring import Scoring
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.stages.modes import MODES
from skillopt_exp.stats.criterion import Criterion, GateRule

SKILL_LIMIT = 40
"""In tokens. Holds a guidance and a rule, but no step's edits on top."""

gates = st.sampled_from([GateRule.strict, GateRule.accept_all])
ends = st.builds(
    EpochSettings,
    slow_update=st.booleans(),
    meta_skill=st.booleans(),
    samples=st.integers(1, 5),
    pair_policy=st.sampled_from(PairPolicy),
    gated=st.booleans(),
)


def limited(settings: Settings, mode: UpdateMode) -> Settings:
    """The settings in ``mode``, which may have no edit budget."""
    control = settings.rate_control if mode.budgeted else RateControl.none
    return replace(settings, update_mode=mode, rate_control=control)


patching = st.builds(
    replace,
    st.just(SETTINGS),
    num_epochs=st.integers(0, 3),
    batch_size=st.integers(1, 12),
    accumulation=st.integers(1, 3),
    learning_rate=st.integers(2, 4),
    min_learning_rate=st.integers(1, 2),
    scheduler=st.sampled_from(Scheduler),
    rate_control=st.sampled_from(RateControl),
    minibatch_size=st.integers(1, 5),
    merge_batch_size=st.integers(2, 4),
    failure_only=st.booleans(),
    gate=st.builds(GateSettings, st.just(Metric.soft), st.builds(Criterion, gates)),
    epoch_end=ends,
    scoring=st.builds(
        Scoring,
        repeats=st.integers(1, 2),
        block=st.sampled_from([None, 1, 2]),
        screened=st.booleans(),
        at_once=st.sampled_from([1, 4]),
    ),
    patience=st.sampled_from([None, 1, 2]),
    num_candidates=st.sampled_from([1, 1, 2]),
    max_skill_tokens=st.sampled_from([None, SKILL_LIMIT]),
)
# One edit has no other choice beside it: with several candidates a step applies two at least.
patching = patching.map(lambda run: replace(run, num_candidates=1) if run.min_learning_rate == 1 else run)
runs = st.builds(limited, patching, st.sampled_from(UpdateMode))
noting = st.builds(replace, runs, skill_aware=st.just(True), max_notes=st.none() | st.integers(1, 9))
data = st.builds(splits, st.integers(1, 14), st.integers(1, 4), st.integers(1, 3))
few = hypothesis_settings(max_examples=150, deadline=None)


def bounds(plan: Plan, stage: Stage) -> tuple[float, float]:
    calls = plan.stages[stage].calls
    assert calls.least is not None
    assert calls.expected is not None
    assert calls.most is not None
    assert calls.least <= calls.expected <= calls.most
    return calls.least, calls.most


def by_chance(seed: int) -> tuple[Answer, Answer]:
    """Models that fail, repeat themselves, fall silent, say nonsense and change their mind."""
    chance = random.Random(seed)
    solved, readable, eager = chance.random(), chance.random(), chance.random()

    def target(messages: Sequence[Message], stage: Stage) -> str:
        return "yes" if chance.random() < solved else "no"

    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        if chance.random() > readable:
            if chance.random() < 0.3:
                raise ReplyFault(Fault.truncated, "cut")
            return chance.choice(["I have no idea.", '{"edits": 3}', ""])
        some = chance.randrange(6) if chance.random() < eager else 0
        edit = {"op": "delete", "target": "- Be brief."}
        edits = [chance.choice([append(f"- Rule {chance.randrange(4)}."), edit]) for _ in range(some)]
        whole = {"new_skill": chance.choice(["- Rule 1.", f"- Rule {'long ' * 50}", "", "{}"])}
        return everything(
            edits=edits,
            revise_suggestions=[{"type": "add_rule", "instruction": chance.choice(["", "More."])}] * some,
            skill_candidates=[whole] * min(some, 2),
            appendix_notes=[f"Mind {chance.randrange(99)}." for _ in range(chance.randrange(5))],
            selected_indices=[chance.randrange(9) for _ in range(some)],
            learning_rate=chance.randrange(4),
            slow_update_content=chance.choice(["", "- Guidance 1.", "- Guidance 2."]),
            meta_skill_content="Look closer.",
            new_skill=chance.choice(["- Rule 1.", f"- Rule {'long ' * 50}"]),
        )

    return target, optimizer


def everything(**fields: object) -> str:
    """One reply that answers whatever was asked."""
    return json.dumps({"reasoning": "because", "failure_summary": "wrong", **fields})


@given(settings=runs | noting, splits=data, control=st.booleans(), seed=st.integers(0, 2**32))
@few
def test_a_run_of_any_outcome_stays_within_the_plan(
    settings: Settings, splits: Splits, control: bool, seed: int
) -> None:
    plan = planned(settings, splits, control=control)
    run = train(*by_chance(seed), settings, splits, control=control)
    for stage in Stage:
        least, most = bounds(plan, stage)
        assert run.asked[stage] <= most, stage
        assert run.asked[stage] >= least or not run.whole, stage
    assert plan.total.calls.least is not None
    assert plan.total.calls.most is not None
    assert run.asked.total() <= plan.total.calls.most
    assert run.asked.total() >= plan.total.calls.least or not run.whole


@given(settings=runs | noting, splits=data, control=st.booleans())
@few
def test_a_run_on_which_nothing_is_proposed_reaches_the_least_of_every_stage(
    settings: Settings, splits: Splits, control: bool
) -> None:
    if settings.epoch_end.pair_policy is PairPolicy.unchanged:
        # Nothing of what is unchanged can only be shown where something changed.
        settings = replace(settings, epoch_end=replace(settings.epoch_end, pair_policy=PairPolicy.mixed))
    plan = planned(settings, splits, control=control)
    nothing: dict[str, object] = {mode.name: [] for mode in MODES.values()}
    silent = everything(**nothing, slow_update_content="", meta_skill_content="")
    run = train(
        lambda messages, stage: "yes", lambda messages, stage: silent, settings, splits, control=control
    )
    assert {stage: run.asked[stage] for stage in Stage} == {stage: bounds(plan, stage)[0] for stage in Stage}
    assert run.asked.total() == plan.total.calls.least


@given(settings=runs | noting, splits=data, control=st.booleans())
@few
def test_a_run_on_which_everything_goes_wrong_reaches_the_most_of_every_stage(
    settings: Settings, splits: Splits, control: bool
) -> None:
    settings = certain(settings)
    plan = planned(settings, splits, control=control)
    run = train(
        worst_target(settings, splits), inventive(correct_at_once=False), settings, splits, control=control
    )
    assert {stage: run.asked[stage] for stage in Stage} == {stage: bounds(plan, stage)[1] for stage in Stage}
    assert run.asked.total() == plan.total.calls.most


@given(settings=runs | noting, splits=data, control=st.booleans())
@few
def test_the_expectation_is_what_happens_when_chance_has_no_part(
    settings: Settings, splits: Splits, control: bool
) -> None:
    settings = certain(settings)
    # How soon an evaluation can end is chance, too.
    settings = replace(settings, scoring=replace(settings.scoring, block=None))
    plan = planned(settings, splits, failure_rate=1.0, control=control)
    run = train(failing(settings), inventive(correct_at_once=True), settings, splits, control=control)
    for stage in Stage:
        assert run.asked[stage] == plan.stages[stage].calls.expected, stage


def test_pairs_of_a_kind_that_does_not_occur_are_not_asked_about() -> None:
    """The least of the policy that shows what is unchanged: every item was solved by a change of skill."""
    end = EpochSettings(slow_update=True, meta_skill=True, samples=3, pair_policy=PairPolicy.unchanged)
    # A gate that always leaves something to accept: no run under it is shorter than planned.
    gate = GateSettings(Metric.soft, Criterion(GateRule.accept_all))
    settings = replace(SETTINGS, epoch_end=end, batch_size=12, minibatch_size=12, gate=gate)
    score = failing(settings)

    def target(messages: Sequence[Message], stage: Stage) -> str:
        improved = messages[0].content.count("- Rule") > 2
        return score(messages, stage) if stage is not Stage.rollout else "yes" if improved else "no"

    run = train(target, inventive(correct_at_once=True), settings)
    assert run.asked[Stage.reflect] == 2 == bounds(planned(settings), Stage.reflect)[0], "one a step"


def certain(settings: Settings) -> Settings:
    """The settings without what else decides on calls: pairs that may not occur, notes that may not be
    enough, and notes that no shortening of the body makes room for."""
    settings = replace(settings, epoch_end=replace(settings.epoch_end, pair_policy=PairPolicy.mixed))
    if not settings.skill_aware:
        return settings
    return replace(settings, max_skill_tokens=None, max_notes=None if settings.max_notes is None else 1)


def failing(settings: Settings) -> Answer:
    """Solves no train item. On val each newer skill is a little better, so that candidates are accepted;
    where worse ones are accepted too, the first change is the best one."""
    accepts_all = settings.gate.criterion.rule is GateRule.accept_all
    guided_anyhow = settings.epoch_end.slow_update and not settings.epoch_end.gated

    def target(messages: Sequence[Message], stage: Stage) -> str:
        skill = messages[0].content
        if stage is Stage.rollout:
            return "no"
        if stage is Stage.screen:
            return "yes"
        newest = max(map(int, re.findall(r"\d+", skill)), default=0)
        if accepts_all:
            return f"{1 / newest if newest else 0.0:.9f}"
        handicap = 0.01 if guided_anyhow and Skill.GUIDANCE_START in skill else 1
        return f"{handicap * newest / 1e5:.9f}"

    return target


def worst_target(settings: Settings, splits: Splits) -> Answer:
    """As ``failing``, but fails so many of each batch that minibatches and merges are the most."""
    steps = batches(
        splits.train,
        batch_size=settings.batch_size,
        num_epochs=1,
        seed=settings.seed,
        accumulation=settings.accumulation,
    )
    fails = [flag for step in steps for flag in worst_failures(tuple(map(len, step.parts)), settings)]
    end = settings.epoch_end
    looks_back = 2 * min(end.samples, len(splits.train)) if end.slow_update or end.meta_skill else 0
    attempts, score = count(), failing(settings)

    def target(messages: Sequence[Message], stage: Stage) -> str:
        if stage is not Stage.rollout:
            return score(messages, stage)
        number = next(attempts)
        if number >= len(fails):
            number = (number - len(fails)) % (len(fails) + looks_back)  # each further epoch ends so
        return "no" if number < len(fails) and fails[number] else "yes"

    return target


def worst_failures(sizes: tuple[int, ...], settings: Settings) -> tuple[bool, ...]:
    """Which attempts fail where a step asks the most; the failures of a part come first."""

    def calls(failures: tuple[int, ...]) -> int:
        parts = (cut(size, failed, settings) for size, failed in zip(sizes, failures, strict=True))
        step = asked(sum(parts, Patches()), settings)
        notes = settings.skill_aware and step.failures > 0
        return step.reflect + step.aggregate + step.selects + step.rewrites + notes

    worst = max(
        product(*(range(size + 1) for size in sizes)), key=lambda failures: (calls(failures), sum(failures))
    )
    return tuple(place < failed for size, failed in zip(sizes, worst, strict=True) for place in range(size))


def inventive(*, correct_at_once: bool) -> Answer:
    """An optimizer that always has more new edits than are allowed; unreadable at first, if wanted, and
    then with more notes, too. The second of two notes is too many."""
    number, guidances, notes = count(1), count(1), 1 if correct_at_once else 4

    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        if not correct_at_once and len(messages) == 1:
            return "Let me think."
        newest = next(number)
        prompt = messages[0].content
        length = 16 * (next(guidances) if 'kind="slow_update"' in prompt else 1)
        room = re.search(r"of the (\d+) that it may have", prompt)
        if room is None:
            whole = f"- Rule {newest}{'!' * 200}"
        else:  # as long as the limit allows, so that the next candidate is over it again
            whole = f"- Rule {newest}.".ljust(4 * int(room[1]) - 8, "!")
        return everything(
            appendix_notes=[
                f"Mind {next(number)}." for _ in range(notes if 'kind="failure"' in prompt else 1)
            ],
            edits=[append(f"- Rule {next(number)}{'!' * 200}") for _ in range(6)],
            revise_suggestions=[{"type": "add_rule", "instruction": f"Add {newest}.{i}."} for i in range(6)],
            **{"skill_candidates": [{"new_skill": whole}] * 2} if "skill_candidates" in prompt else {},
            selected_indices=[0, 1, 2, 3],
            learning_rate=1,
            slow_update_content=f"- Guidance {newest}".ljust(length + 8, "!"),
            meta_skill_content="Look closer.",
            new_skill=whole,
        )

    return optimizer
