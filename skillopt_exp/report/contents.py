"""All that a report tells of a run, read from the run's folder.

What the algorithm stands on (state, history, summary) must be sound; any other file may be missing or
damaged, and the report then tells less.
"""

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import yaml

from skillopt_exp.data.manifest import Manifest
from skillopt_exp.errors import DataError
from skillopt_exp.records import EditResult, EpochRecord, Outcome, Patch, StepRecord, Summary, mean
from skillopt_exp.report.diff import Line, diff
from skillopt_exp.runs.codec import from_json
from skillopt_exp.runs.composed import OVERRIDES
from skillopt_exp.runs.files import read_text
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.recorder import EpochFile
from skillopt_exp.runs.rollouts import read_rollouts
from skillopt_exp.runs.state import read_skill_text
from skillopt_exp.watch import Origin

T = TypeVar("T")

_MOST_PICTURE = 5_000_000
"""Bytes of a picture that a page takes in."""


@dataclass(frozen=True, slots=True)
class Change:
    """A candidate with what led to it. ``name`` is that of its file: ``step_0004``, maybe an epoch's end.

    ``reasons`` are the optimizer's words on what failed, with how many minibatches said so; ``fixed`` and
    ``broken`` the ids of val items (of accepted changes alone).
    """

    name: str
    step: int
    epoch: int
    at_epoch_end: bool
    verdict: StepRecord | EpochRecord
    reasons: tuple[tuple[str, int], ...]
    edits: tuple[EditResult, ...]
    diff: tuple[Line, ...]
    before_hard: float | None
    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        return self.verdict.outcome or Outcome.unchanged


@dataclass(frozen=True, slots=True)
class Setting:
    """One configured value with where it comes from, empty where it was chosen or is the default."""

    key: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """Something that the optimizer saw fail, with how many minibatches of each epoch said so."""

    words: str
    by_epoch: Mapping[int, int]

    @property
    def total(self) -> int:
        return sum(self.by_epoch.values())


@dataclass(frozen=True, slots=True)
class Contents:
    """One run. ``seed_hard`` and all scores are fractions; None and empty is what is not known."""

    run: RunFolder
    summary: Summary | None
    records: tuple[StepRecord, ...]
    seed_hard: float | None
    best_skill: str
    changes: tuple[Change, ...]
    patterns: tuple[Pattern, ...]
    manifest: Manifest | None
    settings: tuple[Setting, ...]
    config_yaml: str
    overrides: tuple[str, ...] | None
    picture: bytes | None = field(repr=False)

    @property
    def simulated(self) -> bool:
        """Whether any model was; not known before there is a summary, then the configuration says it."""
        if self.summary is not None:
            return self.summary.simulated
        return any(each.key.endswith(".provider") and each.value == "simulated" for each in self.settings)


def read_contents(run: RunFolder) -> Contents:
    """What is known of ``run`` now; it may be at work.

    Raises:
        DataError: its state, its history or its summary is damaged.
    """
    state, records = run.read_state(), run.read_history()
    changes = tuple(_changes(run, records, None if state is None else _seed_hard(run)))
    config_yaml = _optional_text(run.config)
    return Contents(
        run=run,
        summary=run.read_summary(),
        records=records,
        seed_hard=None if state is None else _seed_hard(run),
        best_skill=_optional_text(run.best_skill).removesuffix("\n"),
        changes=changes,
        patterns=_patterns(changes),
        manifest=_optional(Manifest, run.manifest),
        settings=tuple(_settings(config_yaml, _optional(tuple[Origin, ...], run.origins) or ())),
        config_yaml=config_yaml,
        overrides=_overrides(run),
        picture=_picture(run.heat_map),
    )


def _seed_hard(run: RunFolder) -> float | None:
    try:
        return mean(line.hard for line in read_rollouts(run.selection(0)))
    except DataError:
        return None


def _changes(run: RunFolder, records: Sequence[StepRecord], seed_hard: float | None) -> Iterator[Change]:
    text, hard = _optional_text(run.skill(0)).removesuffix("\n"), seed_hard
    fixed, broken = _fates(run.item_table)
    for record in records:
        folder, name = run.step(record.step), f"step_{record.step:04d}"
        patches = _optional(tuple[Patch, ...], folder / "patches.json") or ()
        candidate = _candidate(run.candidate(record.step), text)
        yield Change(
            name=name,
            step=record.step,
            epoch=record.epoch,
            at_epoch_end=False,
            verdict=record,
            reasons=_counted(patch.failure_summary for patch in patches),
            edits=_optional(tuple[EditResult, ...], folder / "edits.json") or (),
            diff=diff(text, candidate),
            before_hard=hard,
            fixed=fixed.get(name, ()),
            broken=broken.get(name, ()),
        )
        if record.outcome is Outcome.accepted:
            text, hard = candidate, record.candidate_hard
        end = record.epoch_end
        if end is None or end.outcome is None:
            continue
        folder, name = run.epoch(record.epoch), f"{name}_epoch_end"
        kept = _optional(EpochFile, folder / "epoch.json")
        advice = None if kept is None else kept.slow_update
        candidate = _candidate(folder / "candidate.md", text)
        yield Change(
            name=name,
            step=record.step,
            epoch=record.epoch,
            at_epoch_end=True,
            verdict=end,
            reasons=_counted([] if advice is None else [advice.reasoning]),
            edits=(),
            diff=diff(text, candidate),
            before_hard=hard,
            fixed=fixed.get(name, ()),
            broken=broken.get(name, ()),
        )
        if end.outcome is Outcome.accepted:
            text, hard = candidate, end.candidate_hard


def _candidate(path: Path, otherwise: str) -> str:
    try:
        return read_skill_text(path)
    except DataError:
        return otherwise


def _counted(words: Iterator[str] | Sequence[str]) -> tuple[tuple[str, int], ...]:
    found = Counter(each.strip() for each in words if each.strip())
    return tuple(found.most_common())


def _patterns(changes: Sequence[Change]) -> tuple[Pattern, ...]:
    found: dict[str, Counter[int]] = {}
    for change in changes:
        if not change.at_epoch_end:
            for words, count in change.reasons:
                found.setdefault(words, Counter())[change.epoch] += count
    patterns = [Pattern(words, dict(by_epoch)) for words, by_epoch in found.items()]
    return tuple(sorted(patterns, key=lambda each: -each.total))


def _fates(table: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """The val items that each accepted change fixed, and those that it broke."""
    fixed: dict[str, tuple[str, ...]] = {}
    broken: dict[str, tuple[str, ...]] = {}
    for row in csv.DictReader(io.StringIO(_optional_text(table), newline="")):
        for column, found in (("fixed_by", fixed), ("broken_by", broken)):
            for change in (row.get(column) or "").split():
                found[change] = (*found.get(change, ()), row.get("id") or "")
    return fixed, broken


def _settings(config_yaml: str, origins: Sequence[Origin]) -> Iterator[Setting]:
    known = {origin.key: origin.source for origin in origins}
    try:
        tree = yaml.safe_load(config_yaml)
    except yaml.YAMLError:
        return
    for key, value in _flat(tree):
        yield Setting(key, value, known.get(key, ""))


def _flat(tree: object, at: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(tree, Mapping) and tree:
        for name, child in tree.items():
            yield from _flat(child, f"{at}.{name}" if at else str(name))
    elif at:
        yield at, "null" if tree is None else str(tree).lower() if isinstance(tree, bool) else str(tree)


def _overrides(run: RunFolder) -> tuple[str, ...] | None:
    """What was given on the command line; None where that is not known."""
    try:
        found = yaml.safe_load(read_text(run.path / ".hydra" / OVERRIDES))
    except (DataError, yaml.YAMLError):
        return None
    return tuple(map(str, found)) if isinstance(found, list) else None


def _optional(kind: type[T], path: Path) -> T | None:
    try:
        return from_json(kind, read_text(path), str(path))
    except DataError:
        return None


def _optional_text(path: Path) -> str:
    try:
        return read_text(path)
    except DataError:
        return ""


def _picture(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.stat().st_size <= _MOST_PICTURE else None
    except OSError:
        return None
