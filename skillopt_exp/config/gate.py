"""``gate``: when a candidate replaces the current skill."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Metric
from skillopt_exp.stats.criterion import DEFAULT_ALPHA, AlphaPer, Criterion, GateRule, alpha_of_one

LEAST_BLOCK = 8
"""Val items of a block where ``gate.block`` is null, at least: fewer would hold back calls for nothing."""


class EarlyStop(StrEnum):
    """When the evaluation of a candidate ends: as soon as it cannot pass any more, or with the last item."""

    exact = "exact"
    none = "none"


class Screen(StrEnum):
    """What a candidate is tried on before val."""

    none = "none"
    batch = "batch"


@dataclass(kw_only=True)
class GateConfig:
    """A metric times a rule. A key that the rule does not read is refused, not ignored."""

    metric: Metric = key(Metric.hard, affects=Affects.result, help="hard, soft, or mixed (the mean of both)")
    rule: GateRule = key(
        GateRule.strict,
        affects=Affects.result,
        help="any gain, one above a margin, one beyond luck, or no gate",
    )
    margin: float | None = key(
        None,
        affects=Affects.result,
        help="of rule margin: the mean gain to exceed, as a fraction (0.02 is 2 points)",
    )
    alpha: float | None = key(
        None, affects=Affects.result, help="of rule significant: how often luck may pass; null is 0.05"
    )
    alpha_per: AlphaPer = key(
        AlphaPer.comparison,
        affects=Affects.result,
        help="of rule significant: alpha for each comparison, or shared by all steps of the run",
    )
    no_regression: int | None = key(
        None,
        affects=Affects.result,
        help="most val items that were solved and may be lost; null is any number",
    )
    early_stop: EarlyStop = key(
        EarlyStop.exact,
        affects=Affects.result,
        help="exact ends an evaluation once the candidate cannot pass any more; none asks all of val",
    )
    block: int | None = key(
        None,
        affects=Affects.result,
        help="val items between two looks at that; null is a tenth of val, at least 8",
    )
    screen: Screen = key(
        Screen.none,
        affects=Affects.result,
        help="batch tries a candidate on its step's batch first and drops it where that is not solved better",
    )

    def __post_init__(self) -> None:
        significant = self.rule is GateRule.significant
        if self.margin is None and self.rule is GateRule.margin:
            raise UsageError("gate.rule=margin needs gate.margin; for example gate.margin=0.02 for 2 points")
        if self.margin is not None and self.rule is not GateRule.margin:
            raise UsageError(_unread("margin", self.margin, GateRule.margin, self.rule))
        if self.alpha is not None and not significant:
            raise UsageError(_unread("alpha", self.alpha, GateRule.significant, self.rule))
        if self.alpha_per is not AlphaPer.comparison and not significant:
            raise UsageError(_unread("alpha_per", self.alpha_per, GateRule.significant, self.rule))
        if self.margin is not None and not 0 <= self.margin < 1:
            raise UsageError(
                f"gate.margin is {self.margin}; give a fraction from 0 to under 1 (0.02 is 2 points)"
            )
        if self.alpha is not None and not 0 < self.alpha < 0.5:
            raise UsageError(f"gate.alpha is {self.alpha}; give a chance above 0 and under 0.5, such as 0.05")
        if self.block is not None and self.early_stop is EarlyStop.none:
            raise UsageError(
                f"gate.block is {self.block}, but gate.early_stop=none does not read it; drop one of them"
            )
        if self.block is not None and self.block < 1:
            raise UsageError(f"gate.block is {self.block}; give 1 or more items, or null for a tenth of val")
        if self.screen is not Screen.none and self.rule is GateRule.accept_all:
            raise UsageError(
                f"gate.screen={self.screen} drops candidates, and gate.rule=accept_all keeps all of them; "
                "choose one"
            )
        if self.no_regression is not None and self.no_regression < 0:
            raise UsageError(
                f"gate.no_regression is {self.no_regression}; give 0 or more items, or null for any"
            )

    def block_of(self, num_val: int) -> int | None:
        """Val items between two looks at whether the candidate can still pass; None is never."""
        if self.early_stop is EarlyStop.none:
            return None
        return max(LEAST_BLOCK, num_val // 10) if self.block is None else self.block

    def criterion(self, num_comparisons: int, candidates: int = 1) -> Criterion:
        """The rule with its numbers, for a run of so many comparisons.

        The best of several ``candidates`` is one comparison, and each of them has its part of alpha.
        """
        alpha = DEFAULT_ALPHA if self.alpha is None else self.alpha
        return Criterion(
            rule=self.rule,
            margin=0.0 if self.margin is None else self.margin,
            alpha=alpha_of_one(alpha, self.alpha_per, num_comparisons) / candidates,
            no_regression=self.no_regression,
        )


def _unread(name: str, value: object, reader: GateRule, rule: GateRule) -> str:
    return (
        f"gate.{name} is {value}, but gate.rule={rule} does not read it; "
        f"choose gate={reader}, or leave gate.{name} out"
    )


SCHEMAS: dict[str, Any] = {"base_gate": GateConfig}
