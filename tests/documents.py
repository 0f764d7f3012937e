"""Reading the documentation: its fenced blocks, the commands in them, its tables and links."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "bench" / "README.md")

_FENCE = re.compile(r"^```(\S*)[ ]?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
_CELL_BORDER = re.compile(r"(?<!\\)\|")
_RULER = re.compile(r"[|:\- ]+")


@dataclass(frozen=True)
class Block:
    """One fenced block. ``name`` is what follows its language: the file that the text is to be saved as."""

    page: Path
    line: int
    language: str
    name: str
    text: str

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT).as_posix()}:{self.line}"


@dataclass(frozen=True)
class Command:
    """One command of ours, without ``python -m``, and the lines that the page shows below it."""

    arguments: tuple[str, ...]
    shown: tuple[str, ...]

    @property
    def fails(self) -> bool:
        """Whether the page says so."""
        return bool(self.shown) and self.shown[0].startswith("error: ")


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for match in _FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        yield Block(page, line, match[1], match[2].strip(), match[3])


def commands(block: Block) -> list[Command]:
    """The commands of a ``console`` block that run this package; lines that are no command are output."""
    found: list[Command] = []
    ours = False
    for line in block.text.replace("\\\n", " ").splitlines():
        if line.startswith("$ "):
            words = shlex.split(line[2:], comments=True)
            ours = words[:2] == ["python", "-m"] and words[2].split(".")[0] == "skillopt_exp"
            if ours:
                found.append(Command(tuple(words[2:]), ()))
        elif ours and line.strip():
            found[-1] = Command(found[-1].arguments, (*found[-1].shown, line))
    return found


def tables(page: Path, *columns: str) -> list[list[tuple[str, ...]]]:
    """The rows of each table of ``page`` whose header is ``columns``, cells as they are written."""
    return [rows for header, rows in _tables(page) if header == columns]


def table(page: Path, *columns: str) -> list[tuple[str, ...]]:
    """The rows of the one such table."""
    found = tables(page, *columns)
    assert len(found) == 1, f"{page.name} has {len(found)} tables with the columns {columns}"
    return found[0]


def coded(cell: str) -> list[str]:
    """What stands in backticks in a cell."""
    return re.findall(r"`([^`]*)`", cell)


def prose_of(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    """The targets of all links of a page's prose."""
    return _LINK.findall(prose_of(page))


def anchors(page: Path) -> set[str]:
    """What a link can point at inside of a page: its headings, as GitHub names them."""
    headings = re.findall(r"^#+ (.+)$", prose_of(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _tables(page: Path) -> Iterator[tuple[tuple[str, ...], list[tuple[str, ...]]]]:
    rows: list[tuple[str, ...]] = []
    for line in [*prose_of(page).splitlines(), ""]:
        if line.startswith("|"):
            if not _RULER.fullmatch(line):
                rows.append(tuple(cell.strip() for cell in _CELL_BORDER.split(line)[1:-1]))
        elif rows:
            yield rows[0], rows[1:]
            rows = []
