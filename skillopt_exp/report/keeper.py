"""The watcher that writes ``report.html`` when a run ends, finished or not."""

from contextlib import suppress

from skillopt_exp.errors import DataError
from skillopt_exp.records import ScoredSkill, Summary
from skillopt_exp.report.contents import read_contents
from skillopt_exp.runs.files import write_atomic
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.watch import Watcher


class ReportKeeper(Watcher):
    """Reads what the folder has, so those who write it are told of the end before."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder

    def finished(self, summary: Summary, best: ScoredSkill) -> None:
        write_report(self._folder)

    def failed(self, error: BaseException, summary: Summary | None) -> None:
        # The error is what the user is to hear of; a damaged folder is told of by whoever goes on with it.
        with suppress(DataError):
            if summary is not None:
                write_report(self._folder)


def write_report(folder: RunFolder) -> None:
    """Write the page into ``folder``, over the one before.

    Raises:
        DataError: what the run stands on is damaged.
        InterruptedRun: the disk does not take it.
    """
    from skillopt_exp.report.page import render

    # Lone surrogates are written out by the page; nothing else has no UTF-8 form.
    write_atomic(folder.report, render(read_contents(folder)))
