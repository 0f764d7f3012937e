"""What an earlier process left in a run's folder, read back whole or not at all."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from skillopt_exp.errors import DataError
from skillopt_exp.records import Progress, ScoredSkill, Skill, StepRecord, TrainState
from skillopt_exp.runs.files import MEND
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.rollouts import RolloutLine, read_rollouts
from skillopt_exp.runs.state import read_skill_text


def read_progress(folder: RunFolder, seed_skill: Skill) -> Progress | None:
    """How far the run came, or None before its seed skill was scored.

    Raises:
        DataError: a file is damaged or missing, or does not belong to what the others tell; names it.
    """
    state = folder.read_state()
    if state is None:
        return None
    _check_seed(folder, seed_skill)
    records = folder.read_history()
    seed = _scored(folder, seed_skill, 0, len(state.current.scores))
    candidates = tuple(_candidates(folder, records))
    ends = [record.epoch_end for record in records if record.epoch_end is not None]
    return Progress(
        seed=seed,
        records=records,
        state=state,
        scored=(seed, *_whole(candidates, seed, state)),
        asked=frozenset(
            [each.skill.digest for each in candidates if each.scores]
            + [end.candidate_digest for end in ends if end.candidate_digest and end.num_selection]
        ),
    )


def _check_seed(folder: RunFolder, seed_skill: Skill) -> None:
    if Skill(body=read_skill_text(folder.skill(0))).digest != seed_skill.digest:
        raise DataError(
            f"{folder.skill(0)} is not the skill that train.skill_init names now; one of them was changed "
            "since the run began. Bring the old one back, or start a new run"
        )


def _candidates(folder: RunFolder, records: Sequence[StepRecord]) -> Iterator[ScoredSkill]:
    """All candidates of the completed steps, with the scores of what was asked of val for each."""
    for record in records:
        file = folder.candidate(record.step)
        skill = Skill(body=read_skill_text(file))
        if skill.digest != record.candidate_digest:
            raise _does_not_belong(file, record.step)
        yield _scored(folder, skill, record.step, record.num_selection)
        for number, _ in enumerate(record.other_verdicts, start=2):
            yield _other(folder, record.step, number)


def _whole(candidates: Sequence[ScoredSkill], seed: ScoredSkill, state: TrainState) -> Iterator[ScoredSkill]:
    """Those that were scored on all of val, each text once, as the first step that asked about it has it.

    An evaluation that ended early holds a part of val, which scores nothing.
    """
    known = {seed.skill.digest}
    for each in candidates:
        earlier = {end.skill.digest for end in state.epoch_scored if end.step < each.step}
        if len(each.scores) == len(seed.scores) and each.skill.digest not in known | earlier:
            yield each
            known.add(each.skill.digest)


def _other(folder: RunFolder, step: int, number: int) -> ScoredSkill:
    skill = Skill(body=read_skill_text(folder.other_candidate(step, number)))
    lines = read_rollouts(folder.other_selection(step, number))
    return _of(skill, lines, step)


def _scored(folder: RunFolder, skill: Skill, step: int, num_attempts: int) -> ScoredSkill:
    """``skill`` with the scores of its attempts at val items, of which so many must be kept."""
    file = folder.selection(step)
    lines = read_rollouts(file)
    if len(lines) != num_attempts:
        raise _does_not_belong(file, step, f" ({len(lines)} attempts, {num_attempts} were made)")
    return _of(skill, lines, step)


def _of(skill: Skill, lines: Sequence[RolloutLine], step: int) -> ScoredSkill:
    repeats = max((line.attempt for line in lines), default=1)
    return ScoredSkill(skill, tuple(line.score for line in lines), step, repeats=repeats)


def _does_not_belong(file: Path, step: int, why: str = "") -> DataError:
    return DataError(f"{file} is damaged: it is not what step {step} left there{why}; {MEND}")
