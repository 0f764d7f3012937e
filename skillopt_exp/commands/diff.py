"""``diff``: two skills side by side."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp.commands.arguments import Verb, parse
from skillopt_exp.config.key import Affects, key

if TYPE_CHECKING:
    from rich.text import Text

VERB = Verb(
    "diff",
    "Show two skills side by side: lines that only a has are marked with -, lines that only b has with +.",
    "python -m skillopt_exp diff a=none b=best_skill.md",
)


@dataclass(kw_only=True)
class DiffArguments:
    """Keys of the verb."""

    a: str = key(affects=Affects.nothing, help="a Markdown file, a run's folder, or none")
    b: str = key(affects=Affects.nothing, help="the same")


def run(arguments: Sequence[str]) -> int:
    """Print both.

    Raises:
        UsageError: one of them is no skill.
    """
    asked = parse(DiffArguments, arguments, VERB)
    if asked is None:
        return 0
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from skillopt_exp.display import named
    from skillopt_exp.evaluation.source import find_skill
    from skillopt_exp.report.diff import side_by_side

    base = Path.cwd()
    one, other = (find_skill(given, key=name, base=base) for name, given in (("a", asked.a), ("b", asked.b)))
    console = Console()
    pairs = side_by_side(one.skill.text, other.skill.text)
    if all(pair.same for pair in pairs):
        console.print(Text(f"a and b are the same text: {named(one.described)}, {named(other.described)}"))
        return 0
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, expand=True)
    for name, skill in (("a", one), ("b", other)):
        table.add_column(Text(f"{name}: {named(skill.described)}"), overflow="fold", ratio=1)
    for pair in pairs:
        table.add_row(_cell(pair.before, "- ", "red", pair.same), _cell(pair.after, "+ ", "green", pair.same))
    console.print(table)
    return 0


def _cell(line: str | None, mark: str, colour: str, same: bool) -> "Text":
    from rich.text import Text

    from skillopt_exp.display import named

    if line is None:
        return Text()
    shown = named(line.replace("\t", "    "))
    return Text(f"  {shown}") if same else Text(f"{mark}{shown}", style=colour)
