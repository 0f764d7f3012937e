"""``tracking``: where runs are compared."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

from skillopt_exp.config.key import Affects, key


class Backend(Enum):
    """Who keeps the run besides its folder."""

    mlflow = "mlflow"
    none = "none"


@dataclass(kw_only=True)
class TrackingConfig:
    """MLflow, or nothing."""

    backend: Backend = key(affects=Affects.nothing, help="mlflow or none")
    uri: str | None = key(
        None,
        affects=Affects.nothing,
        help="tracking server or database; null is mlflow.db in the launch folder",
    )
    experiment: str | None = key(
        None, affects=Affects.nothing, help="experiment name; null is skillopt/<dataset>"
    )


SCHEMAS: dict[str, Any] = {"base_tracking": TrackingConfig}
