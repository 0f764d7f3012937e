"""Those who watch a run: its folder, its tracker, the terminal. The loop tells, they listen.

A watcher never changes the run. It is told of one thing after the other, in the run's own order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.records import (
    NO_CALLS,
    ACall,
    Progress,
    Rollout,
    ScoredSkill,
    Skill,
    Split,
    StepTrace,
    StopReason,
    Summary,
)


@dataclass(frozen=True, slots=True)
class Origin:
    """One configured or derived value with where it comes from, in words."""

    key: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Opening:
    """What is known before the first call."""

    folder: Path
    choices: Mapping[str, str]
    """What was chosen for each configuration group."""
    dataset: str
    target: str
    optimizer: str
    simulated: bool
    sizes: Mapping[Split, int]
    num_epochs: int
    steps_per_epoch: int | None
    """None where steps are taken as long as a budget lasts."""
    config_yaml: str
    """The whole resolved configuration, derived values filled in."""
    params: Mapping[str, str]
    """The same, flat: dotted key to text."""
    manifest_json: str
    """The split manifest: ids and hashes of every split."""
    origins: tuple[Origin, ...]
    warnings: tuple[str, ...]
    gate: str = ""
    """What the gate lets through, in words."""
    evaluates_only: bool = False
    """Whether the seed skill is scored and nothing is trained."""

    @property
    def total_steps(self) -> int | None:
        """None where it is not known before."""
        return None if self.steps_per_epoch is None else self.num_epochs * self.steps_per_epoch


class Watcher:
    """Listens to a run and does nothing yet: override what is of interest.

    Methods are called in this order; ``failed`` instead of ``finished``.
    """

    def opened(self, opening: Opening) -> None:
        """The run begins; nothing was asked yet."""

    def baseline(self, seed: ScoredSkill, selection: Sequence[Rollout]) -> None:
        """The seed skill was scored on val."""

    def resumed(self, progress: Progress) -> None:
        """Instead of ``baseline``: an earlier process came as far as ``progress``."""

    def step(self, trace: StepTrace) -> None:
        """One step ended."""

    def stopped(self, reason: StopReason) -> None:
        """Training ends before its last step, in good order."""

    def replayed(self, trace: StepTrace) -> None:
        """A step that an earlier process told was gone through again, to the same end."""

    def tested(self, which: str, skill: Skill, rollouts: Sequence[Rollout], a_call: ACall = NO_CALLS) -> None:
        """``which`` of control, baseline, best, final was scored on test, once, after the last step.

        ``a_call`` is what one call of it took.
        """

    def finished(self, summary: Summary, best: ScoredSkill) -> None:
        """The run is complete."""

    def failed(self, error: BaseException, summary: Summary | None) -> None:
        """The run ended early; ``summary`` holds what is known, if training had begun."""


class Broadcast(Watcher):
    """Several watchers as one, told in order: the folder first, so that nothing is shown that is not kept."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = tuple(watchers)

    def opened(self, opening: Opening) -> None:
        for watcher in self._watchers:
            watcher.opened(opening)

    def baseline(self, seed: ScoredSkill, selection: Sequence[Rollout]) -> None:
        for watcher in self._watchers:
            watcher.baseline(seed, selection)

    def resumed(self, progress: Progress) -> None:
        for watcher in self._watchers:
            watcher.resumed(progress)

    def step(self, trace: StepTrace) -> None:
        for watcher in self._watchers:
            watcher.step(trace)

    def stopped(self, reason: StopReason) -> None:
        for watcher in self._watchers:
            watcher.stopped(reason)

    def replayed(self, trace: StepTrace) -> None:
        for watcher in self._watchers:
            watcher.replayed(trace)

    def tested(self, which: str, skill: Skill, rollouts: Sequence[Rollout], a_call: ACall = NO_CALLS) -> None:
        for watcher in self._watchers:
            watcher.tested(which, skill, rollouts, a_call)

    def finished(self, summary: Summary, best: ScoredSkill) -> None:
        for watcher in self._watchers:
            watcher.finished(summary, best)

    def failed(self, error: BaseException, summary: Summary | None) -> None:
        for watcher in self._watchers:
            watcher.failed(error, summary)
