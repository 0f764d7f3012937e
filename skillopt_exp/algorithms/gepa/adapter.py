"""The run as the package ``gepa`` wants to see it: one component, the skill; attempts and their scores."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gepa.core.adapter import EvaluationBatch, ProposalFn
from gepa.core.callbacks import IterationEndEvent

from skillopt_exp.algorithms.gepa.search import Search
from skillopt_exp.algorithms.threads import Calls
from skillopt_exp.records import Item, Metric, Rollout, Skill

COMPONENT = "skill"
"""The only part of a candidate."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Case:
    """An item of train, or of val."""

    item: Item
    held_out: bool


class Adapter:
    """Called in the library's thread; hands everything to ``search`` in the event loop."""

    def __init__(self, search: Search, calls: Calls, metric: Metric) -> None:
        self._search = search
        self._calls = calls
        self._metric = metric
        self.propose_new_texts: ProposalFn | None = self._propose

    def evaluate(
        self, batch: Sequence[Case], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> EvaluationBatch[Rollout | None, None]:
        """The scores of ``batch`` under the candidate, in the gate's metric."""
        skill, nothing = Skill(body=candidate[COMPONENT]), [None] * len(batch)
        if batch[0].held_out:
            return EvaluationBatch(nothing, list(self._calls(self._search.score(skill))), list(nothing))
        rollouts = self._calls(self._search.attempt(skill, [case.item for case in batch]))
        return EvaluationBatch(
            nothing, [rollout.score.value(self._metric) for rollout in rollouts], list(rollouts)
        )

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> dict[str, list[dict[str, Any]]]:
        """Nothing: the search keeps the attempts that the optimizer is shown."""
        return {component: [] for component in components_to_update}

    def _propose(
        self, candidate: Mapping[str, str], reflective_dataset: Any, components_to_update: Sequence[str]
    ) -> dict[str, str]:
        """The optimizer's new skill, or nothing where there is none to be tried."""
        child = self._calls(self._search.propose())
        return {} if child is None else {COMPONENT: child.text}


class Listener:
    """Hears when an iteration ends, whatever came of it. The library asks for no more than is there."""

    def __init__(self, search: Search, calls: Calls) -> None:
        self._search = search
        self._calls = calls

    def on_iteration_end(self, event: IterationEndEvent) -> None:
        self._calls(self._search.end_iteration())


class DebugLog:
    """The library's own words, among ours, where somebody asks for them."""

    def log(self, message: str) -> None:
        _log.debug("gepa: %s", message)
