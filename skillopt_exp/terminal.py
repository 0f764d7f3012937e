"""What a person sees of a run: what was decided, one line a step, the result and where it lies."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.markup import escape
from rich.text import Text

from skillopt_exp import __version__
from skillopt_exp.closing import HELD_OUT, rows_of_end, rows_of_stop
from skillopt_exp.display import (
    percent,
    print_banner,
    print_groups,
    print_head,
    print_rows,
    steps_row,
)
from skillopt_exp.held_out import HEADLINE
from skillopt_exp.records import (
    NO_CALLS,
    ACall,
    EpochRecord,
    Metric,
    Outcome,
    Progress,
    Rollout,
    ScoredSkill,
    Skill,
    Split,
    StepTrace,
    StopReason,
    Summary,
    Usage,
    Verdict,
)
from skillopt_exp.summary import status_of
from skillopt_exp.tracking.session import TrackedRun
from skillopt_exp.watch import Opening, Watcher

_STYLES = {
    Outcome.accepted: "green",
    Outcome.rejected: "yellow",
    Outcome.unchanged: "dim",
    Outcome.inconclusive: "red",
}


_WHY_STOPPED = {
    StopReason.ceiling: "training ends here: no candidate can score enough on val to be accepted any more",
    StopReason.patience: "training ends here: train.patience epochs went by without an accepted candidate",
}
_LABELS = f"train is {Split.train.meaning}; val, candidate and best are {Split.val.meaning} (val)"
"""What the scores of a step are."""
_HYDRAS_HANDLER = "console"

_COLUMNS = "{:>7}  {:>5}  {:>7}  {:>7}  {:>9}  {:>7}  {:>8}   "
"""Of a step: number, epoch, train score, val score before and of the candidate, best, edits applied."""


class _Said(logging.Handler):
    """Shows log records as the run's other warnings; what is less than a warning stays dim."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        style = "yellow" if record.levelno >= logging.WARNING else "dim"
        name = record.levelname.lower()
        said = Text.assemble((f"{name}  ", style), record.getMessage())
        self._console.print(said, soft_wrap=True, highlight=False)


@contextmanager
def warnings_on(console: Console) -> Iterator[None]:
    """Until the block ends, what is logged is shown on ``console`` and not as raw lines of a log.

    Hydra's own handler for the screen steps aside; one for a file keeps everything as it is.
    """
    root, said = logging.getLogger(), _Said(console)
    raw = [handler for handler in root.handlers if handler.get_name() == _HYDRAS_HANDLER]
    for handler in raw:
        root.removeHandler(handler)
    root.addHandler(said)
    try:
        yield
    finally:
        root.removeHandler(said)
        for handler in raw:
            root.addHandler(handler)


class Terminal(Watcher):
    """Prints to ``console``. Where it is a terminal, a live line counts calls while a step is under way.

    ``usage`` is asked for what was spent so far, by role and stage; ``tracked`` says, once the run is
    over, how to open it in the tracker. ``sees`` says what the gate can see where a share of val is solved.
    """

    def __init__(
        self,
        console: Console,
        *,
        usage: Callable[[], Mapping[str, Usage]],
        tracked: Callable[[], TrackedRun | None],
        sees: Callable[[float], str] = lambda baseline: "",
    ) -> None:
        self._console = console
        self._usage = usage
        self._tracked = tracked
        self._sees = sees
        self._opening: Opening | None = None
        self._doing = "scoring the seed skill on val"
        self._current: float | None = None
        self._live = Live(
            console=console,
            get_renderable=self._status,
            refresh_per_second=4,
            transient=True,
            auto_refresh=True,
        )

    def opened(self, opening: Opening) -> None:
        self._opening = opening
        chosen = "  ".join(f"{group}={name}" for group, name in sorted(opening.choices.items()))
        title = f"[bold]skillopt_exp[/] {__version__}  {escape(chosen)}"
        print_banner(self._console, title, simulated=opening.simulated)
        sizes = " · ".join(f"{split} {opening.sizes[split]:,}" for split in Split)
        rows = [("data", f"{opening.dataset}: {sizes} items", "")]
        rows += [("target", opening.target, ""), ("optimizer", opening.optimizer, "")]
        rows += [(origin.key, origin.value, origin.source) for origin in opening.origins]
        rows += [_planned_steps(opening), ("folder", str(opening.folder), "")]
        print_head(self._console, rows, opening.warnings)
        if self._console.is_terminal:
            self._live.start()

    def baseline(self, seed: ScoredSkill, selection: Sequence[Rollout]) -> None:
        hard = seed.mean(Metric.hard)
        sees = (
            "" if hard is None or self._opening is None or self._opening.evaluates_only else self._sees(hard)
        )
        self._start_table(seed, seed, next_step=1, sees=sees)

    def resumed(self, progress: Progress) -> None:
        self._console.print(f"resumed after step {progress.state.step}", highlight=False)
        self._start_table(progress.seed, progress.state.current, next_step=progress.state.step + 1)

    def _start_table(
        self, seed: ScoredSkill, current: ScoredSkill, *, next_step: int, sees: str = ""
    ) -> None:
        self._current = current.mean(Metric.hard)
        hard, soft = seed.mean(Metric.hard), seed.mean(Metric.soft)
        self._console.print(f"seed skill: val {percent(hard)} hard, {percent(soft)} soft")
        if sees:
            self._console.print(Text(sees, "dim"), soft_wrap=True)
        self._console.print()
        self._announce(next_step)
        assert self._opening is not None
        if self._opening.evaluates_only:
            return
        self._console.print(Text(f"{_LABELS}; {HELD_OUT} comes at the end", "dim"), soft_wrap=True)
        self._console.print(
            Text(
                _COLUMNS.format("step", "epoch", "train", "val", "candidate", "best", "edits") + "verdict",
                "dim",
            )
        )

    def step(self, trace: StepTrace) -> None:
        record, verdict = trace.record, trace.judged.verdict
        before, self._current = self._current, record.current_hard
        assert self._opening is not None
        total = self._opening.total_steps
        columns = _COLUMNS.format(
            str(record.step) if total is None else f"{record.step}/{total}",
            record.epoch,
            percent(record.train_hard),
            percent(before),
            _scored(record.candidate_hard, record.candidate_at_most),
            percent(record.best_hard),
            f"{record.edits_applied} of {record.edits_proposed}" if record.edits_proposed else "none",
        )
        detail = f"  {verdict.detail}" if verdict.detail else ""
        line = Text.assemble(columns, (str(verdict), _STYLES[verdict.outcome]), (detail, "dim"))
        self._console.print(line, highlight=False, soft_wrap=True)
        if trace.epoch_end is not None:
            self._show_epoch_end(trace.epoch, trace.epoch_end.record)
        self._announce(record.step + 1)

    def _show_epoch_end(self, epoch: int, end: EpochRecord) -> None:
        """What the guidance and the advice of an epoch's end came to."""
        pairs = ", ".join(f"{count} {change}" for change, count in end.pairs.items())
        line = Text(f"{'':>7}  {epoch:>5}  end of epoch: {pairs}", "dim")
        if end.outcome is not None:
            verdict = str(Verdict(end.outcome, end.by))
            score = _scored(end.candidate_hard, end.candidate_at_most)
            line.append(f"; guidance {score} ").append(verdict, _STYLES[end.outcome])
        self._console.print(line, highlight=False, soft_wrap=True)

    def stopped(self, reason: StopReason) -> None:
        assert self._opening is not None
        self._console.print(_WHY_STOPPED[reason], highlight=False, soft_wrap=True)
        self._doing = "scoring on test"

    def tested(self, which: str, skill: Skill, rollouts: Sequence[Rollout], a_call: ACall = NO_CALLS) -> None:
        self._live.stop()

    def finished(self, summary: Summary, best: ScoredSkill) -> None:
        self._live.stop()
        assert self._opening is not None
        self._console.print()
        print_groups(self._console, summary.test_by_group, Split.test.meaning, *HEADLINE)
        rows = rows_of_end(summary, self._opening.folder, evaluates_only=self._opening.evaluates_only)
        tracked = self._tracked()
        if tracked is not None:
            rows += [("MLflow", tracked.ui_command, ""), ("", tracked.link, "")]
        print_rows(self._console, rows)

    def failed(self, error: BaseException, summary: Summary | None) -> None:
        self._live.stop()
        if self._opening is None:
            return
        status = status_of(error) if summary is None else summary.status
        rows = rows_of_stop(status, summary, self._opening.folder)
        self._console.print()
        print_rows(self._console, rows)

    def _announce(self, step: int) -> None:
        assert self._opening is not None
        total = self._opening.total_steps
        if total is None:
            self._doing = f"step {step}, then test"
        else:
            self._doing = f"step {step} of {total}" if step <= total else "scoring on test"

    def _status(self) -> Text:
        calls = sum(usage.calls for usage in self._usage().values())
        return Text(f"  {self._doing}, {calls:,} calls so far", style="dim")


def _planned_steps(opening: Opening) -> tuple[str, str, str]:
    if opening.evaluates_only:
        return "steps", "none", "the seed skill is evaluated only"
    return steps_row(opening.num_epochs, opening.steps_per_epoch)


def _scored(share: float | None, at_most: float | None) -> str:
    """A candidate's score, or what it could have reached at most where its evaluation ended early."""
    return percent(share) if at_most is None else f"<={percent(at_most)}"
