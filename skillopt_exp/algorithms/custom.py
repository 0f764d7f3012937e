"""An optimizer of the user's own, found by the path of what makes it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, cast

from skillopt_exp.algorithms.base import Optimizer
from skillopt_exp.errors import UsageError
from skillopt_exp.loop import Trainer

Factory = Callable[[Trainer, Mapping[str, Any]], Optimizer]
"""Makes the optimizer of one run from its trainer and ``optimizer.options``."""


@dataclass(frozen=True, slots=True)
class Custom:
    """What ``factory`` makes of ``options``."""

    factory: Factory
    options: Mapping[str, Any]

    def optimizer(self, trainer: Trainer) -> Optimizer:
        return self.factory(trainer, self.options)


def load(path: str) -> Factory:
    """What ``path`` (``package.module:name``) names.

    Raises:
        UsageError: the path has another form, there is no such module, or nothing to call in it.
    """
    module, colon, name = path.partition(":")
    if not (module and colon and name.isidentifier()):
        raise UsageError(f"optimizer.factory={path}: give package.module:name, such as my_search:make")
    try:
        found = getattr(import_module(module), name, None)
    except ImportError as error:
        raise UsageError(
            f"optimizer.factory={path}: {module} cannot be imported ({error}); it must be installed, or "
            "stand in the folder in which python -m skillopt_exp is called"
        ) from error
    if not callable(found):
        raise UsageError(f"optimizer.factory={path}: {module} has nothing to call that is named {name!r}")
    return cast(Factory, found)
