"""``eval`` as a user meets it."""

import json
import signal
from pathlib import Path

import pytest
from running import all_files, run
from serving import killed_after, requests, roles_at, served, skillopt

from skillopt_exp import commands
from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.runs.folder import RunFolder

SMALL = ("dataset=demo", "dataset.limit=80", "tracking=none")
SIMULATED = (*SMALL, "model=simulated")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    (tmp_path / "good.md").write_text(
        "- Answer with the bare name.\n- Commit to one answer.\n", encoding="utf-8"
    )


def evaluated(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert commands.run(["eval", *arguments]) == 0
    return capsys.readouterr().out


def only_folder(base: Path) -> Path:
    (folder,) = (base / "outputs" / "eval" / "demo").iterdir()
    return folder


def test_a_skill_is_scored_and_says_what_it_costs(tmp_path: Path) -> None:
    done = skillopt("eval", "skill=good.md", *SIMULATED, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for said in (
        "SIMULATED",
        "skill    good.md (52 characters)",
        "demo: test 24 items   held-out",
        "tokens in",
    ):
        assert said in done.stdout
    folder = only_folder(tmp_path)
    assert str(folder) in done.stdout
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["skills"]["skill"]["standing"]["num_items"] == 24
    assert summary["extra_a_call"]["input"] > 0
    assert len((folder / "skill.jsonl").read_text(encoding="utf-8").splitlines()) == 24


def test_a_run_is_scored_on_any_split_and_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = run(tmp_path / "r", base=tmp_path)
    before = all_files(tmp_path / "r")
    out = evaluated(capsys, "skill=r", "split=val", "out=results/val", *SIMULATED)
    assert all_files(tmp_path / "r") == before
    found = json.loads((tmp_path / "results" / "val" / "summary.json").read_text(encoding="utf-8"))
    assert found["skills"]["skill"]["standing"]["hard"] == summary.best_selection_hard
    assert "selection" in out
    assert "were in the train or val split" in out


def test_without_a_control_there_is_one_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = evaluated(capsys, "skill=none", "control=false", *SIMULATED)
    assert "verdict" not in out
    left = {path.name for path in only_folder(tmp_path).iterdir()}
    assert left == {"skill.jsonl", "summary.json", "config.yaml", "split_manifest.json"}
    assert "spent    24 calls" in out


def test_no_skill_against_no_skill_is_asked_once(capsys: pytest.CaptureFixture[str]) -> None:
    out = evaluated(capsys, "skill=none", *SIMULATED)
    assert "spent    24 calls" in out
    assert "control" not in out, "it would be its own control"


def test_the_configuration_of_the_evaluation_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluated(capsys, "skill=good.md", *SIMULATED, "dataset.scorer=contains")
    kept = (only_folder(tmp_path) / "config.yaml").read_text(encoding="utf-8")
    assert "scorer: contains" in kept
    assert "never asked" not in kept


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "eval needs skill"),
        (["skill=nowhere.md", *SIMULATED], 2, "skill=nowhere.md"),
        (["skill=.", *SIMULATED], 2, "but not a run's"),
        (["skill=good.md", "split=tset", *SIMULATED], 2, "split=tset"),
        (["skill=good.md", "out=good.md", *SIMULATED], 2, "out=good.md is there already"),
        (["skill=good.md", *SIMULATED, "dataset.limt=3"], 2, "did you mean dataset.limit?"),
        (["skill=good.md", *SMALL], 2, "DEEPSEEK_API_KEY is not set"),
        (["skill=good.md", "dataset=qa", "dataset.path=gone.jsonl", "model=simulated"], 3, "gone.jsonl"),
        (["skill=good.md", *SIMULATED, "budget.calls=30"], 5, "budget.calls is reached"),
        (["skill=good.md", *SIMULATED, "tracking=mlflow", "tracking.uri=file:mlruns"], 2, "tracking.uri"),
        (["skill=good.md", *SIMULATED, "model.target.revision=sk-not-a-real-key-123456"], 2, "secret"),
    ],
)
def test_what_is_wrong_is_one_message_with_an_exit_code(
    arguments: list[str], code: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from skillopt_exp.__main__ import main

    assert main(["eval", *arguments]) == code
    told = capsys.readouterr().err
    assert told.startswith("error: ")
    assert said in told
    assert not (tmp_path / "outputs").exists(), "nothing is left of what never began"


def test_the_optimizers_key_and_name_are_not_needed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = evaluated(capsys, "skill=good.md", *SMALL, "model=deepseek", "model/target=simulated")
    assert "spent    48 calls" in out
    out = evaluated(capsys, "skill=good.md", *SMALL, "model=vllm", "model/target=simulated")
    assert "simulated-target" in out


def test_a_run_s_folder_is_refused_for_results(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "r", prompts="p")
    with pytest.raises(UsageError, match="stays as it is"):
        commands.run(["eval", "skill=good.md", "out=r/eval", *SIMULATED])


def test_missing_data_is_an_error_as_in_training() -> None:
    with pytest.raises(DataError, match=r"nowhere\.jsonl"):
        commands.run(["eval", "skill=none", "dataset=qa", "dataset.path=nowhere.jsonl", "model=simulated"])


def test_help_names_the_keys(capsys: pytest.CaptureFixture[str]) -> None:
    out = evaluated(capsys, "--help")
    for name in ("skill", "split", "control", "reuse", "out"):
        assert f"\n  {name} " in out


def test_a_stopped_evaluation_leaves_nothing_and_goes_on_where_it_was(tmp_path: Path) -> None:
    keys = ("eval", "skill=good.md", "dataset=demo", "dataset.limit=400", "tracking=none")
    with served(tmp_path) as (address, log):
        arguments = [*keys, *roles_at(address), "model.target.max_concurrency=2"]
        stopped = killed_after(60, log, *arguments, cwd=tmp_path, how=signal.SIGINT)
        assert stopped.returncode == 75, stopped.stderr
        assert "error: stopped by SIGINT" in stopped.stderr
        assert "give the same command again" in stopped.stderr
        assert not (tmp_path / "outputs").exists()
        done = skillopt(*arguments, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert len(requests(log)) == 240, "every question was paid for once"
