"""The state of training comes back exactly, or not at all."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_run import SAMPLE, seed

from skillopt_exp.errors import DataError
from skillopt_exp.records import (
    Edit,
    EditResult,
    Metric,
    Outcome,
    Rejection,
    Remembered,
    Score,
    ScoredSkill,
    Skill,
    Source,
    TrainState,
)
from skillopt_exp.runs.state import load_state, read_skill_text, save_state, skill_path, write_skill

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
SKILLS = st.builds(Skill, body=TEXT, guidance=TEXT, appendix=TEXT)
FRACTION = st.floats(0, 1)
SCORES = st.lists(st.builds(Score, FRACTION, FRACTION, TEXT), max_size=3).map(tuple)
EDITS = st.builds(Edit, st.text(), st.none() | TEXT, st.none() | TEXT, st.integers(), st.sampled_from(Source))
BUFFER = st.lists(
    st.builds(
        Remembered,
        st.integers(),
        st.lists(TEXT, max_size=2).map(tuple),
        st.lists(st.builds(EditResult, EDITS, st.none() | st.sampled_from(Rejection)), max_size=2).map(tuple),
        st.sampled_from(Outcome),
        TEXT,
    ),
    max_size=3,
).map(tuple)


def states() -> st.SearchStrategy[TrainState]:
    """Current and best of two steps, or the same one twice."""
    best = st.builds(ScoredSkill, SKILLS, SCORES, st.just(1))
    later = st.builds(ScoredSkill, SKILLS, SCORES, st.just(2))
    of_epochs = st.builds(ScoredSkill, SKILLS, SCORES, st.just(2), st.just(True))
    return best.flatmap(
        lambda first: st.builds(
            TrainState,
            st.integers(2, 5000),
            later | st.just(first),
            st.just(first),
            BUFFER,
            st.none() | SKILLS,
            TEXT,
            st.lists(of_epochs, max_size=1).map(tuple),
            st.booleans(),
        )
    )


@settings(deadline=None)  # a disk may be slow
@given(states())
def test_any_state_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, state: TrainState) -> None:
    folder = tmp_path_factory.mktemp("run")
    save_state(folder, folder / "state.json", state)
    assert load_state(folder, folder / "state.json") == state


@settings(deadline=None)  # a disk may be slow
@given(SKILLS)
def test_the_text_of_a_skill_file_is_what_the_target_sees(
    tmp_path_factory: pytest.TempPathFactory, skill: Skill
) -> None:
    file = tmp_path_factory.mktemp("run") / "skill.md"
    write_skill(file, skill)
    assert read_skill_text(file) == skill.text
    assert file.read_bytes().endswith(b"\n") or not skill.text


def saved(folder: Path, state: TrainState) -> Path:
    file = folder / "runtime_state.json"
    save_state(folder, file, state)
    return file


def test_a_score_of_zero_is_a_score(tmp_path: Path) -> None:
    file = saved(tmp_path, TrainState(0, seed(), seed()))
    state = load_state(tmp_path, file)
    assert state.best.mean(Metric.hard) == 0.0
    assert state.best.scores == seed().scores


def test_a_folder_that_was_moved_reads_its_own_skills(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    saved(old, SAMPLE.traces[-1].state)
    assert str(tmp_path) not in (old / "runtime_state.json").read_text(encoding="utf-8")
    old.rename(new)
    old.mkdir()
    assert load_state(new, new / "runtime_state.json") == SAMPLE.traces[-1].state


@pytest.mark.parametrize("content", ["", "- Rule 2", "- Rule 2\n- Rule 4 and more\n"])
def test_a_skill_file_that_is_not_the_scored_one_is_refused(tmp_path: Path, content: str) -> None:
    state = SAMPLE.traces[-1].state
    file = saved(tmp_path, state)
    skill_path(tmp_path, state.current.step).write_text(content, encoding="utf-8")
    with pytest.raises(DataError, match=r"skill_v0004\.md does not hold the skill that was scored"):
        load_state(tmp_path, file)


def test_a_skill_file_that_is_lost_is_refused(tmp_path: Path) -> None:
    state = SAMPLE.traces[-1].state
    file = saved(tmp_path, state)
    skill_path(tmp_path, state.current.step).unlink()
    with pytest.raises(DataError, match=r"skill_v0004\.md is missing"):
        load_state(tmp_path, file)


def test_a_state_whose_skill_was_rewritten_is_refused(tmp_path: Path) -> None:
    file = saved(tmp_path, SAMPLE.traces[-1].state)
    data = json.loads(file.read_text(encoding="utf-8"))
    data["current"]["parts"]["body"] = "- Another rule"
    file.write_text(json.dumps(data), encoding="utf-8")
    with pytest.raises(DataError, match="does not hold the skill that was scored"):
        load_state(tmp_path, file)


def test_a_state_of_another_format_is_refused(tmp_path: Path) -> None:
    file = saved(tmp_path, SAMPLE.traces[-1].state)
    file.write_text(file.read_text(encoding="utf-8").replace('"format": 1', '"format": 2'), encoding="utf-8")
    with pytest.raises(DataError, match="has format 2 and this version reads 1"):
        load_state(tmp_path, file)


def test_a_state_that_was_cut_is_refused(tmp_path: Path) -> None:
    file = saved(tmp_path, SAMPLE.traces[-1].state)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"runtime_state\.json: not valid JSON"):
        load_state(tmp_path, file)
