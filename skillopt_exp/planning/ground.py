"""What is the same however a run goes: its items with the size of their prompts, its steps, its seed."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from operator import add

from skillopt_exp.batching import Batch, batches, sample
from skillopt_exp.config.model import ModelConfig
from skillopt_exp.loop import Settings
from skillopt_exp.planning.prompts import Question, Size, questions, trajectories
from skillopt_exp.records import Item, Skill, Splits
from skillopt_exp.schedule import edit_budget
from skillopt_exp.stats.criterion import GateRule
from skillopt_exp.tasks.base import Task


@dataclass(frozen=True, slots=True)
class AtOnce:
    """Calls that may be under way at once."""

    target: int
    optimizer: int


def at_once(model: ModelConfig, analyst_workers: int) -> AtOnce:
    """What the endpoints allow; roles that ask one model at one place share the lower limit."""
    target, optimizer = model.target, model.optimizer
    if (target.base_url, target.name) == (optimizer.base_url, optimizer.name):
        shared = min(target.max_concurrency, optimizer.max_concurrency)
        return AtOnce(shared, min(shared, analyst_workers))
    return AtOnce(target.max_concurrency, min(optimizer.max_concurrency, analyst_workers))


@dataclass(frozen=True, slots=True)
class Ground:
    """A run before anything was asked.

    ``trajectory`` is what one train item adds to a reflect prompt on average, without what a model wrote.
    ``control`` says that test sees no skill at all, besides a seed that is one.
    """

    splits: Splits
    settings: Settings
    batches: tuple[Batch, ...]
    questions: Mapping[str, Question]
    trajectory: Size
    seed_bytes: int
    control: bool
    at_once: AtOnce

    @property
    def most_tested(self) -> int:
        """Distinct skills of the run that test can see: the seed, the best, a final one that is not the best.

        Most gates accept only what beats the best; any further skill needs one that does not.
        """
        ends = self.settings.epoch_end
        guided = ends.slow_update and self.settings.num_epochs > 1
        accepts_worse = self.settings.gate.criterion.rule is GateRule.accept_all
        if (accepts_worse and len(self.batches) + guided > 1) or (guided and not ends.gated):
            return 3
        return 2 if self.batches else 1

    @property
    def fewest_steps(self) -> int:
        """The steps that are taken at least: none where a seed skill may leave the gate nothing to accept."""
        settings, num_steps = self.settings, len(self.batches)
        if settings.gate.criterion.rule is not GateRule.accept_all:
            return 0
        if settings.patience is None:
            return num_steps
        return sum(batch.epoch <= settings.patience for batch in self.batches)

    def looked_back(self, epoch: int) -> tuple[Item, ...]:
        """The train items on which the end of ``epoch`` compares two skills."""
        return sample(
            self.splits.train, self.settings.epoch_end.samples, seed=self.settings.seed, epoch=epoch
        )

    def asked(self, items: tuple[Item, ...], skill_bytes: float) -> Size:
        """All ``items`` once under a skill of this many bytes."""
        return reduce(add, (self.questions[item.id].under(skill_bytes) for item in items), Size())

    def budget(self, step: int) -> int:
        """The edits that ``step`` may apply."""
        return edit_budget(
            step,
            len(self.batches),
            scheduler=self.settings.scheduler,
            first=self.settings.learning_rate,
            last=self.settings.min_learning_rate,
        )


async def survey(
    task: Task,
    splits: Splits,
    settings: Settings,
    seed_skill: Skill,
    at_once: AtOnce,
    *,
    control: bool,
) -> Ground:
    """Measure the prompts of all items. Asks nobody. ``control`` says whether no skill is tested, too."""
    share = 1 / max(1, len(splits.train))
    return Ground(
        splits=splits,
        settings=settings,
        batches=tuple(
            batches(
                splits.train,
                batch_size=settings.batch_size,
                num_epochs=settings.num_epochs,
                seed=settings.seed,
                accumulation=settings.accumulation,
            )
        ),
        questions=await questions(task, splits),
        trajectory=(await trajectories(splits.train, settings)).times(share),
        seed_bytes=len(seed_skill.text.encode()),
        control=control and bool(seed_skill.text),
        at_once=at_once,
    )
