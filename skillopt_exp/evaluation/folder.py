"""The folder of one evaluation: made exclusively, before anything is paid for, and never inside a run's."""

import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from skillopt_exp import __version__
from skillopt_exp.data.manifest import split_entry
from skillopt_exp.errors import UsageError
from skillopt_exp.evaluation.evaluate import Evaluation
from skillopt_exp.evaluation.figures import Difference
from skillopt_exp.evaluation.scoring import Scored
from skillopt_exp.reading import named_path
from skillopt_exp.records import ACall, Gain, GroupResult, Split, Standing, Usage
from skillopt_exp.redaction import redact
from skillopt_exp.runs.codec import to_json
from skillopt_exp.runs.files import write_atomic
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.rollouts import RolloutLine
from skillopt_exp.stats import averaged

FORMAT = 1


@dataclass(frozen=True, slots=True)
class SkillResult:
    """One skill in ``summary.json``. ``digest`` is the SHA-256 of its text, ``chars`` its length."""

    label: str
    digest: str
    chars: int
    standing: Standing
    a_call: ACall
    usage: Usage
    origin: str
    answered_by: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvaluationSummary:
    """``summary.json``: scores are fractions, intervals 95 %, tokens per call, cost in US dollars.

    ``scores_are`` says what the split makes of them: fit, selection or held-out. Which items the first
    skill of ``pair`` won and lost stands in ``items.jsonl``; ``extra_a_call`` is what a call with it takes
    more.
    """

    format: int
    skillopt_exp: str
    verb: str
    created: str
    dataset: str
    split: Split
    scores_are: str
    num_items: int
    items_sha256: str
    target: str
    simulated: bool
    skills: Mapping[str, SkillResult]
    pair: Gain | None
    extra_a_call: ACall | None
    groups: Mapping[str, GroupResult]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemLine:
    """One item in ``items.jsonl``: its scores under both skills, and which of them does better on it."""

    id: str
    outcome: str
    first_hard: float
    second_hard: float
    first_soft: float
    second_soft: float


def choose_folder(given: str | None, *, verb: str, dataset: str | None, base: Path) -> Path:
    """The folder that ``out`` names, or a new name under ``outputs/<verb>``. Nothing is made yet.

    Raises:
        UsageError: it is there already, or lies inside a run's folder.
    """
    if given is None:
        # Local time, as in the names of runs.
        name = f"{datetime.now():%Y-%m-%d_%H-%M-%S}-{secrets.token_hex(3)}"
        return base.joinpath("outputs", verb, *([] if dataset is None else [dataset]), name)
    path = named_path(given, base=base, key="out").resolve()
    for folder in (path, *path.parents):
        if RunFolder.is_run(folder):
            raise UsageError(
                f"out={given} lies in the run's folder {folder}, which stays as it is; give another"
            )
    if path.exists():
        raise UsageError(f"out={given} is there already; give a folder that is not")
    return path


@contextmanager
def claimed(path: Path) -> Iterator[None]:
    """Make the folder for this process alone, and those above it; what is still empty at the end goes again.

    Raises:
        UsageError: somebody else made it, or it cannot be made.
    """
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already; give a folder that is not: out=...") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be made ({error.strerror}); give another folder: out=...") from error
    try:
        yield
    finally:
        for folder in made:
            with suppress(OSError):  # not empty: it is wanted
                folder.rmdir()


def summary_of(evaluation: Evaluation) -> EvaluationSummary:
    """What ``summary.json`` holds."""
    bench = evaluation.bench
    return EvaluationSummary(
        format=FORMAT,
        skillopt_exp=__version__,
        verb=evaluation.question.verb,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        dataset=bench.dataset,
        split=bench.split,
        scores_are=bench.split.meaning,
        num_items=len(bench.items),
        items_sha256=split_entry(bench.items).sha256,
        target=bench.target,
        simulated=bench.prepared.simulated,
        skills={
            name: _skill_result(scored, evaluation.standings[name])
            for name, scored in evaluation.scored.items()
        },
        pair=None if evaluation.difference is None else evaluation.difference.gain,
        extra_a_call=evaluation.extra_a_call,
        groups=evaluation.groups,
        notes=evaluation.notes,
    )


def write_results(path: Path, evaluation: Evaluation) -> None:
    """``summary.json``, last; before it the attempts, the items compared, and the configuration.

    Raises:
        InterruptedRun: the disk does not take it.
    """
    for name, scored in evaluation.scored.items():
        _write_lines(path / f"{name}.jsonl", scored.attempts)
    if evaluation.difference is not None:
        _write_lines(path / "items.jsonl", _item_lines(evaluation, evaluation.difference))
    write_atomic(path / "config.yaml", redact(evaluation.bench.resolved.text))
    write_atomic(path / "split_manifest.json", evaluation.bench.prepared.loaded.manifest.to_json())
    write_atomic(path / "summary.json", to_json(summary_of(evaluation), indent=2) + "\n")


def _skill_result(scored: Scored, standing: Standing) -> SkillResult:
    return SkillResult(
        label=scored.named.label,
        digest=scored.named.skill.digest,
        chars=len(scored.named.skill.text),
        standing=standing,
        a_call=scored.a_call,
        usage=scored.usage,
        origin=scored.origin,
        answered_by=scored.answered_by,
    )


def _item_lines(evaluation: Evaluation, found: Difference) -> list[ItemLine]:
    assert evaluation.question.pair is not None
    first, second = (evaluation.scored[name].attempts for name in evaluation.question.pair)
    outcomes = dict.fromkeys(found.won, "won") | dict.fromkeys(found.lost, "lost")
    ids = [each.id for each in first if each.attempt == 1]
    new, old = ([each.score for each in averaged(attempts)] for attempts in (first, second))
    return [
        ItemLine(name, outcomes.get(name, "tied"), one.hard, other.hard, one.soft, other.soft)
        for name, one, other in zip(ids, new, old, strict=True)
    ]


def _write_lines(path: Path, lines: Iterable[RolloutLine | ItemLine]) -> None:
    write_atomic(path, "".join(f"{to_json(line)}\n" for line in lines))
