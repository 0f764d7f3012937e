"""``optimizer=none``: the seed skill is scored, and nothing is trained."""

from pathlib import Path

import pytest
from running import all_files, history, run

from skillopt_exp import commands
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Summary

NOBODY = ("model/target=simulated", "model/optimizer=openai_compatible", "optimizer=none")
"""An optimizer model without a name, an address or a key."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for variable in ("DEEPSEEK_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)


def evaluated(folder: Path, *overrides: str) -> Summary:
    folder.mkdir()
    return run(folder, *NOBODY, *overrides)


def test_the_seed_skill_is_scored_on_val_and_test_and_no_optimizer_is_needed(tmp_path: Path) -> None:
    (tmp_path / "seed.md").write_text("- Answer with the bare name.\n", encoding="utf-8")
    summary = evaluated(tmp_path / "run", f"train.skill_init={tmp_path / 'seed.md'}")
    assert (summary.verdict, summary.status, summary.evidence) == ("evaluated only", "finished", None)
    assert summary.baseline_selection_hard == summary.best_selection_hard
    assert summary.test_hard == summary.baseline_test_hard is not None
    assert summary.num_test_items > 0
    assert (summary.total_steps, summary.test_delta_hard, summary.cause) == (0, None, "")
    assert summary.optimizer == "never asked"
    assert {name.partition("/")[0] for name in summary.usage} == {"target"}
    assert history(tmp_path / "run") == []
    assert all_files(tmp_path / "run")["best_skill.md"] == (tmp_path / "seed.md").read_bytes()


def test_it_says_what_training_says_of_the_same_seed_skill(tmp_path: Path) -> None:
    trained = tmp_path / "trained"
    trained.mkdir()
    told, alone = run(trained), evaluated(tmp_path / "alone")
    assert alone.baseline_selection_hard == told.baseline_selection_hard
    assert alone.baseline_test_hard == told.baseline_test_hard


def test_the_plan_is_one_pass_over_val_and_test(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["plan", "dataset=demo", *NOBODY]) == 0
    out = capsys.readouterr().out
    assert "API_KEY" not in out
    calls = next(line for line in out.splitlines() if line.startswith("calls"))
    assert calls.split()[1:] == ["960"] * 3
    assert "nothing is trained" in out


def test_the_doctor_does_not_ask_for_the_optimizer(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["doctor", "dataset=demo", "tracking=none", *NOBODY]) == 0
    assert "optimizer=none" in capsys.readouterr().out


def test_the_keys_of_skillopt_are_not_there() -> None:
    with pytest.raises(UsageError, match="optimizer=skillopt alone"):
        commands.run(["plan", "dataset=demo", *NOBODY, "optimizer.learning_rate=3"])
