"""The watcher that writes a run's folder.

In each step the state is written last: until then the step has not happened, and a resumed run
takes it again. What was written ahead of the state is cut or replaced when the run is opened again.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp import __version__
from skillopt_exp.records import (
    NO_CALLS,
    ACall,
    Advice,
    Change,
    EpochTrace,
    Exchange,
    Metric,
    Outcome,
    Rollout,
    ScoredSkill,
    Skill,
    StepTrace,
    Summary,
    TrainState,
    Verdict,
)
from skillopt_exp.redaction import redact
from skillopt_exp.runs.codec import to_json
from skillopt_exp.runs.exchanges import write_exchanges
from skillopt_exp.runs.files import append_line, keep_lines, write_atomic
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.rollouts import line_of
from skillopt_exp.runs.state import FORMAT, read_skill_text, save_state, skill_path, write_skill
from skillopt_exp.watch import Opening, Watcher


@dataclass(frozen=True, slots=True)
class Provenance:
    """``best_skill.json``: where ``best_skill.md`` comes from. Scores are means over val, in [0, 1].

    ``epoch_end`` says that it was made at the end of the epoch that ``step`` completed. ``guidance`` is
    "gated" or "ungated" where the skill has a guidance part; an ungated one was kept whatever it scored.
    """

    format: int
    skillopt_exp: str
    step: int
    epoch_end: bool
    guidance: str | None
    digest: str
    seed_digest: str
    dataset: str
    target: str
    optimizer: str
    simulated: bool
    selection_hard: float | None
    selection_soft: float | None
    num_selection_items: int


@dataclass(frozen=True, slots=True)
class PairLine:
    """One item on which the end of an epoch looked back; ``shown`` says whether the optimizer saw it."""

    id: str
    change: Change
    shown: bool


@dataclass(frozen=True, slots=True)
class EpochFile:
    """``epoch.json``: what the end of an epoch came to; its attempts stand beside it."""

    pairs: tuple[PairLine, ...]
    slow_update: Advice | None
    meta_skill: Advice | None
    verdict: Verdict | None


class RunRecorder(Watcher):
    """Writes what it is told into ``folder``, and what the optimizer said since the last step."""

    def __init__(self, folder: RunFolder, exchanges: Callable[[], tuple[Exchange, ...]] = tuple) -> None:
        self._folder = folder
        self._exchanges = exchanges
        self._opening: Opening | None = None
        self._seed_digest = ""
        self._best: ScoredSkill | None = None
        self._ungated = False

    def opened(self, opening: Opening) -> None:
        """Writes the configuration; of a run that goes on, also mends what a kill left half done."""
        self._opening = opening
        write_atomic(self._folder.config, redact(opening.config_yaml))
        write_atomic(self._folder.manifest, opening.manifest_json)
        _write_json(self._folder.origins, opening.origins)
        state = self._folder.read_state()
        if state is None:
            write_atomic(self._folder.history, "")
        else:
            keep_lines(self._folder.history, len(self._folder.read_history()))
            self._seed_digest = Skill(body=read_skill_text(self._folder.skill(0))).digest
            self._ungated = state.ungated
            self._write_best(state.best)

    def baseline(self, seed: ScoredSkill, selection: Sequence[Rollout]) -> None:
        """The start of training: whatever history there was is another training's."""
        self._seed_digest = seed.skill.digest
        _write_rollouts(self._folder.selection(0), selection)
        write_skill(self._folder.skill(0), seed.skill)
        self._write_best(seed)
        # The state before the history: lines that the state does not know are left out, lines that it
        # knows and that are gone would be damage.
        save_state(self._folder.path, self._folder.state, TrainState(step=0, current=seed, best=seed))
        write_atomic(self._folder.history, "")

    def step(self, trace: StepTrace) -> None:
        record = trace.record
        self._write_stages(self._folder.step(record.step), trace)
        if trace.judged.verdict.outcome is not Outcome.unchanged:
            write_skill(self._folder.skill(record.step), trace.judged.candidate.skill)
        if trace.epoch_end is not None:
            self._write_epoch(trace.epoch, record.step, trace.epoch_end)
        self._ungated = trace.state.ungated
        if trace.state.best != self._best:
            self._write_best(trace.state.best)
        append_line(self._folder.history, to_json(record))
        save_state(self._folder.path, self._folder.state, trace.state)

    def replayed(self, trace: StepTrace) -> None:
        self._exchanges()  # what the optimizer said was written when the step was told

    def tested(self, which: str, skill: Skill, rollouts: Sequence[Rollout], a_call: ACall = NO_CALLS) -> None:
        _write_rollouts(self._folder.test(which), rollouts)

    def finished(self, summary: Summary, best: ScoredSkill) -> None:
        if best != self._best:
            self._write_best(best)
        _write_json(self._folder.summary, summary)

    def failed(self, error: BaseException, summary: Summary | None) -> None:
        if summary is not None:
            _write_json(self._folder.summary, summary)

    def _write_stages(self, folder: Path, trace: StepTrace) -> None:
        _write_rollouts(folder / "rollouts.jsonl", trace.rollouts)
        _write_json(folder / "patches.json", trace.patches)
        _write_json(folder / "merged.json", trace.merged)
        _write_json(folder / "selected.json", trace.selected)
        write_skill(self._folder.candidate(trace.state.step), trace.judged.candidate.skill)
        _write_json(folder / "edits.json", trace.edits)
        if trace.notes:
            _write_json(folder / "notes.json", trace.notes)
        _write_rollouts(self._folder.selection(trace.state.step), trace.judged.selection)
        for number, other in enumerate(trace.others, start=2):
            write_skill(self._folder.other_candidate(trace.state.step, number), other.candidate.skill)
            _write_rollouts(self._folder.other_selection(trace.state.step, number), other.selection)
            _write_json(folder / f"verdict_{number}.json", other.verdict)
        if trace.judged.screening:
            _write_rollouts(folder / "screening.jsonl", trace.judged.screening)
        _write_json(folder / "verdict.json", trace.judged.verdict)
        write_exchanges(self._folder.exchanges(trace.state.step), self._exchanges())

    def _write_epoch(self, epoch: int, step: int, trace: EpochTrace) -> None:
        folder = self._folder.epoch(epoch)
        _write_rollouts(folder / "before.jsonl", (pair.before for pair in trace.pairs))
        _write_rollouts(folder / "after.jsonl", (pair.after for pair in trace.pairs))
        shown = {pair.after.item.id for pair in trace.shown}
        judged = trace.judged
        kept = EpochFile(
            pairs=tuple(
                PairLine(pair.after.item.id, pair.change, pair.after.item.id in shown) for pair in trace.pairs
            ),
            slow_update=trace.slow_update,
            meta_skill=trace.meta_skill,
            verdict=None if judged is None else judged.verdict,
        )
        _write_json(folder / "epoch.json", kept)
        if judged is not None:
            write_skill(folder / "candidate.md", judged.candidate.skill)
            _write_rollouts(folder / "selection.jsonl", judged.selection)
            if judged.verdict.outcome is not Outcome.unchanged:
                write_skill(skill_path(self._folder.path, step, epoch_end=True), judged.candidate.skill)

    def _write_best(self, best: ScoredSkill) -> None:
        assert self._opening is not None, "opened comes first"
        write_skill(self._folder.best_skill, best.skill)
        provenance = Provenance(
            format=FORMAT,
            skillopt_exp=__version__,
            step=best.step,
            epoch_end=best.epoch_end,
            guidance=("ungated" if self._ungated else "gated") if best.skill.guidance else None,
            digest=best.skill.digest,
            seed_digest=self._seed_digest,
            dataset=self._opening.dataset,
            target=self._opening.target,
            optimizer=self._opening.optimizer,
            simulated=self._opening.simulated,
            selection_hard=best.mean(Metric.hard),
            selection_soft=best.mean(Metric.soft),
            num_selection_items=best.num_items,
        )
        _write_json(self._folder.best_provenance, provenance)
        self._best = best


def _write_json(path: Path, value: object) -> None:
    write_atomic(path, to_json(value, indent=2) + "\n")


def _write_rollouts(path: Path, rollouts: Iterable[Rollout]) -> None:
    write_atomic(path, "".join(f"{to_json(line_of(rollout))}\n" for rollout in rollouts))
