"""After training: what the test split says. Nothing after this decides anything."""

from collections.abc import Sequence

from skillopt_exp.flow import ordered
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.records import Item, Rollout, Skill, TrainState
from skillopt_exp.stages.rollout import rollout
from skillopt_exp.tasks.base import Task
from skillopt_exp.watch import Watcher


async def score_on_test(
    task: Task,
    target: Chat,
    items: Sequence[Item],
    *,
    seed_skill: Skill,
    state: TrainState,
    watcher: Watcher,
    repeats: int = 1,
) -> dict[str, tuple[Rollout, ...]]:
    """Baseline, best and final skill on the test ``items``, at once; equal texts are scored once.

    With several attempts an item, they stand side by side.
    """
    named = {"baseline": seed_skill, "best": state.best.skill, "final": state.current.skill}
    distinct = {skill.digest: skill for skill in named.values()}

    async def one(skill: Skill) -> tuple[Rollout, ...]:
        return await ordered(
            lambda asked: rollout(task, target, skill, asked[0], stage=Stage.test, attempt=asked[1]),
            [(item, number) for item in items for number in range(1, repeats + 1)],
        )

    results = dict(zip(distinct, await ordered(one, distinct.values()), strict=True))
    for which, skill in named.items():
        watcher.tested(which, skill, results[skill.digest])
    return {which: results[skill.digest] for which, skill in named.items()}
