"""``compare`` as a user meets it."""

import json
from pathlib import Path

import pytest
from running import run
from serving import skillopt

from skillopt_exp import commands
from skillopt_exp.errors import UsageError

SIMULATED = ("dataset=demo", "dataset.limit=80", "tracking=none", "model=simulated")
GOOD = "- Answer with the bare name.\n- Commit to one answer.\n"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.md").write_text(GOOD, encoding="utf-8")
    (tmp_path / "bad.md").write_text("Water boils at 100 degrees.\n", encoding="utf-8")


def compared(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert commands.run(["compare", *arguments, *SIMULATED]) == 0
    return capsys.readouterr().out


def summary_in(base: Path) -> dict[str, object]:
    (folder,) = (base / "outputs" / "compare" / "demo").iterdir()
    summary: dict[str, object] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return summary


def test_a_run_against_no_skill_says_what_the_run_said_and_asks_nobody(tmp_path: Path) -> None:
    trained = run(tmp_path / "r", base=tmp_path)
    done = skillopt("compare", "a=none", "b=r", *SIMULATED, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "spent    0 calls" in done.stdout
    assert "test/best.jsonl" in done.stdout
    pair = summary_in(tmp_path)["pair"]
    assert isinstance(pair, dict)
    assert pair["hard"] == trained.test_delta_hard
    assert pair["evidence"] == trained.evidence


def test_the_ids_of_all_items_stand_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = compared(capsys, "a=bad.md", "b=good.md", "out=x")
    rows = [
        json.loads(line) for line in (tmp_path / "x" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    ]
    won = [row["id"] for row in rows if row["outcome"] == "won"]
    lost = [row["id"] for row in rows if row["outcome"] == "lost"]
    assert len(rows) == 24
    assert f"items    {len(won)} won, {len(lost)} lost, {24 - len(won) - len(lost)} tied" in out
    assert f"won      {', '.join(won[:10])}" in out
    assert all(row["first_hard"] > row["second_hard"] for row in rows if row["outcome"] == "won")


def test_the_other_way_round_is_the_negative(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared(capsys, "a=bad.md", "b=good.md", "out=one")
    compared(capsys, "a=good.md", "b=bad.md", "out=other")
    summaries = [
        json.loads((tmp_path / name / "summary.json").read_text(encoding="utf-8"))
        for name in ("one", "other")
    ]
    one, other = (summary["pair"] for summary in summaries)
    assert one["hard"] == -other["hard"] > 0
    assert (one["num_won"], one["num_lost"]) == (other["num_lost"], other["num_won"])
    assert one["hard_p"] == other["hard_p"]
    more, less = (summary["extra_a_call"]["input"] for summary in summaries)
    assert more == -less


def test_a_control_is_a_third_row(capsys: pytest.CaptureFixture[str]) -> None:
    out = compared(capsys, "a=bad.md", "b=good.md", "control=true")
    assert "control  no skill" in out
    assert "spent    72 calls" in out


def test_a_skill_against_itself_is_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    out = compared(capsys, "a=good.md", "b=./good.md")
    assert "0 won, 0 lost, 24 tied" in out
    assert "no clear difference: too few items to tell   p = 1.0000" in out
    assert "spent    24 calls" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["a=none"], "compare needs b"),
        (["a=none", "b=gone.md"], "b=gone.md"),
        (["a=.", "b=none"], "a=."),
        (["a=none", "b=good.md", "skill=good.md"], "skill"),
    ],
)
def test_what_is_wrong_is_named(arguments: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        commands.run(["compare", *arguments, *SIMULATED])


def test_help_names_the_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["compare", "--help"]) == 0
    assert "\n  b " in capsys.readouterr().out
