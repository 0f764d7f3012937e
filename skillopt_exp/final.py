"""After training: what the test split says. Nothing after this decides anything."""

from collections.abc import Callable, Sequence

from skillopt_exp.flow import ordered
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.llm.ledger import SettledCall
from skillopt_exp.llm.listening import a_call
from skillopt_exp.records import ACall, Item, Rollout, Skill, TrainState
from skillopt_exp.stages.rollout import rollout
from skillopt_exp.tasks.base import Task
from skillopt_exp.watch import Watcher

Heard = Callable[[], Sequence[SettledCall]]
"""The calls that were settled since the last time."""


async def score_on_test(
    task: Task,
    target: Chat,
    items: Sequence[Item],
    *,
    seed_skill: Skill,
    state: TrainState,
    watcher: Watcher,
    control: bool,
    repeats: int = 1,
    heard: Heard = tuple,
) -> dict[str, tuple[Rollout, ...]]:
    """The skills of a run on the test ``items``: no skill at all, baseline, best and final.

    Equal texts are scored once, so that the control costs nothing where the baseline is no skill; with a
    baseline that is one, ``control`` asks for it. One skill comes after the other, so that it is known
    which of them a call was for: ``heard`` tells of the calls, of the stage ``test`` at least. With several
    attempts an item, they stand side by side.
    """
    named = {"baseline": seed_skill, "best": state.best.skill, "final": state.current.skill}
    if control or not seed_skill.text:
        named = {"control": Skill(), **named}
    asked = [(item, number) for item in items for number in range(1, repeats + 1)]
    heard()  # what came before is no skill's
    results: dict[str, tuple[tuple[Rollout, ...], ACall]] = {}
    for skill in named.values():
        if skill.digest not in results:
            rollouts = await _attempts(task, target, asked, skill)
            results[skill.digest] = (rollouts, a_call(heard()))
    for which, skill in named.items():
        watcher.tested(which, skill, *results[skill.digest])
    return {which: results[skill.digest][0] for which, skill in named.items()}


async def _attempts(
    task: Task, target: Chat, asked: Sequence[tuple[Item, int]], skill: Skill
) -> tuple[Rollout, ...]:
    return await ordered(
        lambda each: rollout(task, target, skill, each[0], stage=Stage.test, attempt=each[1]), asked
    )
