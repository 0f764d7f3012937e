"""One job of a sweep: begun, or gone on with, in its own folder. What goes wrong stays in that folder.

Launchers hand results from process to process, and not every error survives that. So a job raises none:
it writes down how it failed, and who leads the sweep reads it there.
"""

import time
import traceback
from dataclasses import replace
from types import TracebackType

from omegaconf import DictConfig

from skillopt_exp.commands.running import Launch, go_on, start
from skillopt_exp.config.sweep import OnError
from skillopt_exp.errors import BudgetError, InterruptedRun, OutageError, SkillOptError
from skillopt_exp.redaction import redact
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.sweeps.folder import Failure, JobPlace
from skillopt_exp.tracking.mlflow_tracker import Child

_SECONDS_BETWEEN_LOOKS = 0.5
_LOG = "skillopt_exp.log"


def run_job(composed: DictConfig, place: JobPlace, launch: Launch) -> float | None:
    """Train in ``place``; the test is left to the winner unless ``sweep.test_all`` says otherwise.

    Returns the best skill's selection score; None where the job failed or the sweep was stopped before.
    """
    if not place.may_begin:
        return None
    place.forget_failure()
    job, score = place.job, None
    launch.console.print(f"\n[bold]job {job.number}[/bold]  {job.name}", highlight=False, soft_wrap=True)
    with _Attempt(place, stop=composed.sweep.on_error is OnError.stop, launch=launch):
        score = _train(composed, place, in_sweep(launch, place, tests=composed.sweep.test_all))
    return score


def in_sweep(launch: Launch, place: JobPlace, *, tests: bool) -> Launch:
    """``launch`` for the job at ``place``."""
    parent = place.sweep.read().parent
    child = Child(place.job.name, None if parent is None else parent.run_id)
    return replace(launch, child=child, tests=tests)


def _train(composed: DictConfig, place: JobPlace, launch: Launch) -> float | None:
    if not RunFolder.is_run(place.path):
        return start(composed, place.path, launch).best_selection_hard
    folder = RunFolder.open(place.path)
    if folder.in_use:
        launch.console.print(f"another process is at work on {place.path}; waiting until it has ended")
    while folder.in_use:
        time.sleep(_SECONDS_BETWEEN_LOOKS)
    summary = folder.ended(tested=launch.tests) or go_on(composed, folder, launch)
    return summary.best_selection_hard


class _Attempt:
    """Writes down how what runs inside has failed, and lets nothing out but what ends the process."""

    def __init__(self, place: JobPlace, *, stop: bool, launch: Launch) -> None:
        self._place = place
        self._stop = stop
        self._launch = launch

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None:
            return False
        failure = failure_of(error)
        with (self._place.path / _LOG).open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(failure.traceback)
        self._place.failed(failure)
        by_the_user = failure.resumable and not isinstance(error, OutageError | BudgetError)
        if self._stop or by_the_user:
            self._place.stop_others()
        said = f"job {self._place.job.number} {'stopped' if failure.resumable else 'failed'}: "
        self._launch.console.print(said + failure.message, markup=False, highlight=False, soft_wrap=True)
        return isinstance(error, Exception)


def failure_of(error: BaseException) -> Failure:
    """``error`` as it is kept: without secrets."""
    text = " ".join(str(error).split())
    own = isinstance(error, SkillOptError)
    return Failure(
        kind=type(error).__name__,
        message=redact(text if own else f"{type(error).__name__}: {text}".rstrip(": ")),
        exit_code=error.exit_code if isinstance(error, SkillOptError) else SkillOptError.exit_code,
        resumable=isinstance(error, InterruptedRun | BudgetError | KeyboardInterrupt),
        traceback=redact("".join(traceback.format_exception(error))),
    )
