"""Ending in good order when somebody asks for it: Ctrl-C, or SIGTERM from a scheduler."""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from skillopt_exp.errors import InterruptedRun

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stop_in_good_order() -> Iterator[None]:
    """The first such signal cancels the current task; a second one ends the process as usual.

    Raises:
        InterruptedRun: in place of the cancellation, naming the signal.
    """
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    assert task is not None
    received: list[signal.Signals] = []

    def release() -> None:
        for each in SIGNALS:
            with suppress(NotImplementedError, ValueError, RuntimeError):
                loop.remove_signal_handler(each)

    def stop(which: signal.Signals) -> None:
        received.append(which)
        release()
        task.cancel()

    for each in SIGNALS:
        # Not everywhere: only the main thread of a Unix process can take signals.
        with suppress(NotImplementedError, ValueError, RuntimeError):
            loop.add_signal_handler(each, stop, each)
    try:
        yield
    except asyncio.CancelledError as error:
        if not received:
            raise
        raise InterruptedRun(f"stopped by {received[0].name}") from error
    finally:
        release()
