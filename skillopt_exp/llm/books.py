"""The books of a run: what is sent and what becomes of it goes into meter, budget and ledger alike."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillopt_exp.llm.budget import Budget
from skillopt_exp.llm.ledger import FailedCall, Ledger, SentCall, SettledCall
from skillopt_exp.llm.meter import Meter
from skillopt_exp.records import Role

if TYPE_CHECKING:
    from skillopt_exp.config.model import PriceConfig


class Books:
    """Begins with what earlier processes of the run left in ``ledger``. Without one, nothing is written.

    Raises:
        DataError: the ledger is damaged or lost.
    """

    def __init__(
        self, prices: "Mapping[Role, PriceConfig]", budget: Budget, ledger: Ledger | None = None
    ) -> None:
        self.meter = Meter(prices)
        self.budget = budget
        self._ledger = ledger
        if ledger is not None:
            self._carry_over(ledger)

    def sent(self, call: SentCall) -> None:
        """``call`` is about to leave: from now on it counts, whatever happens to this process.

        Raises:
            InterruptedRun: it cannot be written down, and must not leave.
        """
        if self._ledger is not None:
            self._ledger.add(call)

    def answered(self, call: SettledCall) -> None:
        """``call`` was answered, by its provider or out of the store.

        Raises:
            InterruptedRun: it cannot be written down.
        """
        self.meter.record(call)
        self.budget.settle(call)
        if self._ledger is not None:
            self._ledger.add(call)

    def failed(self, call: FailedCall) -> None:
        """``call`` ended without an answer: it costs nothing.

        Raises:
            InterruptedRun: it cannot be written down.
        """
        self.meter.failed(call)
        if self._ledger is not None:
            self._ledger.add(call)

    def lost(self, call: SentCall) -> None:
        """``call`` was given up. In the ledger it stays what it is: sent."""
        self.meter.lost(call)
        self.budget.lose(call)

    def _carry_over(self, ledger: Ledger) -> None:
        underway: dict[str, SentCall] = {}
        for entry in ledger.earlier():
            match entry:
                case SentCall():
                    underway[entry.id] = entry
                case SettledCall():
                    underway.pop(entry.id, None)
                    self.meter.record(entry)
                    self.budget.settle(entry, earlier=True)
                case FailedCall():
                    underway.pop(entry.id, None)
                    self.meter.failed(entry)
        for call in underway.values():
            self.meter.lost(call)
            self.budget.lose(call, earlier=True)
