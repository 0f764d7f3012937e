"""``runtime_state.json``: what the next step depends on, and the skill files that it stands on.

Skills of the ends of epochs have files of their own, since a step may have made one, too.

The state holds the parts of its skills (a rendered text does not say where one part ends) and names
the file of each by a path inside the run folder with the SHA-256 of the text. A skill file that was
cut, changed or lost is refused: its scores would be another skill's.
"""

from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.errors import DataError
from skillopt_exp.records import Remembered, Score, ScoredSkill, Skill, TrainState
from skillopt_exp.runs.codec import to_json
from skillopt_exp.runs.files import read_record, read_text, write_atomic

FORMAT = 1


@dataclass(frozen=True, slots=True)
class SavedSkill:
    """A scored skill by its file. ``sha256`` is that of the text as the target sees it, 64 hex digits."""

    file: str
    sha256: str
    step: int
    parts: Skill
    scores: tuple[Score, ...]
    epoch_end: bool = False
    repeats: int = 1


@dataclass(frozen=True, slots=True)
class SavedState:
    """The whole file."""

    format: int
    last_completed_step: int
    current: SavedSkill
    best: SavedSkill
    step_buffer: tuple[Remembered, ...]
    last_epoch: Skill | None = None
    meta_skill: str = ""
    epoch_scored: tuple[SavedSkill, ...] = ()
    ungated: bool = False


def skill_path(folder: Path, step: int, *, epoch_end: bool = False) -> Path:
    """The file of the skill that ``step`` made, or the end of the epoch after it; step 0 is the seed."""
    return folder / "skills" / f"skill_v{step:04d}{'_epoch_end' if epoch_end else ''}.md"


def write_skill(path: Path, skill: Skill) -> None:
    """Write the rendered text, ended by one line end that is no part of it (an empty text: nothing)."""
    write_atomic(path, f"{skill.text}\n" if skill.text else "")


def read_skill_text(path: Path) -> str:
    """The rendered text that ``write_skill`` wrote.

    Raises:
        DataError: missing, unreadable, or not UTF-8.
    """
    return read_text(path).removesuffix("\n")


def save_state(folder: Path, file: Path, state: TrainState) -> None:
    """Write ``file``, and before it the skill files that it names and that are not there yet.

    Raises:
        InterruptedRun: the disk does not take it.
    """
    saved = SavedState(
        format=FORMAT,
        last_completed_step=state.step,
        current=_save_skill(folder, state.current),
        best=_save_skill(folder, state.best),
        step_buffer=state.step_buffer,
        last_epoch=state.last_epoch,
        meta_skill=state.meta_skill,
        epoch_scored=tuple(_save_skill(folder, scored) for scored in state.epoch_scored),
        ungated=state.ungated,
    )
    write_atomic(file, to_json(saved, indent=2) + "\n")


def load_state(folder: Path, file: Path) -> TrainState:
    """The state in ``file``, exactly as it was saved.

    Raises:
        DataError: damaged, of another format, or a skill file is not the one that was scored.
    """
    saved = read_record(SavedState, file)
    if saved.format != FORMAT:
        raise DataError(
            f"{file} has format {saved.format} and this version reads {FORMAT}; "
            "resume with the version of skillopt_exp that wrote it"
        )
    return TrainState(
        step=saved.last_completed_step,
        current=_load_skill(folder, saved.current),
        best=_load_skill(folder, saved.best),
        step_buffer=saved.step_buffer,
        last_epoch=saved.last_epoch,
        meta_skill=saved.meta_skill,
        epoch_scored=tuple(_load_skill(folder, scored) for scored in saved.epoch_scored),
        ungated=saved.ungated,
    )


def _save_skill(folder: Path, scored: ScoredSkill) -> SavedSkill:
    path = skill_path(folder, scored.step, epoch_end=scored.epoch_end)
    if not path.exists():
        write_skill(path, scored.skill)
    return SavedSkill(
        file=path.relative_to(folder).as_posix(),
        sha256=scored.skill.digest,
        step=scored.step,
        parts=scored.skill,
        scores=scored.scores,
        epoch_end=scored.epoch_end,
        repeats=scored.repeats,
    )


def _load_skill(folder: Path, saved: SavedSkill) -> ScoredSkill:
    path = folder / saved.file
    found = Skill(body=read_skill_text(path)).digest
    for digest in (found, saved.parts.digest):
        if digest != saved.sha256:
            raise DataError(
                f"{path} does not hold the skill that was scored (SHA-256 {digest[:12]}, "
                f"scored {saved.sha256[:12]}): it was changed or cut. Restore the file, or start a new run"
            )
    return ScoredSkill(saved.parts, saved.scores, saved.step, saved.epoch_end, saved.repeats)
