"""The tasks that ``dataset.task`` can name. To add one, write its module and name it in ``_TASKS``."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING

from skillopt_exp.errors import UsageError
from skillopt_exp.tasks.base import CheckedTask

if TYPE_CHECKING:  # what stages import of this package must not bring the configuration along
    from skillopt_exp.config.dataset import DatasetConfig


def build(config: "DatasetConfig") -> CheckedTask:
    """The task that ``config.task`` names, with its part of the configuration.

    Raises:
        UsageError: no task has that name, or its configuration lacks keys that the task needs.
    """
    if config.task not in _TASKS:
        close = get_close_matches(config.task, _TASKS, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise UsageError(
            f"dataset.task is {config.task!r}, which is no task; {hint}known are: {', '.join(_TASKS)}"
        )
    return _TASKS[config.task](config)


def _searchqa(config: "DatasetConfig") -> CheckedTask:
    from skillopt_exp.tasks import searchqa

    return searchqa.build(config)


def _qa(config: "DatasetConfig") -> CheckedTask:
    from skillopt_exp.tasks import qa

    return qa.build(config)


# Each imports its module only when asked, so that one task's needs are no other's.
_TASKS: "dict[str, Callable[[DatasetConfig], CheckedTask]]" = {"searchqa": _searchqa, "qa": _qa}
