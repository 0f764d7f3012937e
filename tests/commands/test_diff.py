"""Two skills side by side."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.__main__ import main
from skillopt_exp.report.diff import side_by_side

TEXTS = st.lists(st.sampled_from("abcd"), max_size=12).map("\n".join)


@given(TEXTS, TEXTS)
def test_both_texts_are_there_whole_and_in_order(before: str, after: str) -> None:
    pairs = side_by_side(before, after)
    assert "\n".join(pair.before for pair in pairs if pair.before is not None) == before
    assert "\n".join(pair.after for pair in pairs if pair.after is not None) == after
    assert all(pair.same for pair in pairs) is (before == after)


@pytest.fixture
def skills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "one.md").write_text("- Be brief.\n- Keep the unit.\n- [bold]Odd[/] \x1b[8mtext\n")
    (tmp_path / "two.md").write_text("- Be brief.\n- Drop the unit.\n- [bold]Odd[/] \x1b[8mtext\n- More.\n")
    return tmp_path


def test_what_only_one_of_them_has_is_marked(skills: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "a=one.md", "b=two.md"]) == 0
    said = capsys.readouterr().out
    row = next(line for line in said.splitlines() if "Drop" in line)
    assert row.split() == ["-", "-", "Keep", "the", "unit.", "+", "-", "Drop", "the", "unit."]
    assert "+ - More." in said
    assert said.count("  - Be brief.") == 2
    assert "\x1b[8m" not in said
    assert "[bold]Odd[/]" in said


def test_equal_skills_are_said_to_be_equal(skills: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "a=one.md", "b=one.md"]) == 0
    assert "the same text" in capsys.readouterr().out
    assert main(["diff", "a=none", "b=gone.md"]) == 2
    assert "b=gone.md" in capsys.readouterr().err
