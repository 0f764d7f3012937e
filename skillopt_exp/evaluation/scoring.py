"""Asking the target: every item once under each skill, and what that took."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from skillopt_exp import llm, simulation
from skillopt_exp.evaluation.again import AN_EVALUATION, says_how_to_go_on
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.kept import Attempts
from skillopt_exp.evaluation.source import NamedSkill
from skillopt_exp.flow import ordered
from skillopt_exp.llm.answers import Answers
from skillopt_exp.llm.base import Chat
from skillopt_exp.llm.connect import Accounts, prices_of
from skillopt_exp.llm.ledger import SettledCall
from skillopt_exp.llm.listening import Listening, a_call
from skillopt_exp.llm.meter import Meter
from skillopt_exp.records import NO_CALLS, ACall, Item, Role, Skill, Usage
from skillopt_exp.runs.answers import open_answers
from skillopt_exp.runs.rollouts import RolloutLine, line_of
from skillopt_exp.signals import stop_in_good_order
from skillopt_exp.stages.rollout import rollout

Progress = Callable[[str, int], None]
"""Told of each attempt that ended: the name of its skill, and how many of that skill's have ended."""


NOTHING_PAID = Usage()


@dataclass(frozen=True, slots=True)
class Scored:
    """One skill's attempts, in the order of the items, and what was paid for them.

    ``origin`` says where attempts come from that were not made now. ``answered_by`` are the models that
    responses named, most frequent first.
    """

    named: NamedSkill
    attempts: tuple[RolloutLine, ...]
    usage: Usage = NOTHING_PAID
    a_call: ACall = NO_CALLS
    origin: str = ""
    answered_by: tuple[str, ...] = ()


def score_skills(
    bench: Bench, skills: Mapping[str, NamedSkill], kept: Mapping[str, Attempts], progress: Progress
) -> dict[str, Scored]:
    """Each of ``skills`` on every item of ``bench``, by the same names; equal texts are asked about once.

    ``kept`` are attempts that are not made again, by the digest of their skill.

    Raises:
        BudgetError: a cap is reached.
        ProviderError: the provider refused.
        InterruptedRun: it does not answer, or somebody stopped this.
        DataError: the store of answers is damaged.
    """
    # A simulated answer costs nothing and is always the same: the store is for what was paid.
    simulated = bench.prepared.simulated
    store = nullcontext(None) if simulated else open_answers(bench.prepared.config.cache, base=bench.base)
    with says_how_to_go_on(), store as answers:
        return asyncio.run(_score_skills(bench, skills, kept, answers, progress))


async def _score_skills(
    bench: Bench,
    skills: Mapping[str, NamedSkill],
    kept: Mapping[str, Attempts],
    answers: Answers | None,
    progress: Progress,
) -> dict[str, Scored]:
    transport = simulation.transport(bench.prepared.loaded.knowledge) if bench.prepared.simulated else None
    config, heard = bench.prepared.config, Listening()
    done: dict[str, Scored] = {}
    with stop_in_good_order():
        async with llm.connect(
            config.model.target_alone(),
            transport=transport,
            accounts=Accounts(answers, heard, config.budget),
            activity=AN_EVALUATION,
        ) as models:
            # One skill after the other, so that it is known which of them a call was for.
            for name, named in skills.items():
                digest = named.skill.digest
                twin = next((each for each in done if skills[each].skill.digest == digest), None)
                if twin is not None:
                    done[name] = _shared(done[twin], named, twin)
                elif digest in kept:
                    done[name] = Scored(named, kept[digest].lines, origin=kept[digest].origin)
                else:
                    attempts = await _attempts(bench, models.target, named.skill, partial(progress, name))
                    done[name] = _scored(bench, named, attempts, heard.take())
    return done


async def _attempts(
    bench: Bench, target: Chat, skill: Skill, told: Callable[[int], None]
) -> tuple[RolloutLine, ...]:
    ended = 0

    async def attempt(asked: tuple[Item, int]) -> RolloutLine:
        nonlocal ended
        item, number = asked
        made = await rollout(bench.prepared.task, target, skill, item, stage=bench.stage, attempt=number)
        ended += 1
        told(ended)
        return line_of(made)

    return await ordered(attempt, bench.attempts)


def _scored(
    bench: Bench, named: NamedSkill, attempts: tuple[RolloutLine, ...], calls: Sequence[SettledCall]
) -> Scored:
    """The attempts with accounts of their own."""
    meter = Meter(prices_of(bench.prepared.config.model))
    for call in calls:
        meter.record(call)
    return Scored(
        named=named,
        attempts=attempts,
        usage=meter.total(),
        a_call=a_call(calls),
        answered_by=meter.answering_models(Role.target),
    )


def _shared(twin: Scored, named: NamedSkill, name: str) -> Scored:
    """The same text under another name: it was paid for once."""
    return Scored(
        named=named,
        attempts=twin.attempts,
        a_call=twin.a_call,
        origin=twin.origin or f"the same text as {name}",
        answered_by=twin.answered_by,
    )
