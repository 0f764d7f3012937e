"""What was paid for and what was reused: calls and tokens by role and stage, and their cost.

Only whole numbers are added up and cost follows from them, so totals do not depend on the order in
which calls were answered. What one provider call did not report is unknown, and stays unknown in
every sum that the call belongs to. A request whose answer was lost is counted apart from the answered
ones: it is in no sum of tokens or money.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.ledger import FailedCall, SentCall, SettledCall
from skillopt_exp.llm.price import Tariff, rates, tariff_at
from skillopt_exp.records import Role, Spent, Usage

if TYPE_CHECKING:
    from skillopt_exp.config.model import PriceConfig

NO_ANSWER = "no answer"
"""In place of the status of a request that got none."""

N = TypeVar("N", int, float)


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
class _Tokens:
    """What the paid calls of one tariff used."""

    input: _Count = field(default_factory=_Count)
    cached: _Count = field(default_factory=_Count)
    output: _Count = field(default_factory=_Count)
    reasoning: _Count = field(default_factory=_Count)

    def add(self, call: SettledCall) -> None:
        self.input.add(call.input_tokens)
        self.cached.add(call.cached_tokens)
        self.output.add(call.output_tokens)
        self.reasoning.add(call.reasoning_tokens)

    def cost(self, price: "PriceConfig", tariff: Tariff) -> float | None:
        """US dollars, or None where a count or a price is unknown.

        A provider that reports no cached tokens is taken to bill all input alike.
        """
        if self.input.total is None or self.output.total is None:
            return None
        cached = self.cached.known
        return rates(price, tariff).cost(
            fresh=self.input.total - cached, cached=cached, output=self.output.total
        )


@dataclass(slots=True)
class _Account:
    """All settled calls of one role in one stage."""

    calls: int = 0
    reused: int = 0
    lost: int = 0
    tokens: dict[Tariff, _Tokens] = field(default_factory=lambda: {tariff: _Tokens() for tariff in Tariff})

    def add(self, call: SettledCall, tariff: Tariff) -> None:
        if call.reused:
            self.reused += 1
            return
        self.calls += 1
        self.tokens[tariff].add(call)

    def usage(self, price: "PriceConfig") -> Usage:
        every = list(self.tokens.values())
        return Usage(
            calls=self.calls,
            reused=self.reused,
            input_tokens=_sum((tokens.input.total for tokens in every), 0),
            cached_tokens=_sum((tokens.cached.total for tokens in every), 0),
            output_tokens=_sum((tokens.output.total for tokens in every), 0),
            reasoning_tokens=_sum((tokens.reasoning.total for tokens in every), 0),
            cost_usd=_sum((tokens.cost(price, tariff) for tariff, tokens in self.tokens.items()), 0.0),
            lost=self.lost,
        )


class Meter:
    """The accounts of one run. ``prices`` are US dollars for a million tokens, by role."""

    def __init__(self, prices: "Mapping[Role, PriceConfig]") -> None:
        self._prices = prices
        self._accounts: dict[tuple[Role, Stage], _Account] = {}
        self._models: Counter[tuple[Role, str]] = Counter()
        self._failed: Counter[tuple[Role, str]] = Counter()

    def record(self, call: SettledCall) -> None:
        """Book one answered call, whether or not its reply can be used."""
        tariff = tariff_at(self._prices[call.role], call.at)
        self._accounts.setdefault((call.role, call.stage), _Account()).add(call, tariff)
        self._models[call.role, call.answered] += 1

    def lost(self, call: SentCall) -> None:
        """Count a request that was sent and given up: it may have been paid, for what nobody knows."""
        self._accounts.setdefault((call.role, call.stage), _Account()).lost += 1

    def failed(self, call: FailedCall) -> None:
        """Count one request that was not answered, or refused. It is in no other number."""
        self._failed[call.role, NO_ANSWER if call.status is None else str(call.status)] += 1

    def failures(self, role: Role) -> dict[str, int]:
        """Failed requests by HTTP status, retried ones included; 'no answer' without one."""
        return {status: n for (of, status), n in sorted(self._failed.items()) if of is role}

    def spent(self) -> Spent:
        """Everything, as a run's summary has it."""
        failures = {str(role): self.failures(role) for role in Role}
        return Spent(self.by_stage(), {role: counts for role, counts in failures.items() if counts})

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
        reused=sum(usage.reused for usage in each),
        input_tokens=_sum((usage.input_tokens for usage in each), 0),
        cached_tokens=_sum((usage.cached_tokens for usage in each), 0),
        output_tokens=_sum((usage.output_tokens for usage in each), 0),
        reasoning_tokens=_sum((usage.reasoning_tokens for usage in each), 0),
        cost_usd=_sum((usage.cost_usd for usage in each), 0.0),
        lost=sum(usage.lost for usage in each),
    )


def _sum(values: Iterable[N | None], start: N) -> N | None:
    total = start
    for value in values:
        if value is None:
            return None
        total += value
    return total
