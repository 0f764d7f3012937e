"""Whole runs under a budget: at the cap they end in good order, with a higher one they go on."""

import json
from pathlib import Path

import pytest
from running import all_files, run
from serving import skillopt

from skillopt_exp.errors import BudgetError

PRICED = tuple(
    f"model.{role}.{setting}"
    for role in ("target", "optimizer")
    for setting in ("max_tokens=3000", "price.input=0.5", "price.cached_input=0.5", "price.output=2.0")
)
COMPARED = ("best_skill.md", "history.jsonl")


def test_at_the_cap_a_run_ends_with_its_best_skill_and_a_higher_cap_goes_on(tmp_path: Path) -> None:
    arguments = ["dataset=demo", "model=simulated", "tracking=none", "dataset.limit=80", "train.num_epochs=1"]
    whole, capped = tmp_path / "whole", tmp_path / "capped"
    for folder in (whole, capped):
        folder.mkdir()
    assert skillopt(*arguments, cwd=whole).returncode == 0
    stopped = skillopt(*arguments, "budget.calls=120", cwd=capped)
    (folder,) = (capped / "outputs").glob("*/*")
    assert stopped.returncode == 5, stopped.stderr
    assert "budget.calls is reached: the cap is 120 calls, spent are 120 calls" in stopped.stderr
    assert f"python -m skillopt_exp resume run={folder} budget.calls=242" in stopped.stderr
    assert "50 % of budget.calls are spent" in stopped.stdout + stopped.stderr
    assert status_and_calls(folder) == ("stopped(budget)", 120)
    assert (folder / "best_skill.md").exists()

    again = skillopt("resume", f"run={folder}", cwd=capped)
    assert again.returncode == 5, "the cap is that of the whole run, not of a process"
    assert status_and_calls(folder) == ("stopped(budget)", 120), "what was answered is paid once"
    higher = skillopt("resume", f"run={folder}", "budget.calls=100000", cwd=capped)
    assert higher.returncode == 0, higher.stderr
    (reference,) = (whole / "outputs").glob("*/*")
    expected, left = all_files(reference), all_files(folder)
    assert all(left[name] == expected[name] for name in COMPARED)


def status_and_calls(folder: Path) -> tuple[str, int]:
    """How the run ended, and its paid calls over all processes."""
    summary = json.loads((folder / "summary.json").read_text())
    return summary["status"], sum(usage["calls"] for usage in summary["usage"].values())


@pytest.mark.parametrize("usd", [0.02, 0.05])
def test_money_is_never_exceeded_where_replies_have_a_limit(tmp_path: Path, usd: float) -> None:
    with pytest.raises(BudgetError, match=r"budget\.usd is reached"):
        run(tmp_path, *PRICED, f"budget.usd={usd}")
    summary = json.loads((tmp_path / "summary.json").read_text())
    spent = sum(usage["cost_usd"] for usage in summary["usage"].values())
    assert 0.2 * usd < spent <= usd


def test_a_cap_that_cannot_be_held_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", "nothing-is-sent")
    refused = skillopt("dataset=demo", "model=deepseek", "budget.usd=5", cwd=tmp_path)
    assert refused.returncode == 5, refused.stderr
    assert "model.target.max_tokens=" in refused.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_a_run_that_fits_its_budget_is_not_disturbed(tmp_path: Path) -> None:
    free, capped = tmp_path / "free", tmp_path / "capped"
    for folder in (free, capped):
        folder.mkdir()
    run(free, "cache.mode=none")
    run(capped, "cache.mode=none", *PRICED, "budget.usd=50", "budget.tokens=50000000", "budget.calls=100000")
    assert (free / "history.jsonl").read_bytes() == (capped / "history.jsonl").read_bytes()
