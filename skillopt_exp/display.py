"""How figures and rows look in a terminal: one place for percent, points, dollars and what is unknown.

Scores come in as fractions and go out as percent; None is what is not known, and never shown as zero.
"""

from collections.abc import Callable, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from skillopt_exp.llm.meter import added
from skillopt_exp.records import ACall, Gain, GroupResult, Interval, Usage
from skillopt_exp.stats import CONFIDENCE

Row = tuple[str, str, str]
"""A name, its value, and a remark that may be empty."""

LEVEL = f"{100 * CONFIDENCE:g} %"
"""The confidence of every interval that is shown."""

MOST_GROUPS = 12
"""Groups that a table shows, the largest; all of them stand in a file."""

_NOTHING = "-"
_SMALL = "*"


def print_banner(console: Console, title: str, *, simulated: bool) -> None:
    """What runs and, in the line below, whether its models are simulated; then a blank line."""
    console.print(Text.from_markup(title), soft_wrap=True, highlight=False)
    if simulated:
        announce_simulation(console)
    console.print()


def announce_simulation(console: Console) -> None:
    """Say that no model is asked, wherever numbers follow."""
    said = "no network, no cost; the numbers say nothing about real models"
    console.print(f"[bold magenta]SIMULATED[/] {said}", soft_wrap=True, highlight=False)


def print_rows(console: Console, rows: Sequence[Row]) -> None:
    """Names, values and remarks in columns; long values are never cut, so that they can be copied."""
    width = max(len(name) for name, _, _ in rows)
    for name, value, remark in rows:
        line = Text.assemble((f"{name:<{width}}  ", "dim"), value, (f"   {remark}" if remark else "", "dim"))
        console.print(line, soft_wrap=True, highlight=False)


def steps_row(num_epochs: int, an_epoch: int | None) -> Row:
    """How many steps a training takes; without a number of steps an epoch as long as it goes on."""
    if an_epoch is None:
        return "steps", "open", "as many as the optimizer takes"
    epochs = "1 epoch" if num_epochs == 1 else f"{num_epochs} epochs"
    return "steps", str(num_epochs * an_epoch), f"{epochs} of {an_epoch}"


def print_warnings(console: Console, warnings: Sequence[str]) -> None:
    """One line each."""
    for warning in warnings:
        console.print(Text.assemble(("warning  ", "yellow"), warning), soft_wrap=True)


def print_head(console: Console, rows: Sequence[Row], warnings: Sequence[str]) -> None:
    """The rows, then what to be warned of, then a blank line."""
    print_rows(console, rows)
    print_warnings(console, warnings)
    console.print()


def percent(share: float | None) -> str:
    """A share, in percent."""
    return _NOTHING if share is None else f"{100 * share:.1f} %"


def bare_percent(share: float) -> str:
    """The same without its sign, for tables."""
    return f"{100 * share:.1f}"


def points(value: float) -> str:
    """A difference of shares, in percentage points."""
    return f"{100 * value:+.1f}"


def span(interval: Interval | None, shown: Callable[[float], str]) -> str:
    """The ends of ``interval``, as ``shown`` writes them."""
    return _NOTHING if interval is None else f"{shown(interval.low)} to {shown(interval.high)}"


def bracketed(interval: Interval | None, shown: Callable[[float], str] = points) -> str:
    """The ends of ``interval`` as they follow its value; nothing where there is none."""
    return "" if interval is None else f" ({LEVEL} interval {span(interval, shown)})"


def p_value(p: float) -> str:
    """A p value as far as its size says something."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.4f}"


def counted(count: float | None) -> str:
    """A whole number of tokens or calls, which may be unknown."""
    return "unknown" if count is None else f"{count:,.0f}"


def signed(value: float | None) -> str:
    """A difference with its sign and one digit, which may be unknown."""
    return "unknown" if value is None else f"{value:+,.1f}"


def dollars(value: float) -> str:
    """An amount without its sign: cents, and more digits where cents say nothing."""
    return f"{value:,.2f}" if value >= 1 or value == 0 else f"{value:.4f}"


def spent(usage: Mapping[str, Usage]) -> str:
    """Calls, tokens and money in one line; what a provider did not say is unknown, not zero."""
    total = added(usage.values())
    text = f"{total.calls:,} calls, {counted(total.input_tokens)} tokens in, "
    text += f"{counted(total.output_tokens)} out"
    text += ", cost unknown" if total.cost_usd is None else f", ${dollars(total.cost_usd)}"
    if total.lost:
        text += f"; {total.lost:,} more sent, answer lost"
    return f"{text}; {total.reused:,} answers reused from the store" if total.reused else text


def named(text: str) -> str:
    """A name out of the data: what is not printable would reach the terminal as a command."""
    return text if text.isprintable() else ascii(text)


def taken(a_call: ACall) -> str:
    """What one call takes more than another one: tokens, and seconds where calls were waited for."""
    text = f"{signed(a_call.input)} tokens in, {signed(a_call.output)} out"
    return text if a_call.seconds is None else f"{text}, {a_call.seconds:+.2f} s"


def plain_table(first: str, *others: str) -> Table:
    """A table of figures that fits 80 columns: names on the left, the rest to the right."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, collapse_padding=True)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def print_groups(
    console: Console, groups: Mapping[str, GroupResult], title: str, first: str, second: str | None
) -> None:
    """A row a group, the largest first: the skill called ``first``, and what it is against ``second``.

    Prints nothing where there are no groups.
    """
    if not groups:
        return
    against = () if second is None else (second, "points", LEVEL)
    table = plain_table(title, "items", first, LEVEL, "soft", *against)
    shown = largest(groups)
    for name, each in shown:
        marked = f"{each.num_items:,}{_SMALL if each.small else ''}"
        table.add_row(Text(group_name(name)), marked, *_figures(each, first, second))
    console.print(table)
    if any(each.small for _, each in shown):
        console.print(Text(f"{_SMALL} too few items to tell any but a very large gain from luck", "dim"))
    if len(groups) > MOST_GROUPS:
        console.print(Text(f"{len(groups) - MOST_GROUPS:,} smaller groups are in summary.json", "dim"))
    console.print()


def largest(groups: Mapping[str, GroupResult]) -> list[tuple[str, GroupResult]]:
    """The groups that a table shows."""
    by_size = sorted(groups.items(), key=lambda each: (-each[1].num_items, each[0]))
    return by_size[:MOST_GROUPS]


def group_name(name: str) -> str:
    """What a group is called; items without one are a group, too."""
    return named(name) if name else "(no group)"


def _figures(group: GroupResult, first: str, second: str | None) -> list[str]:
    one = group.standings[first]
    cells = [bare_percent(one.hard), span(one.hard_interval, bare_percent), bare_percent(one.soft)]
    if second is not None:
        gain: Gain | None = group.gain
        assert gain is not None, "whoever compares two skills compares them in each group"
        cells += [
            bare_percent(group.standings[second].hard),
            points(gain.hard),
            span(gain.hard_interval, points),
        ]
    return cells
