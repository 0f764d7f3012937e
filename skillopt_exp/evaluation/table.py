"""An evaluation as a person reads it: what was asked, a row a skill, the difference in words and numbers."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from skillopt_exp import __version__
from skillopt_exp.display import (
    LEVEL,
    bare_percent,
    bracketed,
    counted,
    named,
    p_value,
    percent,
    plain_table,
    points,
    print_banner,
    print_groups,
    print_head,
    span,
    spent,
    taken,
)
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.evaluate import Evaluation, Question
from skillopt_exp.evaluation.scoring import Progress
from skillopt_exp.records import Evidence, Gain
from skillopt_exp.tracking.session import TrackedRun

_MOST_IDS = 10


def print_question(console: Console, question: Question, bench: Bench) -> None:
    """What is asked, before the first call."""
    title = f"[bold]skillopt_exp[/] {__version__}  {question.verb}"
    print_banner(console, title, simulated=bench.prepared.simulated)
    rows = [(name, each.described, "") for name, each in question.skills.items()]
    rows.append(("data", f"{bench.dataset}: {bench.split} {len(bench.items):,} items", bench.split.meaning))
    rows.append(("target", bench.target, ""))
    print_head(console, rows, bench.warnings)


@contextmanager
def progress_on(console: Console, bench: Bench) -> Iterator[Progress]:
    """A live line that counts attempts, where there is a terminal to show it on."""
    if not console.is_terminal:
        yield lambda name, ended: None
        return
    total = len(bench.attempts)
    with console.status("") as status:
        yield lambda name, ended: status.update(Text(f"{name}: {ended:,} of {total:,} items", "dim"))


def print_evaluation(
    console: Console, evaluation: Evaluation, folder: Path, tracked: TrackedRun | None
) -> None:
    """The result."""
    console.print(_standings(evaluation))
    console.print()
    first, second = evaluation.question.pair or (next(iter(evaluation.standings)), None)
    print_groups(console, evaluation.groups, evaluation.bench.split.meaning, first, second)
    rows = [
        *_difference(evaluation),
        ("spent", spent({evaluation.question.verb: evaluation.usage}), ""),
        ("results", str(folder), ""),
        *([] if tracked is None else [("MLflow", tracked.ui_command, ""), ("", tracked.link, "")]),
    ]
    print_head(console, rows, ())
    for note in evaluation.notes:
        console.print(Text.assemble(("note  ", "dim"), note), soft_wrap=True)


def conclusion(gain: Gain) -> str:
    """What the paired test lets one say of the two skills."""
    match gain.evidence:
        case Evidence.clear:
            better, worse = (gain.first, gain.second) if gain.hard > 0 else (gain.second, gain.first)
            return f"{better} is clearly better than {worse}"
        case Evidence.within_noise:
            return "no clear difference: within noise"
        case Evidence.underpowered:
            return "no clear difference: too few items to tell"


def _standings(evaluation: Evaluation) -> Table:
    columns = ("hard", LEVEL, "soft", LEVEL, "faults", "tokens in", "out")
    table = plain_table(evaluation.bench.split.meaning, *columns)
    for name, each in evaluation.standings.items():
        a_call = evaluation.scored[name].a_call
        table.add_row(
            Text(name),
            percent(each.hard),
            span(each.hard_interval, bare_percent),
            percent(each.soft),
            span(each.soft_interval, bare_percent),
            f"{each.num_faults:,}",
            counted(a_call.input),
            counted(a_call.output),
        )
    return table


def _difference(evaluation: Evaluation) -> Iterator[tuple[str, str, str]]:
    found, pair, extra = evaluation.difference, evaluation.question.pair, evaluation.extra_a_call
    if found is None or pair is None or extra is None:
        return
    gain, (first, second) = found.gain, pair
    yield "verdict", conclusion(gain), p_value(gain.hard_p)
    yield "hard", f"{points(gain.hard)} points{bracketed(gain.hard_interval)}", f"{first} minus {second}"
    yield "soft", f"{points(gain.soft)} points{bracketed(gain.soft_interval)}", ""
    yield (
        "items",
        f"{len(found.won):,} won, {len(found.lost):,} lost, {found.num_tied:,} tied",
        f"of the tied, both solve {len(found.tied_solved):,}",
    )
    tied = found.tied_solved + found.tied_unsolved
    for name, ids in (("won", found.won), ("lost", found.lost), ("tied", tied)):
        if ids:
            yield name, _some(ids), ""
    yield "a call", taken(extra), f"{first} minus {second}"


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - _MOST_IDS
    first = ", ".join(map(named, ids[:_MOST_IDS]))
    return f"{first} and {more:,} more (items.jsonl)" if more > 0 else first
