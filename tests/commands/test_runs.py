import shutil
from pathlib import Path

import pytest
from running import run

from skillopt_exp.commands.runs import run as runs
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.sweeps.listing import DAMAGED, RUNNING, STALE, runs_in


def test_runs_are_listed_with_what_became_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = tmp_path / "outputs" / "demo" / "done"
    summary = run(done, "train.num_epochs=0", "dataset.limit=30")
    killed, busy, torn = (done.with_name(name) for name in ("killed", "busy", "torn"))
    for copy in (killed, busy, torn):
        shutil.copytree(done, copy)
    (killed / "summary.json").unlink()
    (torn / "summary.json").write_text("{", encoding="utf-8")
    with RunFolder.open(busy).lock():
        listed = {each.path.name: each for each in runs_in(tmp_path)}
        assert runs([]) == 0
    assert {name: each.status for name, each in listed.items()} == {
        "done": "finished", "killed": STALE, "busy": RUNNING, "torn": DAMAGED,
    }  # fmt: skip
    assert listed["done"].val_hard == summary.best_selection_hard
    assert listed["killed"].val_hard is None
    said = capsys.readouterr().out
    assert "finished" in said
    assert "stale" in said


def test_a_folder_without_runs_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert runs([f"folder={tmp_path}"]) == 0
    assert "no run was launched" in capsys.readouterr().out
