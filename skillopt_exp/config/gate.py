"""``gate``: when a candidate replaces the current skill."""

from dataclasses import dataclass
from typing import Any

from skillopt_exp.config.key import Affects, key
from skillopt_exp.records import Metric


@dataclass(kw_only=True)
class GateConfig:
    """The strict gate: accepted when the paired sum over val items is above zero."""

    metric: Metric = key(Metric.hard, affects=Affects.result, help="hard, soft, or mixed (the mean of both)")


SCHEMAS: dict[str, Any] = {"base_gate": GateConfig}
