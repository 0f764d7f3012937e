"""``rule``: the table that turns the size of the train split into defaults. Data, not code."""

from dataclasses import dataclass
from typing import Any

from skillopt_exp.config.key import Affects, key


@dataclass(kw_only=True)
class BandConfig:
    """One row of the table: train splits from ``at_least`` items up to the next row's."""

    at_least: int = key(affects=Affects.result, help="smallest train split of this row")
    batch_size: list[int] | None = key(
        None, affects=Affects.result, help="lowest and highest batch size; null is a tenth of the train split"
    )
    learning_rate: list[int] = key(affects=Affects.result, help="learning rate at the row's two ends")
    steps: list[int] = key(affects=Affects.result, help="steps an epoch that the row aims at, from and to")


@dataclass(kw_only=True)
class RuleConfig:
    """The table, and where its open last row stops growing."""

    name: str = key(affects=Affects.nothing, help="the rule's name, as shown")
    open_until: int = key(affects=Affects.result, help="train size at which the last row reaches its top")
    bands: list[BandConfig] = key(affects=Affects.result, help="the rows, by rising size")


SCHEMAS: dict[str, Any] = {"base_rule": RuleConfig}
