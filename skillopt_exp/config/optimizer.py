"""``optimizer``: the algorithm and its learning rate (the model that it asks is ``model.optimizer``)."""

from dataclasses import dataclass
from typing import Any

from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError
from skillopt_exp.schedule import Scheduler


@dataclass(kw_only=True)
class OptimizerConfig:
    """SkillOpt's optimizer."""

    name: str = key(affects=Affects.nothing, help="the algorithm's name, as shown")
    learning_rate: int | None = key(
        None, affects=Affects.result, help="largest number of edits a step may apply; null takes the rule's"
    )
    min_learning_rate: int | None = key(
        None, affects=Affects.result, help="where the schedule ends; null is min(2, learning_rate)"
    )
    lr_scheduler: Scheduler = key(Scheduler.cosine, affects=Affects.result, help="constant, linear or cosine")

    def __post_init__(self) -> None:
        for name, rate in (
            ("learning_rate", self.learning_rate),
            ("min_learning_rate", self.min_learning_rate),
        ):
            if rate is not None and rate < 1:
                raise UsageError(f"optimizer.{name} is {rate}; give 1 or more edits, or null for the rule's")


SCHEMAS: dict[str, Any] = {"base_optimizer": OptimizerConfig}
