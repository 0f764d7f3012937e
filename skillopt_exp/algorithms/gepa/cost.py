"""How many attempts the parts of the search take, and how far a budget of attempts goes. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MinibatchCost:
    """Attempts, which ``gepa`` calls metric calls: of a minibatch under one skill, and of all of val.

    The seed skill is scored on val first. Each iteration takes a minibatch under a skill of the pool; where
    that leads to a new skill, the same under that one; and where it does better there, all of val.
    """

    minibatch: int
    val: int

    @property
    def dearest_iteration(self) -> int:
        return 2 * self.minibatch + self.val

    @property
    def least(self) -> int:
        """A budget that lets the search begin with anything."""
        return self.val + self.dearest_iteration

    def allows_another(self, spent: int, budget: int) -> bool:
        """Whether one more iteration stays within the budget whatever comes of it."""
        return spent + self.dearest_iteration <= budget

    def most_iterations(self, budget: int) -> int:
        """When each finds nothing to change."""
        return max(0, (budget - self.least) // self.minibatch + 1) if budget >= self.least else 0

    def most_candidates(self, budget: int) -> int:
        """New skills that can be scored on val."""
        return max(0, (budget - self.val) // self.dearest_iteration)
