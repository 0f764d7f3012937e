"""What a run may spend: set aside before each call, settled by what the call really used.

A call begins when it fits under every cap together with all that is under way, each at the most that it
can use. So no cap is exceeded as long as the endpoint keeps to the output limit that it is sent. A call
that does not fit waits for others to settle, until it is alone; when it does not fit even then, the run
ends, with nothing under way. A call that was sent and whose answer was lost stays counted at the most that
it can have used.
"""

import asyncio
import logging
import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from skillopt_exp.errors import BudgetError
from skillopt_exp.llm.activity import A_RUN
from skillopt_exp.llm.bill import PICODOLLARS, AtMost, Bill, Unit, bill_at_most, bill_of, is_free
from skillopt_exp.records import Role

if TYPE_CHECKING:
    from skillopt_exp.config.model import ModelConfig, PriceConfig
    from skillopt_exp.config.spending import BudgetConfig
    from skillopt_exp.llm.ledger import SentCall, SettledCall

UNLIMITED_REPLY = 4096
"""Tokens that a reply without an output limit is taken to have, unless a longer one was seen."""

WARN_AT = (50, 80)
"""Per cent of a cap."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Cap:
    """One limit: ``most`` in ``unit``."""

    unit: Unit
    most: int

    @property
    def key(self) -> str:
        return f"budget.{self.unit}"

    def allows(self, bill: Bill) -> bool:
        return bill.of(self.unit) <= self.most

    def enough(self, bill: Bill) -> str:
        """A cap that leaves room beyond ``bill``, as it is written in the configuration."""
        value = 2 * max(self.most, bill.of(self.unit))
        return f"{value / PICODOLLARS:g}" if self.unit is Unit.usd else str(value)

    def said(self, bill: Bill) -> str:
        """What of ``bill`` counts here, in words."""
        value = bill.of(self.unit)
        match self.unit:
            case Unit.usd:
                dollars = value / PICODOLLARS
                return f"${dollars:,.2f}" if dollars >= 1 or value == 0 else f"${dollars:.6f}"
            case Unit.tokens:
                return f"{value:,} tokens"
            case Unit.calls:
                return "1 call" if value == 1 else f"{value:,} calls"


def caps_of(config: "BudgetConfig | None") -> tuple[Cap, ...]:
    """The caps that are set."""
    if config is None:
        return ()
    usd = None if config.usd is None else math.floor(Fraction(str(config.usd)) * PICODOLLARS)
    values = {Unit.usd: usd, Unit.tokens: config.tokens, Unit.calls: config.calls}
    return tuple(Cap(unit, most) for unit, most in values.items() if most is not None)


def unenforceable(model: "ModelConfig", budget: "BudgetConfig") -> tuple[str, ...]:
    """Why ``budget`` cannot be held with ``model``, a sentence a reason with what to set; none if it can."""
    if budget.usd is None:
        return ()
    instead = "or cap budget.tokens or budget.calls instead"
    reasons = []
    for role, endpoint in ((Role.target, model.target), (Role.optimizer, model.optimizer)):
        name, price = f"model.{role}", endpoint.price
        if price.input is None or price.output is None:
            reasons.append(
                f"budget.usd cannot be held: the price of {endpoint.name!r} is unknown, which is not free. "
                f"Set {name}.price.input and {name}.price.output, {instead}"
            )
        elif endpoint.max_tokens is None and not is_free(price):
            reasons.append(
                f"budget.usd cannot be held: {name}.max_tokens is null, so one reply of {endpoint.name!r} "
                f"may cost anything. Set {name}.max_tokens=..., {instead}"
            )
    return tuple(reasons)


def loosely_held(model: "ModelConfig", budget: "BudgetConfig") -> tuple[str, ...]:
    """What to be warned of where a cap can be held but for the length of a reply."""
    unlimited = [
        f"model.{role}.max_tokens"
        for role, endpoint in ((Role.target, model.target), (Role.optimizer, model.optimizer))
        if endpoint.max_tokens is None
    ]
    if budget.tokens is None or not unlimited:
        return ()
    return (
        f"budget.tokens may be exceeded by replies over {UNLIMITED_REPLY:,} tokens, since "
        f"{' and '.join(unlimited)} set no limit",
    )


class Hold:
    """What is set aside for one call under way."""

    def __init__(self, budget: "Budget", bill: Bill) -> None:
        self._budget = budget
        self._bill = bill

    def release(self) -> None:
        """The call has ended: what it used is settled, or it failed and used nothing. Once."""
        self._budget.released(self._bill)


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    role: Role
    bill: Bill
    turn: "asyncio.Future[None]"


class Budget:
    """The spending of one run over all its processes. ``go_on`` is what a higher cap is put behind."""

    def __init__(
        self,
        config: "BudgetConfig | None",
        prices: "Mapping[Role, PriceConfig]",
        *,
        go_on: str = A_RUN.command,
    ) -> None:
        self._caps = caps_of(config)
        self._prices = prices
        self._go_on = go_on
        self._spent = Bill()
        self._num_lost = 0
        self._held = Bill()
        self._waiting: deque[_Waiting] = deque()
        self._over: str | None = None
        self._longest_reply = dict.fromkeys(Role, UNLIMITED_REPLY)
        self._warned = dict.fromkeys((cap.key for cap in self._caps), 0)

    def settle(self, call: "SettledCall", *, earlier: bool = False) -> None:
        """Count one answered call. Of an ``earlier`` process's nobody is warned again."""
        if call.output_tokens is not None:
            self._longest_reply[call.role] = max(self._longest_reply[call.role], call.output_tokens)
        self._spent += bill_of(self._prices[call.role], call, unlimited_reply=self._longest_reply[call.role])
        self._watch(quietly=earlier)

    def lose(self, call: "SentCall", *, earlier: bool = False) -> None:
        """Count one call whose answer was lost, with all that it can have used: it was perhaps paid."""
        self._num_lost += 1
        self._spent += bill_at_most(
            self._prices[call.role], call.at_most, unlimited_reply=self._longest_reply[call.role]
        )
        self._watch(quietly=earlier)

    async def hold(self, role: Role, at_most: AtMost) -> Hold:
        """Set aside the most that a call of ``role`` can come to; waits while others may settle.

        Raises:
            BudgetError: it does not fit under a cap though nothing is under way, or its output is
                unlimited where money is capped.
        """
        bill = bill_at_most(self._prices[role], at_most, unlimited_reply=self._longest_reply[role])
        self._refuse_unlimited(role, at_most)
        waiting = _Waiting(role, bill, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._serve()
        try:
            await waiting.turn
        except asyncio.CancelledError:
            if waiting.turn.cancelled():
                self._serve()  # it stands in nobody's way any more
            elif self._over is None:
                self.released(bill)  # admitted and cancelled at the same moment
            raise
        if self._over is not None:
            raise BudgetError(self._over)
        return Hold(self, bill)

    def released(self, bill: Bill) -> None:
        """Give back what was set aside, and let those in who wait."""
        self._held -= bill
        self._serve()

    def _serve(self) -> None:
        """In order of arrival; one that has to wait keeps all behind it waiting, so that its turn comes."""
        while self._waiting:
            first = self._waiting[0]
            if not first.turn.done() and self._over is None:
                blocking = self._blocking(first.bill)
                if blocking is None:
                    self._held += first.bill
                elif self._held.calls:
                    return
                else:
                    self._over = self._reached(blocking, first)
            self._waiting.popleft()
            if not first.turn.done():
                first.turn.set_result(None)

    def _blocking(self, bill: Bill) -> Cap | None:
        """The first cap under which ``bill`` does not fit now."""
        total = self._spent + self._held + bill
        return next((cap for cap in self._caps if not cap.allows(total)), None)

    def _reached(self, cap: Cap, next_call: _Waiting) -> str:
        limit, wanted = Bill(cap.most, cap.most, cap.most), self._spent + next_call.bill
        return (
            f"{cap.key} is reached: the cap is {cap.said(limit)}, spent are {cap.said(self._spent)}"
            f"{self._with_lost()}, and the next call of model.{next_call.role} may take "
            f"{cap.said(next_call.bill)}. What was answered is kept; a higher cap goes on: "
            f"{self._go_on} {cap.key}={cap.enough(wanted)}"
        )

    def _with_lost(self) -> str:
        if not self._num_lost:
            return ""
        lost = "1 call" if self._num_lost == 1 else f"{self._num_lost:,} calls"
        return f" (with {lost} whose answer was lost, at the most)"

    def _refuse_unlimited(self, role: Role, at_most: AtMost) -> None:
        capped = any(cap.unit is Unit.usd for cap in self._caps)
        if capped and at_most.output is None and not is_free(self._prices[role]):
            raise BudgetError(
                f"budget.usd cannot be held: no output limit can be sent to model.{role}, so one reply may "
                "cost anything. Cap budget.tokens or budget.calls instead: "
                f"{self._go_on} budget.usd=null budget.calls=..."
            )

    def _watch(self, *, quietly: bool) -> None:
        """Warn of each share of a cap once."""
        for cap in self._caps:
            passed = [level for level in WARN_AT if 100 * self._spent.of(cap.unit) >= level * cap.most]
            level = max(passed, default=0)
            if level > self._warned[cap.key]:
                self._warned[cap.key] = level
                if not quietly:
                    logger.warning("%d %% of %s are spent: %s", level, cap.key, cap.said(self._spent))
