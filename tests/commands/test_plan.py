from pathlib import Path

import pytest

from skillopt_exp import commands
from skillopt_exp.errors import DataError, UsageError


def planned(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert commands.run(["plan", *arguments]) == 0
    return capsys.readouterr().out


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)


@pytest.mark.parametrize("columns", [80, 120])
def test_the_table_fits_the_terminal(
    columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    limits = ("model.optimizer.max_tokens=8000", "model.target.max_tokens=1000", "train.num_epochs=20")
    out = planned(capsys, "dataset=demo", *limits)
    table = out[out.index("how often, how much") :].splitlines()
    assert all(len(line) <= columns for line in table)
    assert "…" not in out, "nothing is cut"
    for words in (
        "at least",
        "expected",
        "at most",
        "rollout",
        "select",
        "input tokens",
        "cost in US dollars",
    ):
        assert words in out


def test_a_plan_needs_no_key_leaves_nothing_and_says_which_key_is_missing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = planned(capsys, "dataset=demo")
    assert "DEEPSEEK_API_KEY is not set" in out
    assert "million tokens, of 2026-10-27" in " ".join(out.split()), "the date of the prices"
    assert list(tmp_path.iterdir()) == []


def test_the_calls_of_the_demo_are_those_of_its_sizes(capsys: pytest.CaptureFixture[str]) -> None:
    out = planned(capsys, "dataset=demo", "model=simulated", "train.num_epochs=1")
    calls = out[out.index("calls") : out.index("input tokens")]
    stages = [line.split() for line in calls.splitlines() if line.startswith("    ") and line.strip()]
    rows = {words[0]: words[-3:] for words in stages}
    assert rows["rollout"] == ["0", "240", "240"]
    assert rows["selection"] == ["120", "1,560", "1,560"]
    assert rows["test"] == ["840", "1,680", "1,680"]


def test_an_unknown_price_is_said_and_is_not_zero(capsys: pytest.CaptureFixture[str]) -> None:
    out = planned(
        capsys,
        "dataset=demo",
        "model=openai",
        "model.target.name=a",
        "model.optimizer.name=b",
        "budget.usd=1",
    )
    assert "Price of a: unknown, which is not free" in out
    assert "$0" not in out
    assert "0.00" not in out
    assert "budget.usd cannot be held: the price of 'a' is unknown" in out, "training would refuse it"
    assert "budget.usd=1: how many steps it affords is unknown" in out


def test_a_budget_that_affords_next_to_nothing_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    limits = ("model.target.max_tokens=1000", "model.optimizer.max_tokens=8000")
    out = planned(capsys, "dataset=demo", *limits, "budget.calls=2100", "budget.usd=1000")
    assert "budget.usd=1000 affords 36 of 36 steps" in out
    assert "warning  budget.calls=2100 affords" in out
    assert "raise it" in out


def test_the_failure_rate_and_the_latency_are_the_users(capsys: pytest.CaptureFixture[str]) -> None:
    no_end = ("optimizer.use_slow_update=false", "optimizer.use_meta_skill=false")
    demo = ("dataset=demo", "model=simulated", "gradient.failure_only=true", *no_end)
    often, seldom = (planned(capsys, *demo, f"failure_rate={rate}") for rate in (0.9, 0.0))
    assert often != seldom
    assert _cell(seldom, "reflect") == "0"
    slow = planned(capsys, "dataset=demo", "model=simulated", "seconds_per_call=60")
    assert "60 s a call" in slow


def _cell(out: str, stage: str) -> str:
    """The expected calls of ``stage``."""
    line = next(line for line in out.splitlines() if line.strip().startswith(stage))
    return line.split()[-2]


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ("failure_rate=1.5", "failure_rate is 1.5"),
        ("seconds_per_call=-1", "seconds_per_call is -1"),
        ("target_reply_tokens=0", "target_reply_tokens is 0"),
        ("failure_rate=often", "failure_rate=often"),
        ("train.batchsize=3", "train.batch_size"),
    ],
)
def test_impossible_guesses_are_refused(argument: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        commands.run(["plan", "dataset=demo", "model=simulated", argument])


def test_missing_data_is_an_error_as_in_training() -> None:
    with pytest.raises(DataError, match=r"nowhere\.jsonl"):
        commands.run(["plan", "dataset=qa", "dataset.path=nowhere.jsonl"])


def test_a_plan_for_simulated_models_says_that_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert "SIMULATED" in planned(capsys, "dataset=demo", "model=simulated")
    assert "SIMULATED" not in planned(capsys, "dataset=demo")


def test_what_training_would_refuse_of_the_models_is_a_warning(capsys: pytest.CaptureFixture[str]) -> None:
    names = ("model.target.name=a", "model.optimizer.name=b")
    out = planned(capsys, "dataset=demo", "model=openai_compatible", *names)
    assert "warning  model.target.base_url is null" in out


def test_help_names_the_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert "seconds_per_call" in planned(capsys, "--help")
