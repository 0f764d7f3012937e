"""The watcher that keeps ``items.csv`` and ``items.png`` in a run's folder."""

import math
from collections.abc import Iterable, Mapping, Sequence

from skillopt_exp.items.heat_map import draw
from skillopt_exp.items.ledger import SEED, Column, Ledger, change_name
from skillopt_exp.items.table import as_csv
from skillopt_exp.records import (
    EpochRecord,
    Item,
    Outcome,
    Progress,
    Rollout,
    ScoredSkill,
    StepRecord,
    StepTrace,
    Summary,
)
from skillopt_exp.runs.files import write_atomic, write_bytes
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.rollouts import read_rollouts
from skillopt_exp.watch import Watcher

Scores = Mapping[str, float]
"""Hard scores by item id."""


class ItemKeeper(Watcher):
    """Writes at the end of a run; of a run that ended early the table alone, since drawing takes a while.

    ``items`` are the val items, in the split's order.
    """

    def __init__(self, folder: RunFolder, items: Sequence[Item]) -> None:
        self._folder = folder
        self._items = tuple(items)
        self._columns: list[Column] = []
        self._known: dict[str, Scores] = {}
        """By digest of the skill: an equal text is not scored again."""

    def baseline(self, seed: ScoredSkill, selection: Sequence[Rollout]) -> None:
        self._begin(seed)

    def resumed(self, progress: Progress) -> None:
        for scored in (*progress.scored, *progress.state.epoch_scored):
            self._learn(scored, ())
        self._begin(progress.seed)
        for record in progress.records:
            if record.candidate_digest not in self._known:
                self._known[record.candidate_digest] = self._read(record.step)
            self._add(record)

    def step(self, trace: StepTrace) -> None:
        self._learn(trace.judged.candidate, trace.judged.selection)
        end = None if trace.epoch_end is None else trace.epoch_end.judged
        if end is not None:
            self._learn(end.candidate, end.selection)
        self._add(trace.record)

    def finished(self, summary: Summary, best: ScoredSkill) -> None:
        ledger = self._write_table()
        write_bytes(self._folder.heat_map, draw(ledger))

    def failed(self, error: BaseException, summary: Summary | None) -> None:
        if self._columns:
            self._write_table()

    def _write_table(self) -> Ledger:
        ledger = Ledger(self._items, tuple(self._columns))
        write_atomic(self._folder.item_table, as_csv(ledger))
        return ledger

    def _begin(self, seed: ScoredSkill) -> None:
        self._learn(seed, ())
        self._columns = [Column(SEED, True, self._known[seed.skill.digest])]

    def _learn(self, scored: ScoredSkill, selection: Sequence[Rollout]) -> None:
        """What is known of a skill: of all items, or of those that it was tried on."""
        if scored.num_items == len(self._items):
            pairs = zip(self._items, scored.by_item(), strict=True)
            self._known[scored.skill.digest] = _averaged(
                (item.id, score.hard) for item, attempts in pairs for score in attempts
            )
        elif selection:
            self._known[scored.skill.digest] = _averaged(
                (each.item.id, each.score.hard) for each in selection
            )

    def _read(self, step: int) -> Scores:
        return _averaged((line.id, line.hard) for line in read_rollouts(self._folder.selection(step)))

    def _add(self, record: StepRecord) -> None:
        self._add_change(record, change_name(record.step))
        if record.epoch_end is not None:
            self._add_change(record.epoch_end, change_name(record.step, epoch_end=True))

    def _add_change(self, record: StepRecord | EpochRecord, name: str) -> None:
        scores = None if record.candidate_digest is None else self._known.get(record.candidate_digest)
        if scores and record.outcome is not Outcome.unchanged:
            self._columns.append(Column(name, record.outcome is Outcome.accepted, scores))


def _averaged(attempts: Iterable[tuple[str, float]]) -> Scores:
    """The mean over the attempts at each item."""
    by_item: dict[str, list[float]] = {}
    for name, hard in attempts:
        by_item.setdefault(name, []).append(hard)
    return {name: math.fsum(hards) / len(hards) for name, hards in by_item.items()}
