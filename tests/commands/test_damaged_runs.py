"""A run's folder with one file damaged: ``resume`` comes to the same end, or refuses once and in words."""

import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from running import all_files
from serving import skillopt

from skillopt_exp.__main__ import main

SMALL = (
    "dataset=demo",
    "dataset.limit=40",
    "train.skill_init=seed.md",
    "train.num_epochs=2",
    "model=simulated",
    "tracking=none",
)
OUTCOME = ("best_skill.md", "best_skill.json", "history.jsonl")
REFUSALS = (2, 3)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def cut_in_half(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: len(data) // 2])


def cut_at_a_line(file: Path) -> None:
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: len(lines) // 2]))


def filled_with_noise(file: Path) -> None:
    file.write_bytes(random.Random(file.name).randbytes(max(16, file.stat().st_size)))


def replaced_by_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


DAMAGES: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "emptied": emptied,
    "cut in half": cut_in_half,
    "cut at a line": cut_at_a_line,
    "filled with noise": filled_with_noise,
    "replaced by a folder": replaced_by_a_folder,
}

NEEDED = {
    "run.json": "run.json",
    "config.yaml": "config.yaml",
    "split_manifest.json": "split_manifest.json",
    "history.jsonl": "history.jsonl",
    "runtime_state.json": "runtime_state.json",
    "skills/skill_v0000.md": "skill_v0000.md",
    "baseline/selection.jsonl": "selection.jsonl",
    "steps/step_0001/candidate.md": "candidate.md",
    "steps/step_0001/selection.jsonl": "selection.jsonl",
    ".hydra/config.yaml": ".hydra/config.yaml",
    ".hydra/hydra.yaml": ".hydra/hydra.yaml",
}
"""Files without which nobody knows how to go on, and what a refusal calls them."""


@dataclass(frozen=True, slots=True)
class Runs:
    """The launch folder of a run that ended early, that run, and the files of an undisturbed one."""

    launch: Path
    stopped: Path
    whole: dict[str, bytes]

    def copied(self, to: Path) -> Path:
        """The run that ended early, in a copy of its launch folder: the store of answers is not shared."""
        shutil.copytree(self.launch, to)
        return to / self.stopped.relative_to(self.launch)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    whole, launch = tmp_path_factory.mktemp("whole"), tmp_path_factory.mktemp("stopped")
    for folder in (whole, launch):
        (folder / "seed.md").write_text("# Seed\n\n- Read the question twice.\n", encoding="utf-8")
    done = skillopt(*SMALL, "hydra.run.dir=run", cwd=whole)
    assert done.returncode == 0, done.stderr
    capped = skillopt(*SMALL, "budget.calls=130", "hydra.run.dir=run", cwd=launch)
    assert capped.returncode == 5, capped.stderr
    assert len(list((launch / "run" / "steps").iterdir())) >= 3
    return Runs(launch, launch / "run", all_files(whole / "run"))


def resumed(run: Path, capsys: pytest.CaptureFixture[str], *overrides: str) -> tuple[int, str]:
    """The exit code and the message. A traceback would end the test."""
    code = main(["resume", f"run={run}", "budget.calls=null", *overrides])
    return code, capsys.readouterr().err


def check(run: Path, runs: Runs, code: int, message: str) -> None:
    """The same end as undisturbed, or one message that names the run and what to do."""
    if code == 0:
        files = all_files(run)
        assert {name: files[name] for name in OUTCOME} == {name: runs.whole[name] for name in OUTCOME}
        return
    assert code in REFUSALS, message
    assert message.startswith("error: ")
    assert message.count("error: ") == 1
    assert str(run) in message


def test_undamaged_it_comes_to_the_same_end(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs.copied(tmp_path / "copy")
    code, message = resumed(run, capsys)
    assert (code, message) == (0, "")
    check(run, runs, code, message)


FIRST = ("deleted", "cut in half")


@pytest.mark.parametrize(
    "damage", [each if each in FIRST else pytest.param(each, marks=pytest.mark.slow) for each in DAMAGES]
)
@pytest.mark.parametrize("name", NEEDED)
def test_damage_to_what_a_run_stands_on_is_refused_by_the_name_of_the_file(
    name: str, damage: str, runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs.copied(tmp_path / "copy")
    DAMAGES[damage](run / name)
    code, message = resumed(run, capsys)
    check(run, runs, code, message)
    assert code in REFUSALS
    assert NEEDED[name] in message


def test_a_second_run_in_the_same_folder_is_refused_and_harms_nothing(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runs.copied(tmp_path / "copy")
    before = all_files(run)
    refused = skillopt(*SMALL, "train.seed=7", "hydra.run.dir=run", cwd=tmp_path / "copy")
    assert refused.returncode == 2
    assert "already holds a run" in refused.stderr
    assert all_files(run) == before
    code, message = resumed(run, capsys)
    assert code == 0, message
    check(run, runs, code, message)


@pytest.mark.slow
def test_damage_to_any_kind_of_file_ends_well_or_is_refused(
    runs: Runs, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # One of each name: the steps leave the same files.
    kinds = {name.rpartition("/")[2]: name for name in all_files(runs.stopped) if name != "calls.jsonl"}
    names = sorted(kinds.values())
    assert len(names) > 20
    for number, name in enumerate(names):
        for damage in DAMAGES:
            run = runs.copied(tmp_path / f"{number} {damage}")
            DAMAGES[damage](run / name)
            code, message = resumed(run, capsys)
            check(run, runs, code, message)
            shutil.rmtree(tmp_path / f"{number} {damage}")
