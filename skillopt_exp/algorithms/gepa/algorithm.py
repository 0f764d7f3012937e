"""The optimizer: begins or resumes a run, lets ``gepa`` search, ends with its best skill."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from skillopt_exp.algorithms.gepa.cost import MinibatchCost
from skillopt_exp.algorithms.gepa.search import Search
from skillopt_exp.algorithms.threads import Calls, in_thread
from skillopt_exp.loop import Trainer
from skillopt_exp.records import Progress, Skill, StopReason, TrainState

if TYPE_CHECKING:
    from gepa.core.callbacks import GEPACallback
    from gepa.core.state import GEPAState


@dataclass(frozen=True, slots=True)
class Gepa:
    """``max_metric_calls`` is the most attempts at train and val items, the seed skill's included."""

    max_metric_calls: int

    def optimizer(self, trainer: Trainer) -> "GepaOptimizer":
        return GepaOptimizer(trainer, self.max_metric_calls)


@dataclass(frozen=True, slots=True)
class GepaOptimizer:
    """One run of the search."""

    trainer: Trainer
    max_metric_calls: int

    async def train(self, seed_skill: Skill, progress: Progress | None = None) -> TrainState:
        """See ``Optimizer.train``.

        Raises:
            DataError: a step of an earlier process comes out otherwise: its answers are gone.
        """
        trainer = self.trainer
        if progress is None:
            seed = (await trainer.begin(seed_skill)).current
        else:
            trainer.resume(progress)
            seed = progress.seed
        search = Search(trainer, seed, progress)
        await in_thread(lambda calls: self._search(search, calls))
        await search.end()
        if search.at_ceiling:
            trainer.watcher.stopped(StopReason.ceiling)
        return search.state

    def _search(self, search: Search, calls: Calls) -> None:
        """The library's part, in a thread of its own."""
        from gepa.api import optimize

        from skillopt_exp.algorithms.gepa.adapter import COMPONENT, Adapter, Case, DebugLog, Listener

        trainer, settings = self.trainer, self.trainer.settings
        cost = MinibatchCost(settings.minibatch_size, len(trainer.splits.val))

        def ends(gepa_state: "GEPAState[None, int]") -> bool:
            spent = gepa_state.total_num_evals
            return search.at_ceiling or not cost.allows_another(spent, self.max_metric_calls)

        optimize(
            seed_candidate={COMPONENT: search.state.current.skill.text},
            trainset=[Case(item, held_out=False) for item in trainer.splits.train],
            valset=[Case(item, held_out=True) for item in trainer.splits.val],
            adapter=Adapter(search, calls, settings.gate.metric),
            reflection_minibatch_size=settings.minibatch_size,
            stop_callbacks=ends,
            logger=DebugLog(),
            callbacks=cast("list[GEPACallback]", [Listener(search, calls)]),
            track_best_outputs=False,
            seed=settings.seed,
        )
