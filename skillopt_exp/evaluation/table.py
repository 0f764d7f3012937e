"""An evaluation as a person reads it: what was asked, a row a skill, the difference in words and numbers."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skillopt_exp import __version__
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.evaluate import Evaluation, Question
from skillopt_exp.evaluation.figures import Difference
from skillopt_exp.evaluation.scoring import Progress
from skillopt_exp.planning.table import print_head
from skillopt_exp.records import Evidence, Interval
from skillopt_exp.terminal import spent
from skillopt_exp.tracking.session import TrackedRun

_MOST_IDS = 10


def print_question(console: Console, question: Question, bench: Bench) -> None:
    """What is asked, before the first call."""
    console.print(f"[bold]skillopt_exp[/] {__version__}  {question.verb}", highlight=False)
    if bench.prepared.simulated:
        warning = "no network, no cost; the numbers say nothing about real models"
        console.print(f"[bold magenta]SIMULATED[/] {warning}")
    console.print()
    rows = [(name, each.described, "") for name, each in question.skills.items()]
    rows.append(("data", f"{bench.dataset}: {bench.split} {len(bench.items):,} items", bench.split_means))
    rows.append(("target", bench.target, ""))
    print_head(console, rows, bench.warnings)


@contextmanager
def progress_on(console: Console, bench: Bench) -> Iterator[Progress]:
    """A live line that counts attempts, where there is a terminal to show it on."""
    if not console.is_terminal:
        yield lambda name, ended: None
        return
    total = len(bench.items)
    with console.status("") as status:
        yield lambda name, ended: status.update(Text(f"{name}: {ended:,} of {total:,} items", "dim"))


def print_evaluation(
    console: Console, evaluation: Evaluation, folder: Path, tracked: TrackedRun | None
) -> None:
    """The result."""
    console.print(_standings(evaluation))
    console.print()
    rows = [
        *_difference(evaluation),
        ("spent", spent({evaluation.question.verb: evaluation.usage}), ""),
        ("results", str(folder), ""),
        *([] if tracked is None else [("MLflow", tracked.ui_command, ""), ("", tracked.link, "")]),
    ]
    print_head(console, rows, ())
    for note in evaluation.notes:
        console.print(Text.assemble(("note  ", "dim"), note), soft_wrap=True)


def conclusion(found: Difference, first: str, second: str) -> str:
    """What the paired test lets one say of ``first`` and ``second``."""
    match found.evidence:
        case Evidence.clear:
            better, worse = (first, second) if found.hard > 0 else (second, first)
            return f"{better} is clearly better than {worse}"
        case Evidence.within_noise:
            return "no clear difference: within noise"
        case Evidence.underpowered:
            return "no clear difference: too few items to tell"


def points(value: float) -> str:
    """A difference of shares, in percentage points."""
    return f"{100 * value:+.1f}"


def percent(share: float) -> str:
    """A share, in percent."""
    return f"{100 * share:.1f} %"


def p_value(p: float) -> str:
    """A p value as far as its size says something."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def span(interval: Interval | None, shown: Callable[[float], str]) -> str:
    """The ends of ``interval``, as ``shown`` writes them."""
    return "-" if interval is None else f"{shown(interval.low)} to {shown(interval.high)}"


def _standings(evaluation: Evaluation) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column("", no_wrap=True)
    for name in ("hard", "95 %", "soft", "95 %", "faults", "tokens in", "out"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, each in evaluation.standings.items():
        tokens = evaluation.scored[name].tokens
        table.add_row(
            Text(name),
            percent(each.hard),
            span(each.hard_interval, _plain),
            percent(each.soft),
            span(each.soft_interval, _plain),
            f"{each.num_faults:,}",
            _tokens(tokens.input),
            _tokens(tokens.output),
        )
    return table


def _difference(evaluation: Evaluation) -> Iterator[tuple[str, str, str]]:
    found, pair, extra = evaluation.difference, evaluation.question.pair, evaluation.extra_tokens
    if found is None or pair is None or extra is None:
        return
    first, second = pair
    yield "verdict", conclusion(found, first, second), p_value(found.hard_p)
    yield "hard", f"{points(found.hard)} points{_bracketed(found.hard_interval)}", f"{first} minus {second}"
    yield "soft", f"{points(found.soft)} points{_bracketed(found.soft_interval)}", ""
    yield (
        "items",
        f"{len(found.won):,} won, {len(found.lost):,} lost, {found.num_tied:,} tied",
        f"of the tied, both solve {len(found.tied_solved):,}",
    )
    tied = found.tied_solved + found.tied_unsolved
    for name, ids in (("won", found.won), ("lost", found.lost), ("tied", tied)):
        if ids:
            yield name, _some(ids), ""
    yield (
        "tokens",
        f"{_signed(extra.input)} in, {_signed(extra.output)} out",
        f"a call, {first} minus {second}",
    )


def _bracketed(interval: Interval | None) -> str:
    return "" if interval is None else f" (95 % interval {span(interval, points)})"


def _plain(share: float) -> str:
    return f"{100 * share:.1f}"


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - _MOST_IDS
    # An id may hold anything: what is not printable would reach the terminal as a command.
    named = ", ".join(each if each.isprintable() else ascii(each) for each in ids[:_MOST_IDS])
    return f"{named} and {more:,} more (items.jsonl)" if more > 0 else named


def _tokens(count: float | None) -> str:
    return "unknown" if count is None else f"{count:,.0f}"


def _signed(count: float | None) -> str:
    return "unknown" if count is None else f"{count:+,.1f}"
