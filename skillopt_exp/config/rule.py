"""``rule``: the table that turns the size of the train split into defaults. Data, not code."""

from dataclasses import dataclass
from typing import Any

from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError
from skillopt_exp.rules import Band, RuleTable


@dataclass(kw_only=True)
class BandConfig:
    """One row of the table: train splits from ``at_least`` items up to the next row's."""

    at_least: int = key(affects=Affects.result, help="smallest train split of this row")
    batch_size: list[int] | None = key(
        None, affects=Affects.result, help="lowest and highest batch size; null is a tenth of the train split"
    )
    learning_rate: list[int] = key(affects=Affects.result, help="learning rate at the row's two ends")
    steps: list[int] = key(affects=Affects.result, help="steps an epoch that the row aims at, from and to")

    def __post_init__(self) -> None:
        for name, pair in (
            ("batch_size", self.batch_size),
            ("learning_rate", self.learning_rate),
            ("steps", self.steps),
        ):
            if pair is not None and (len(pair) != 2 or not 1 <= pair[0] <= pair[1]):
                raise UsageError(
                    f"{name} of a rule's row is {pair}; give two whole numbers, 1 <= low <= high"
                )


@dataclass(kw_only=True)
class RuleConfig:
    """The table, and where its open last row stops growing."""

    name: str = key(affects=Affects.nothing, help="the rule's name, as shown")
    open_until: int = key(affects=Affects.result, help="train size at which the last row reaches its top")
    bands: list[BandConfig] = key(affects=Affects.result, help="the rows, by rising size")

    def __post_init__(self) -> None:
        starts = [band.at_least for band in self.bands]
        if not starts or starts != sorted(set(starts)):
            raise UsageError(
                f"the rows of rule {self.name!r} start at {starts}; give rows of rising at_least"
            )
        if self.open_until <= starts[-1]:
            raise UsageError(
                f"rule.open_until is {self.open_until}; give more than the last row's {starts[-1]}"
            )

    def table(self) -> RuleTable:
        """The rule as the pure module reads it."""
        return RuleTable(
            name=self.name,
            bands=tuple(
                Band(
                    at_least=band.at_least,
                    batch_size=_pair(band.batch_size) if band.batch_size is not None else None,
                    learning_rate=_pair(band.learning_rate),
                    steps=_pair(band.steps),
                )
                for band in self.bands
            ),
            open_until=self.open_until,
        )


def _pair(values: list[int]) -> tuple[int, int]:
    low, high = values
    return low, high


SCHEMAS: dict[str, Any] = {"base_rule": RuleConfig}
