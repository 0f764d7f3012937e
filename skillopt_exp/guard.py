"""Whatever the process says of itself passes the redactor: log records, warnings, tracebacks.

Installed once for the whole process, before anything else runs. Records are cleaned when they are
made, so that every handler gets clean ones, also those that somebody installs later.
"""

import logging
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import Any

from skillopt_exp.redaction import redact


class _CleanRecords:
    """Makes log records by way of ``make``, without secrets in message, traceback or stack."""

    def __init__(self, make: Callable[..., logging.LogRecord]) -> None:
        self._make = make

    def __call__(self, *args: Any, **kwargs: Any) -> logging.LogRecord:
        record = self._make(*args, **kwargs)
        try:
            said = record.getMessage()
        except (TypeError, ValueError, KeyError, AttributeError):
            # The arguments do not fit the message: logging would print both as they are, to stderr.
            said = f"{record.msg} {record.args!r}"
            record.msg, record.args = redact(said), None
        clean = redact(said)
        if clean != said:
            record.msg, record.args = clean, None
        if record.exc_info and record.exc_info[0] is not None:
            trace = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
            clean = redact(trace)
            if clean != trace:
                record.exc_info, record.exc_text = None, clean
        if record.stack_info:
            record.stack_info = redact(record.stack_info)
        return record


def guard_process() -> None:
    """Install the redactor; the second time nothing happens."""
    make = logging.getLogRecordFactory()
    if isinstance(make, _CleanRecords):
        return
    logging.setLogRecordFactory(_CleanRecords(make))
    format_warning = warnings.formatwarning

    def format_clean(*args: Any, **kwargs: Any) -> str:
        return redact(format_warning(*args, **kwargs))

    warnings.formatwarning = format_clean
    sys.excepthook = _report
    threading.excepthook = _report_thread
    sys.unraisablehook = _report_unraisable


def _report(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None, where: str = ""
) -> None:
    sys.stderr.write(where + redact("".join(traceback.format_exception(kind, error, trace))))


def _report_thread(hook: threading.ExceptHookArgs) -> None:
    if hook.exc_type is not SystemExit:
        name = hook.thread.name if hook.thread is not None else "an unnamed thread"
        _report(hook.exc_type, hook.exc_value, hook.exc_traceback, f"Exception in thread {name}:\n")


def _report_unraisable(hook: "sys.UnraisableHookArgs") -> None:
    _report(hook.exc_type, hook.exc_value, hook.exc_traceback, "Exception ignored:\n")
