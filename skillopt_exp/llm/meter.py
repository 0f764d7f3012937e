"""What was paid for: calls and tokens by role and stage, and their cost.

Only whole numbers are added up and cost follows from them, so totals do not depend on the order in
which calls were answered. What one provider call did not report is unknown, and stays unknown in
every sum that the call belongs to.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.reply import CallUsage, Reply
from skillopt_exp.records import Role, Usage

if TYPE_CHECKING:
    from skillopt_exp.config.model import PriceConfig

N = TypeVar("N", int, float)

_NOTHING_SAID = CallUsage()


@dataclass(slots=True)
class _Count:
    """A sum of what was reported, and how many calls did not report it."""

    known: int = 0
    unreported: int = 0

    def add(self, value: int | None) -> None:
        if value is None:
            self.unreported += 1
        else:
            self.known += value

    @property
    def total(self) -> int | None:
        return None if self.unreported else self.known


@dataclass(slots=True)
class _Account:
    """All answered calls of one role in one stage."""

    calls: int = 0
    input: _Count = field(default_factory=_Count)
    cached: _Count = field(default_factory=_Count)
    output: _Count = field(default_factory=_Count)
    reasoning: _Count = field(default_factory=_Count)

    def add(self, usage: CallUsage) -> None:
        self.calls += 1
        self.input.add(usage.input_tokens)
        self.cached.add(usage.cached_tokens)
        self.output.add(usage.output_tokens)
        self.reasoning.add(usage.reasoning_tokens)

    def usage(self, price: "PriceConfig") -> Usage:
        return Usage(
            calls=self.calls,
            input_tokens=self.input.total,
            cached_tokens=self.cached.total,
            output_tokens=self.output.total,
            reasoning_tokens=self.reasoning.total,
            cost_usd=self._cost(price),
        )

    def _cost(self, price: "PriceConfig") -> float | None:
        """US dollars, or None where a count or a price is unknown.

        A provider that reports no cached tokens is taken to bill all input alike.
        """
        if self.input.total is None or self.output.total is None:
            return None
        cached = self.cached.known
        parts = (
            (self.input.total - cached, price.input),
            (cached, price.cached_input),
            (self.output.total, price.output),
        )
        cost = 0.0
        for tokens, per_million in parts:
            if tokens == 0:
                continue
            if per_million is None:
                return None
            cost += tokens * per_million / 1e6
        return cost


class Meter:
    """The accounts of one run. ``prices`` are US dollars for a million tokens, by role."""

    def __init__(self, prices: "Mapping[Role, PriceConfig]") -> None:
        self._prices = prices
        self._accounts: dict[tuple[Role, Stage], _Account] = {}
        self._models: Counter[tuple[Role, str]] = Counter()

    def record(self, role: Role, stage: Stage, reply: Reply) -> None:
        """Book one answered call, whether or not its reply can be used."""
        self._accounts.setdefault((role, stage), _Account()).add(reply.usage or _NOTHING_SAID)
        self._models[role, reply.model] += 1

    def usage(self, role: Role, stage: Stage) -> Usage:
        """What ``role`` was asked and paid in ``stage``; a stage without calls has used nothing."""
        return self._accounts.get((role, stage), _Account()).usage(self._prices[role])

    def by_stage(self) -> dict[str, Usage]:
        """Usage by ``<role>/<stage>``, in the order of roles and stages; only what had calls."""
        return {
            f"{role}/{stage}": self.usage(role, stage)
            for role in Role
            for stage in Stage
            if (role, stage) in self._accounts
        }

    def total(self) -> Usage:
        """The whole run."""
        return added(self.by_stage().values())

    def answering_models(self, role: Role) -> tuple[str, ...]:
        """The models that the role's responses named, most frequent first: aliases move."""
        counts = Counter({model: n for (of, model), n in self._models.items() if of is role and model})
        return tuple(model for model, _ in counts.most_common())


def added(usages: Iterable[Usage]) -> Usage:
    """The sum of ``usages``; a sum with something unknown in it is unknown."""
    each = list(usages)
    return Usage(
        calls=sum(usage.calls for usage in each),
        input_tokens=_sum((usage.input_tokens for usage in each), 0),
        cached_tokens=_sum((usage.cached_tokens for usage in each), 0),
        output_tokens=_sum((usage.output_tokens for usage in each), 0),
        reasoning_tokens=_sum((usage.reasoning_tokens for usage in each), 0),
        cost_usd=_sum((usage.cost_usd for usage in each), 0.0),
    )


def _sum(values: Iterable[N | None], start: N) -> N | None:
    total = start
    for value in values:
        if value is None:
            return None
        total += value
    return total
