"""``items.png``: items over steps, solved or not, sorted by what became of them.

matplotlib is imported when something is drawn, and draws without a display.
"""

import io
import warnings
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from skillopt_exp.items.ledger import SEED, Column, Fate, Ledger, Row, by_fate
from skillopt_exp.records import Split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_UNSOLVED, _SOLVED, _ABSENT = "#f2e3c9", "#1f5f8b", "#ffffff"
"""Told apart by lightness, too: in print, and by whoever does not see colours."""
_FAINT = 0.35
_REJECTED_WIDTH = 0.35
"""Of a rejected candidate's column, in widths of an accepted one's."""
_REJECTED_ROOM = 0.6
"""Of the width of all accepted columns, what all rejected ones may take together."""
_DPI = 150
_LABEL_HEIGHT = 0.16
"""Inches."""
_MOST_NAMED_ITEMS = 60
_LONGEST_NAME = 28
_MOST_COLUMN_LABELS = 40

Section = tuple[Fate, list[Row]]
"""The rows of one fate."""


def draw(ledger: Ledger) -> bytes:
    """The picture as a PNG file, the same bytes for the same ledger and version of matplotlib."""
    from matplotlib import style
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    sections = list(by_fate(ledger.rows))
    rows = [row for _, some in sections for row in some]
    file = io.BytesIO()
    # The user's own settings would make another picture; ids may hold characters that no font has.
    with style.context("default"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=_size(ledger, sections), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        _cells(axes, ledger.columns, rows)
        _columns(axes, ledger.columns)
        _items(axes, rows)
        _sections(axes, sections, _edges(ledger.columns)[-1])
        _legend(axes, ledger)
        axes.set_title(_title(ledger), fontsize=10, loc="left")
        figure.savefig(file, format="png", dpi=_DPI, metadata={"Software": None})
    return file.getvalue()


def _size(ledger: Ledger, sections: Sequence[Section]) -> tuple[float, float]:
    """In inches, with room around the cells for what is written there."""
    width = 0.42 * _edges(ledger.columns)[-1] + 4.5
    return min(max(width, 7.5), 18.0), _height(sections) + 1.7


def _height(sections: Sequence[Section]) -> float:
    """Of the cells in inches: a row as high as its name needs, or as low as lets all of them on a screen."""
    num_rows = sum(len(rows) for _, rows in sections)
    return max(0.16 * num_rows, 1.2) if num_rows <= _MOST_NAMED_ITEMS else min(0.05 * num_rows, 9.0)


def _edges(columns: Sequence[Column]) -> list[float]:
    """Where columns begin, and where the last one ends: however many are rejected, they stay in between."""
    num_accepted = sum(column.accepted for column in columns)
    num_rejected = len(columns) - num_accepted
    narrow = min(_REJECTED_WIDTH, _REJECTED_ROOM * num_accepted / num_rejected) if num_rejected else 0.0
    return list(accumulate((1.0 if column.accepted else narrow for column in columns), initial=0.0))


def _middles(columns: Sequence[Column]) -> list[float]:
    return [(left + right) / 2 for left, right in pairwise(_edges(columns))]


def _cells(axes: "Axes", columns: Sequence[Column], rows: Sequence[Row]) -> None:
    import numpy as np
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("solved", [_UNSOLVED, _SOLVED])
    edges = _edges(columns)
    for column, (left, right) in zip(columns, pairwise(edges), strict=True):
        scores = [column.scores.get(row.item.id, np.nan) for row in rows]
        axes.pcolormesh(
            [left, right],
            np.arange(len(rows) + 1),
            np.ma.masked_invalid(np.array(scores, dtype=float).reshape(-1, 1)),
            cmap=colours,
            vmin=0.0,
            vmax=1.0,
            alpha=None if column.accepted else _FAINT,
        )
        for edge in (left, right):
            axes.axvline(edge, color="white", linewidth=1.0 if column.accepted else 0.3)
    axes.set_facecolor(_ABSENT)
    axes.set_ylim(len(rows), 0)
    axes.set_xlim(0, edges[-1])
    for side in axes.spines.values():
        side.set_visible(False)


def _columns(axes: "Axes", columns: Sequence[Column]) -> None:
    """Below, the number of each accepted step; above, the share that it solves."""
    shown = [
        (middle, column) for middle, column in zip(_middles(columns), columns, strict=True) if column.accepted
    ]
    every = -(-len(shown) // _MOST_COLUMN_LABELS)
    labelled = shown[::every]
    middles = [middle for middle, _ in labelled]
    axes.set_xticks(middles, [_label(column) for _, column in labelled], fontsize=8)
    axes.tick_params(axis="both", length=0)
    axes.set_xlabel("accepted step", fontsize=9)
    above = axes.secondary_xaxis("top")
    above.set_xticks(middles, [_share(column) for _, column in labelled])
    above.tick_params(length=0, labelsize=8)
    above.spines["top"].set_visible(False)


def _label(column: Column) -> str:
    if column.name == SEED:
        return SEED
    _, number, *end = column.name.split("_")
    return f"{int(number)}\nend of\nepoch" if end else str(int(number))


def _share(column: Column) -> str:
    share = column.share_solved
    return "" if share is None else f"{100 * share:.0f} %"


def _items(axes: "Axes", rows: Sequence[Row]) -> None:
    if len(rows) > _MOST_NAMED_ITEMS:
        axes.set_yticks([])
        return
    names = [_short(row.item.id) for row in rows]
    axes.set_yticks([place + 0.5 for place in range(len(rows))], names, fontsize=7, parse_math=False)


def _short(name: str) -> str:
    safe = "".join(each if each.isprintable() else "?" for each in name)
    return safe if len(safe) <= _LONGEST_NAME else f"{safe[: _LONGEST_NAME - 1]}…"


def _sections(axes: "Axes", sections: Sequence[Section], right: float) -> None:
    """On the right, what became of the items and how many they are; a line between two sections."""
    gap = _LABEL_HEIGHT * sum(len(rows) for _, rows in sections) / _height(sections)
    top, lowest = 0, -gap
    for fate, rows in sections:
        bottom = top + len(rows)
        lowest = max((top + bottom) / 2, lowest + gap)  # the labels of two small sections do not overlap
        axes.annotate(
            f"{len(rows):,} {fate}",
            xy=(right, lowest),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            annotation_clip=False,
        )
        if top:
            axes.axhline(top, color="black", linewidth=0.8)
        top = bottom


def _legend(axes: "Axes", ledger: Ledger) -> None:
    from matplotlib.patches import Patch

    patches = [Patch(facecolor=_SOLVED, label="solved"), Patch(facecolor=_UNSOLVED, label="not solved")]
    if not all(column.accepted for column in ledger.columns):
        patches.append(Patch(facecolor=_SOLVED, alpha=_FAINT, label="narrow and faint: a rejected candidate"))
    if any(item.id not in column.scores for column in ledger.columns for item in ledger.items):
        patches.append(Patch(facecolor=_ABSENT, edgecolor="grey", label="not scored"))
    axes.figure.legend(
        handles=patches, loc="outside lower left", ncols=len(patches), fontsize=8, frameon=False
    )


def _title(ledger: Ledger) -> str:
    changes = len(ledger.accepted) - 1
    rejected = len(ledger.columns) - len(ledger.accepted)
    return (
        f"{Split.val} ({Split.val.meaning}): {len(ledger.items):,} items, "
        f"{changes} accepted and {rejected} rejected candidates"
    )
