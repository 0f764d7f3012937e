"""What test says of the skills of a run: alone, against each other, by group, and what they cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from skillopt_exp.groups import by_group
from skillopt_exp.records import ACall, Gain, GroupResult, Rollout, Skill, Standing
from skillopt_exp.stats import gain, standing

HEADLINE = ("best", "baseline")
PAIRS = (HEADLINE, ("final", "baseline"), ("best", "control"), ("final", "control"), ("baseline", "control"))
"""Which skills are compared, first minus second."""


@dataclass(frozen=True, slots=True)
class OnTest:
    """One skill with its attempts at test, and what one call took."""

    skill: Skill
    rollouts: tuple[Rollout, ...]
    a_call: ACall


@dataclass(frozen=True)
class HeldOut:
    """Figures of ``tested``, by control, baseline, best and final: as far as a run came."""

    tested: Mapping[str, OnTest]

    @cached_property
    def standings(self) -> Mapping[str, Standing]:
        """How each skill did."""
        return {name: standing(each.rollouts) for name, each in self.tested.items() if each.rollouts}

    @cached_property
    def headline(self) -> Gain | None:
        """Best minus baseline, of equal texts too; None before both were tested."""
        return self._gain(*HEADLINE)

    @cached_property
    def gains(self) -> tuple[Gain, ...]:
        """The differences between skills whose texts differ; each pair of texts once."""
        found = [self._gain(first, second) for first, second in self._pairs()]
        return tuple(each for each in found if each is not None)

    @cached_property
    def groups(self) -> Mapping[str, GroupResult]:
        """Baseline and best by groups of items, where there are several."""
        if self.headline is None:
            return {}
        attempts: dict[str, Sequence[Rollout]] = {name: self.tested[name].rollouts for name in HEADLINE}
        items = [each.item for each in attempts["best"] if each.attempt == 1]
        return by_group(items, attempts, HEADLINE)

    @property
    def cost_a_call(self) -> ACall | None:
        """What a call with the best skill takes more than one without any; None where that is not known."""
        if not {"best", "control"} <= self.tested.keys():
            return None
        return self.tested["best"].a_call.minus(self.tested["control"].a_call)

    def _pairs(self) -> Iterator[tuple[str, str]]:
        compared: set[tuple[str, str]] = set()
        for first, second in PAIRS:
            if {first, second} <= self.tested.keys():
                texts = (self.tested[first].skill.digest, self.tested[second].skill.digest)
                if texts[0] != texts[1] and texts not in compared:
                    compared.add(texts)
                    yield first, second

    def _gain(self, first: str, second: str) -> Gain | None:
        if not {first, second} <= self.standings.keys():
            return None
        return gain(first, second, self.tested[first].rollouts, self.tested[second].rollouts)
