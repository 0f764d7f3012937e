"""The pictures of a report as SVG: text stays text, and colours follow the page's, light or dark.

matplotlib is imported when something is drawn, and draws without a display.
"""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from skillopt_exp.records import EpochRecord, Interval, Outcome, StepRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = {
    "#010101": "var(--ink)",
    "#020202": "var(--quiet)",
    "#030303": "var(--line)",
    "#040404": "var(--current)",
    "#050505": "var(--best)",
    "#060606": "var(--good)",
    "#070707": "var(--bad)",
}
"""Stand-ins that matplotlib knows, and what they become in the page."""
_INK, _QUIET, _LINE, _CURRENT, _BEST, _GOOD, _BAD = _COLOURS


@dataclass(frozen=True, slots=True)
class Size:
    """Of a picture in inches, for a screen that it fits."""

    width: float
    height: float


_LONG_LABEL = 18
"""Characters."""
_LEAST_SPAN = 20.0
_BEYOND = 2.0
"""Percent; so that marks at 0 and 100 are whole."""

WIDE, NARROW = Size(8.4, 3.5), Size(4.2, 3.9)


def learning_curve(records: Sequence[StepRecord], seed_hard: float | None, size: Size) -> str:
    """Scores on val over steps: current and best as lines, candidates as marks."""
    from matplotlib.ticker import MaxNLocator

    with _figure(size, f"curve {size.width}") as (figure, drawn):
        axes = figure.add_subplot()
        start = [(0, seed_hard)] if seed_hard is not None else []
        current = [*start, *((each.step, each.current_hard) for each in records)]
        best = [*start, *((each.step, each.best_hard) for each in records)]
        _line(axes, current, label="current", color=_CURRENT, linewidth=2.2)
        _line(axes, best, label="best so far", color=_BEST, linewidth=1.3, linestyle="--")
        _candidates(axes, records)
        for before, after in pairwise(records):
            if before.epoch != after.epoch:
                axes.axvline(before.step + 0.5, color=_LINE, linewidth=1.0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("step (a line ends an epoch)")
        axes.set_ylabel("solved on val, %")
        axes.set_ylim(*_room(*axes.get_ylim()))
        _plain(axes)
        figure.legend(
            loc="outside upper left", ncols=2 if size is NARROW else 5, frameon=False, labelcolor=_INK
        )
    return drawn[0]


def held_out_scores(scores: Sequence[tuple[str, Interval]]) -> str:
    """Each tested skill with its interval, the first on top. ``scores`` are fractions."""
    with _figure(Size(4.2, 0.75 + 0.42 * len(scores)), "test") as (figure, drawn):
        axes = figure.add_subplot()
        for place, (name, interval) in enumerate(reversed(scores)):
            colour = _GOOD if "best" in name else _CURRENT
            low, value, high = (100 * each for each in (interval.low, interval.value, interval.high))
            axes.plot([low, high], [place, place], color=colour, linewidth=2.2, solid_capstyle="butt")
            axes.plot([value], [place], marker="o", color=colour, markersize=6)
            axes.annotate(
                f"{value:.1f}", (value, place), (0, 7), textcoords="offset points", ha="center", color=_INK
            )
        names = [_broken(name) for name, _ in reversed(scores)]
        axes.set_yticks(range(len(scores)), names)
        axes.set_ylim(-0.6, len(scores) - 0.3)
        axes.set_xlim(*_room(*axes.get_xlim()))
        axes.set_xlabel("solved on test, %, with 95 % intervals")
        _plain(axes)
        axes.grid(axis="x", color=_LINE, linewidth=0.7)
        axes.grid(visible=False, axis="y")
    return drawn[0]


def _broken(name: str) -> str:
    """A long label on two lines."""
    return name.replace(", ", ",\n", 1) if len(name) > _LONG_LABEL else name


def _room(low: float, high: float) -> tuple[float, float]:
    """Ends of an axis of percents: no noise blown up to fill it, and hardly anything beyond 0 and 100."""
    missing = max(0.0, _LEAST_SPAN - (high - low)) / 2
    low, high = low - missing, high + missing
    low, high = (0.0, max(high, _LEAST_SPAN)) if low < 0 else (low, high)
    low, high = (min(low, 100 - _LEAST_SPAN), 100.0) if high > 100 else (low, high)
    return low - _BEYOND, high + _BEYOND


def _line(axes: "Axes", points: Sequence[tuple[int, float | None]], **style: Any) -> None:
    known = [(step, 100 * value) for step, value in points if value is not None]
    if known:
        axes.step(*zip(*known, strict=True), where="post", **style)


def _candidates(axes: "Axes", records: Sequence[StepRecord]) -> None:
    marks: dict[str, tuple[list[tuple[int, float]], dict[str, Any]]] = {
        "accepted": ([], {"marker": "o", "color": _GOOD, "s": 34, "zorder": 3}),
        "rejected": ([], {"marker": "x", "color": _BAD, "s": 26, "zorder": 3}),
        "rejected early, at most": (
            [],
            {"marker": "v", "facecolors": "none", "edgecolors": _BAD, "s": 26, "zorder": 3},
        ),
    }
    for step, verdict in _verdicts(records):
        if verdict.candidate_hard is not None:
            name = "accepted" if verdict.outcome is Outcome.accepted else "rejected"
            marks[name][0].append((step, 100 * verdict.candidate_hard))
        elif verdict.candidate_at_most is not None:
            marks["rejected early, at most"][0].append((step, 100 * verdict.candidate_at_most))
    for name, (points, style) in marks.items():
        if points:
            axes.scatter(*zip(*points, strict=True), label=name, **style)


def _verdicts(records: Sequence[StepRecord]) -> Iterator[tuple[int, StepRecord | EpochRecord]]:
    """What was decided on candidates, those of epochs' ends included, by step."""
    for record in records:
        for verdict in (record, record.epoch_end):
            if verdict is not None and verdict.outcome not in (None, Outcome.unchanged):
                yield record.step, verdict


def _plain(axes: "Axes") -> None:
    axes.grid(axis="y", color=_LINE, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=_QUIET, labelcolor=_INK, length=0)
    axes.xaxis.label.set_color(_QUIET)
    axes.yaxis.label.set_color(_QUIET)
    for side, spine in axes.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(_LINE)


@contextmanager
def _figure(size: Size, salt: str) -> Iterator[tuple["Figure", list[str]]]:
    """A figure to draw on; when the block ends, the list holds its SVG."""
    from matplotlib import style
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    drawn: list[str] = []
    settings: dict[str, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": salt,
        "font.family": "sans-serif",
        "font.size": 9.5,
    }
    with style.context(["default", settings]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure = Figure(figsize=(size.width, size.height), layout="constrained")
        FigureCanvasSVG(figure)
        yield figure, drawn
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
        drawn.append(_embedded(file.getvalue()))


def _embedded(svg: str) -> str:
    """The drawing as a part of a page: no prologue, no fonts or colours of its own, no ids that clash."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<(metadata|style)\b.*?</\1>", "", svg, flags=re.DOTALL)
    for stand_in, colour in _COLOURS.items():
        svg = svg.replace(stand_in, colour)
    svg = re.sub(r"(font: [\d.]+px )[^;\"]+", r"\1var(--font)", svg)
    svg = re.sub(r"font-family: [^;\"]+", "font-family: var(--font)", svg)
    referred = set(re.findall(r"#([\w.-]+)", svg))
    return re.sub(r' id="([\w.-]+)"', lambda found: found[0] if found[1] in referred else "", svg)
