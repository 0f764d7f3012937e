"""What an earlier process left in a run's folder, read back whole."""

from skillopt_exp.records import Progress, ScoredSkill, Skill
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
        for n in range(1, state.step + 1)
        if folder.selection(n).stat().st_size
    ]
    # An evaluation that ended early holds a part of val, which scores nothing.
    whole = tuple(each for each in (seed, *scored) if len(each.scores) == len(seed.scores))
    return Progress(seed=seed, records=folder.read_history(), state=state, scored=whole)


def _scored(folder: RunFolder, skill: Skill, step: int) -> ScoredSkill:
    lines = read_rollouts(folder.selection(step))
    repeats = max((line.attempt for line in lines), default=1)
    return ScoredSkill(skill, tuple(line.score for line in lines), step, repeats=repeats)
