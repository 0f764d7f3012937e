"""A folder belongs to one run, and can be read whatever moment the run was killed at."""

import json
from pathlib import Path

import pytest
from sample_run import SAMPLE

from skillopt_exp import __version__
from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.runs.files import append_line
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.recorder import RunRecorder


@pytest.fixture
def trained(tmp_path: Path) -> RunFolder:
    """A run after its last step, before the test."""
    folder = RunFolder.create(tmp_path / "run", prompts="p")
    SAMPLE.tell_training(RunRecorder(folder), folder.path)
    return folder


def test_a_folder_made_before_is_taken_and_marked(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    folder = RunFolder.create(tmp_path, prompts="p")
    marker = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert marker["format"] == 1
    assert marker["skillopt_exp"] == __version__
    assert marker["created"].endswith("+00:00")
    assert RunFolder.open(tmp_path) == folder


def test_a_second_run_in_one_folder_is_refused(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, prompts="p")
    with pytest.raises(UsageError, match="already holds a run"):
        RunFolder.create(tmp_path, prompts="p")


def test_a_folder_without_a_run_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"run\.json is missing"):
        RunFolder.open(tmp_path)
    assert not RunFolder.is_run(tmp_path)


def test_a_folder_of_another_format_is_not_opened(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, prompts="p")
    marker = tmp_path / "run.json"
    marker.write_text(
        marker.read_text(encoding="utf-8").replace('"format": 1', '"format": 7'), encoding="utf-8"
    )
    with pytest.raises(
        UsageError, match=r"has format 7, written by skillopt_exp .* use the version that wrote it"
    ):
        RunFolder.open(tmp_path)


def test_a_marker_that_a_kill_left_empty_is_named(tmp_path: Path) -> None:
    (tmp_path / "run.json").touch()
    with pytest.raises(DataError, match=r"run\.json: not valid JSON"):
        RunFolder.open(tmp_path)


def test_before_the_baseline_there_is_nothing_to_read(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, prompts="p")
    assert folder.read_state() is None
    assert folder.read_history() == ()
    assert folder.read_summary() is None


def test_state_and_history_come_back_as_they_were_told(trained: RunFolder) -> None:
    assert trained.read_state() == SAMPLE.traces[-1].state
    assert trained.read_history() == tuple(trace.record for trace in SAMPLE.traces)


def test_a_record_without_its_state_is_left_out(trained: RunFolder) -> None:
    append_line(trained.history, trained.history.read_text(encoding="utf-8").splitlines()[0])
    assert len(trained.read_history()) == len(SAMPLE.traces)


def test_a_record_that_is_missing_is_damage(trained: RunFolder) -> None:
    lines = trained.history.read_text(encoding="utf-8").splitlines(keepends=True)
    trained.history.write_text("".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(DataError, match=r"ends with step 3, but runtime_state\.json says that step 4"):
        trained.read_history()
    trained.history.write_text("".join([lines[0], *lines[2:], lines[1]]), encoding="utf-8")
    with pytest.raises(DataError, match=r"history\.jsonl:2: step 3 stands where step 2 should"):
        trained.read_history()
