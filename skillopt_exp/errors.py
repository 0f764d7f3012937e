"""Everything that can go wrong for a user, as one tree.

::

    SkillOptError                 exit   who acts
    ├── UsageError                   2   the user: command line, configuration, missing key
    ├── DataError                    3   the user: files, fields, splits
    ├── ProviderError                4   the provider refused: 401, 402, 403, 404, unknown model, bad request
    ├── BudgetError                  5   the user: a cap was reached or cannot be enforced
    └── InterruptedRun              75   nobody is at fault: resume when the cause is gone
        └── OutageError             75   the provider cannot be reached or does not answer

    ReplyFault                           never ends a run: what one reply caused (scored 0, counted apart)

A message says what happened, where, and what to do next; it is shown on its own, without a traceback.
"""

from skillopt_exp.records import Fault


class SkillOptError(Exception):
    """Base of all errors shown to a user as one message. ``exit_code`` is the process's."""

    exit_code = 1


class UsageError(SkillOptError):
    """The command line, the configuration or the environment must change."""

    exit_code = 2


class DataError(SkillOptError):
    """A file, a field or a split must change. Names the file, and the line where there is one."""

    exit_code = 3


class ProviderError(SkillOptError):
    """The provider refused for good: asking again cannot help."""

    exit_code = 4


class BudgetError(SkillOptError):
    """A cap on money, tokens or calls was reached, or cannot be enforced."""

    exit_code = 5


class InterruptedRun(SkillOptError):
    """The run stopped in good order and can be resumed."""

    exit_code = 75


class OutageError(InterruptedRun):
    """The provider did not answer however often it was asked; nothing was scored because of it."""


class ReplyFault(Exception):
    """A model's reply that cannot be used, by the model's own doing.

    A rollout with such a reply scores 0 and carries ``kind``; a stage whose optimizer reply is
    such a fault goes on without that reply and counts it.
    """

    def __init__(self, kind: Fault, message: str) -> None:
        super().__init__(message)
        self.kind = kind
