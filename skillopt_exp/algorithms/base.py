"""The protocol of an optimizer, and the one that needs nothing but the loop."""

from dataclasses import dataclass
from typing import Protocol

from skillopt_exp.loop import Trainer
from skillopt_exp.records import Progress, Skill, TrainState


class Optimizer(Protocol):
    """Trains one skill. What it did, its watcher was told: the baseline, then one ``StepTrace`` a step."""

    async def train(self, seed_skill: Skill, progress: Progress | None = None) -> TrainState:
        """The state after the last step; its best skill is the result.

        With ``progress`` an earlier process came so far: its steps are not told again.

        Raises:
            ProviderError, OutageError, BudgetError, InterruptedRun: as the models raise them.
        """
        ...


class Algorithm(Protocol):
    """An algorithm with all its numbers decided."""

    def optimizer(self, trainer: Trainer) -> Optimizer:
        """The optimizer of one run.

        ``trainer`` holds what it works with (task, splits, the two chats, settings, watcher) and the parts
        of a step that it may use: ``begin``, ``resume``, ``rollouts``, ``judge``.
        """
        ...


@dataclass(frozen=True, slots=True)
class SkillOpt:
    """The loop itself. Without epochs it scores the seed skill and trains nothing."""

    def optimizer(self, trainer: Trainer) -> Optimizer:
        return trainer
