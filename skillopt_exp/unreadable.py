"""When an optimizer model is no use: step after step without one reply that could be read."""

from dataclasses import dataclass

from skillopt_exp.errors import ProviderError
from skillopt_exp.records import StepTrace

MOST_UNREADABLE_STEPS = 5
"""Steps in a row without one readable optimizer reply, after which going on would only cost money."""


@dataclass(slots=True)
class UnreadableSteps:
    """How many such steps there were in a row."""

    in_a_row: int = 0

    def see(self, trace: StepTrace) -> None:
        """
        Raises:
            ProviderError: there were too many.
        """
        self.in_a_row = self.in_a_row + 1 if trace.unreadable else 0
        if self.in_a_row == MOST_UNREADABLE_STEPS:
            raise ProviderError(
                f"no reply of the optimizer model could be read in {self.in_a_row} steps in a row; "
                f"the last one: {trace.selected.dropped[-1]}. Try another model: model.optimizer.name=..."
            )
