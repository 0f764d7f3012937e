"""What an earlier process left in a run's folder, read back whole."""

from skillopt_exp.records import Progress, ScoredSkill, Skill, TrainState
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.rollouts import read_rollouts
from skillopt_exp.runs.state import read_skill_text


def read_progress(folder: RunFolder, seed_skill: Skill) -> Progress | None:
    """How far the run came, or None before its seed skill was scored.

    Raises:
        DataError: a file is damaged or missing; names it.
    """
    state = folder.read_state()
    if state is None:
        return None
    seed = _scored(folder, seed_skill, 0)
    scored = [
        _scored(folder, Skill(body=read_skill_text(folder.candidate(n))), n)
        for n in _scored_steps(folder, state)
    ]
    return Progress(seed=seed, records=folder.read_history(), state=state, scored=(seed, *scored))


def _scored_steps(folder: RunFolder, state: TrainState) -> list[int]:
    """The completed steps that asked the target about their candidate: its text was new."""
    steps = range(1, state.step + 1)
    return [number for number in steps if folder.selection(number).stat().st_size]


def _scored(folder: RunFolder, skill: Skill, step: int) -> ScoredSkill:
    lines = read_rollouts(folder.selection(step))
    return ScoredSkill(skill, tuple(line.score for line in lines), step)
