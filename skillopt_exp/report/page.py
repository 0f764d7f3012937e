"""The page: what is known of a run put into its template, everything escaped that data or models wrote."""

import base64
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import groupby

from jinja2 import BaseLoader, Environment, StrictUndefined
from markupsafe import Markup

from skillopt_exp import display
from skillopt_exp.llm.meter import added
from skillopt_exp.records import Interval, Outcome, Rejection, Summary, Usage
from skillopt_exp.redaction import redact
from skillopt_exp.report.charts import NARROW, WIDE, held_out_scores, learning_curve
from skillopt_exp.report.contents import Change, Contents
from skillopt_exp.report.story import command_of, tell

MOST_IDS = 30
"""Ids of items that a change shows."""
MOST_REASONS = 6
MOST_PATTERNS = 15
_MOST_EPOCHS = 6


@dataclass(frozen=True, slots=True)
class Stretch:
    """One accepted change, or all that was not accepted between two of them."""

    changes: tuple[Change, ...]

    @property
    def accepted(self) -> bool:
        return self.changes[0].outcome is Outcome.accepted

    @property
    def counted(self) -> str:
        """How many ended in what."""
        counts = Counter(str(change.outcome) for change in self.changes)
        return ", ".join(f"{count} {outcome}" for outcome, count in counts.most_common())


def stretches(changes: Sequence[Change]) -> list[Stretch]:
    """The changes in order, what was passed over gathered."""
    found: list[Stretch] = []
    for accepted, some in groupby(changes, key=lambda each: each.outcome is Outcome.accepted):
        together = tuple(some)
        found.extend([Stretch((each,)) for each in together] if accepted else [Stretch(together)])
    return found


def render(contents: Contents) -> str:
    """The whole page as HTML, the same for the same run."""
    summary = contents.summary
    story = tell(summary, contents.overrides, str(contents.run.path), len(contents.records))
    tested = [] if summary is None else _tested(summary)
    manifest = contents.manifest
    dataset, target, optimizer = _about(contents)
    return (
        _environment()
        .from_string(_resource("report.html.j2"))
        .render(
            c=contents,
            s=summary,
            m=manifest,
            story=story,
            dataset=dataset,
            target=target,
            optimizer=optimizer,
            css=Markup(_resource("style.css")),
            tested=tested,
            tested_svg=Markup(held_out_scores(tested)) if tested else "",
            curve_wide=_curve(contents, narrow=False),
            curve_narrow=_curve(contents, narrow=True),
            picture=None
            if contents.picture is None
            else Markup(base64.b64encode(contents.picture).decode("ascii")),
            groups=[] if summary is None else display.largest(summary.test_by_group),
            stretches=stretches(contents.changes),
            patterns=contents.patterns[:MOST_PATTERNS],
            epochs=_epochs(contents),
            fates=_fates(contents),
            outcomes=_outcomes(contents),
            usages=[] if summary is None else _usages(summary),
            ratio=""
            if manifest is None or manifest.ratio is None
            else ":".join(f"{each:g}" for each in manifest.ratio),
            derived=[each for each in contents.settings if each.origin],
            again=command_of(contents.overrides),
        )
    )


def visible(value: object) -> object:
    """Text without secrets, and what is not printable written out: it would hide or turn what is near."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(
        each if each.isprintable() or each in "\n\t" else f"[U+{ord(each):04X}]" for each in redact(value)
    )


def _environment() -> Environment:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=visible, loader=BaseLoader(), trim_blocks=True
    )
    environment.globals.update(
        MOST_IDS=MOST_IDS,
        MOST_REASONS=MOST_REASONS,
        percent=display.percent,
        points=display.points,
        p_value=display.p_value,
        counted=display.counted,
        dollars=display.dollars,
        group_name=display.group_name,
        taken=display.taken,
        span=lambda interval: display.span(interval, display.bare_percent),
        points_span=lambda interval: display.span(interval, display.points),
    )
    return environment


def _resource(name: str) -> str:
    return files("skillopt_exp.report").joinpath(name).read_text(encoding="utf-8")


def _about(contents: Contents) -> tuple[str, str, str]:
    """Data set, target and optimizer by name."""
    summary = contents.summary
    if summary is not None:
        return summary.dataset, summary.target, summary.optimizer
    known = {each.key: each.value for each in contents.settings}
    return (
        known.get("dataset.name", "unknown data"),
        known.get("model.target.name", ""),
        known.get("model.optimizer.name", ""),
    )


def _tested(summary: Summary) -> list[tuple[str, Interval]]:
    """The tested skills, equal texts once: ``no skill, baseline``."""
    known = {
        "control": ("no skill", summary.control_test_hard_interval),
        "baseline": ("baseline", summary.baseline_test_hard_interval),
        "final": ("last", summary.final_test_hard_interval),
        "best": ("best", summary.test_hard_interval),
    }
    by_text: dict[str, tuple[list[str], Interval]] = {}
    for which, (name, interval) in known.items():
        if interval is not None:
            by_text.setdefault(summary.test_digests.get(which, which), ([], interval))[0].append(name)
    return [(", ".join(names), interval) for names, interval in by_text.values()]


def _curve(contents: Contents, *, narrow: bool) -> Markup | str:
    if not contents.records:
        return ""
    # Made of numbers and words of ours alone.
    return Markup(learning_curve(contents.records, contents.seed_hard, NARROW if narrow else WIDE))


def _epochs(contents: Contents) -> list[int]:
    """The epochs that a table has room for; none where there are too many."""
    found = sorted({record.epoch for record in contents.records})
    return found if len(found) <= _MOST_EPOCHS else []


def _fates(contents: Contents) -> list[tuple[str, int, str]]:
    records = contents.records
    rejected: dict[str, int] = {}
    for record in records:
        for reason, count in record.edits_rejected.items():
            rejected[reason] = rejected.get(reason, 0) + count
    rows = [
        ("proposed by reflection", sum(each.edits_reflected for each in records), ""),
        ("left after merging", sum(each.edits_merged for each in records), ""),
        ("left after ranking", sum(each.edits_proposed for each in records), "as many as the budget allows"),
        ("applied", sum(each.edits_applied for each in records), "part of a candidate"),
        (
            "part of an accepted candidate",
            sum(each.edits_applied for each in records if each.outcome is Outcome.accepted),
            "",
        ),
    ]
    named = [reason.value for reason in Rejection if reason.value in rejected]
    return [*rows, *((f"not applied: {reason}", rejected[reason], "") for reason in named)]


def _outcomes(contents: Contents) -> list[tuple[str, int]]:
    return [
        (f"steps {outcome}", sum(record.outcome is outcome for record in contents.records))
        for outcome in Outcome
    ]


def _usages(summary: Summary) -> list[tuple[str, Usage]]:
    by_role: dict[str, list[Usage]] = {}
    for name, usage in summary.usage.items():
        by_role.setdefault(name.partition("/")[0], []).append(usage)
    rows = [(name.replace("/", ", "), usage) for name, usage in sorted(summary.usage.items())]
    totals = [(f"{role}, all", added(usages)) for role, usages in sorted(by_role.items())]
    return [*rows, *totals, ("both", added(summary.usage.values()))]
