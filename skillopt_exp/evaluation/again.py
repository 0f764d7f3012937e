"""What is said of an evaluation that was stopped: it has no folder to resume, it is given again."""

from collections.abc import Iterator
from contextlib import contextmanager

from skillopt_exp.errors import InterruptedRun, OutageError
from skillopt_exp.llm.activity import Activity

_AGAIN = "give the same command again (answers that are in the store are not paid for twice)"

AN_EVALUATION = Activity(
    halts="the evaluation stops, and nothing was scored because of it",
    again=_AGAIN,
    command="the same command with",
)


@contextmanager
def says_how_to_go_on() -> Iterator[None]:
    """Adds it to what interrupts the block; an outage says it already."""
    try:
        yield
    except OutageError:
        raise
    except InterruptedRun as error:
        raise InterruptedRun(f"{error}. To go on with an evaluation, {_AGAIN}") from error
