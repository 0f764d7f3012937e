from pathlib import Path

import pytest
from running import run

from skillopt_exp.errors import UsageError
from skillopt_exp.evaluation.source import NO_SKILL, find_skill
from skillopt_exp.runs.folder import RunFolder


def test_none_is_no_skill(tmp_path: Path) -> None:
    assert find_skill("none", key="skill", base=tmp_path) == NO_SKILL
    assert NO_SKILL.skill.text == ""
    assert NO_SKILL.described == "no skill"


def test_a_file_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "s.md").write_bytes("\ufeff\n- Sei knapp, größer.\r\n\n".encode())
    found = find_skill("s.md", key="skill", base=tmp_path)
    assert found.skill.text == "- Sei knapp, größer."
    assert found.described == "s.md (20 characters)"
    assert found.run is None


def test_a_file_named_none_can_still_be_read(tmp_path: Path) -> None:
    (tmp_path / "none").write_text("x", encoding="utf-8")
    assert find_skill("./none", key="skill", base=tmp_path).skill.text == "x"


def test_an_empty_file_says_that_it_is_no_skill(tmp_path: Path) -> None:
    (tmp_path / "s.md").write_text("\n", encoding="utf-8")
    assert "the same as no skill" in find_skill("s.md", key="skill", base=tmp_path).described


def test_a_run_stands_for_its_best_skill(tmp_path: Path) -> None:
    summary = run(tmp_path / "r", base=tmp_path)
    found = find_skill("r", key="a", base=tmp_path)
    assert found.skill.digest == summary.best_digest
    assert found.run == RunFolder.open(tmp_path / "r")


@pytest.mark.parametrize("given", ["missing.md", "latin.md"])
def test_a_file_that_cannot_be_read_is_an_error_that_names_the_key(given: str, tmp_path: Path) -> None:
    (tmp_path / "latin.md").write_bytes(b"gr\xfc\xdfe")
    with pytest.raises(UsageError, match=f"b={given}"):
        find_skill(given, key="b", base=tmp_path)


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match=r"a=folder: .* run\.json is missing"):
        find_skill("folder", key="a", base=tmp_path)


def test_a_run_without_a_skill_yet_is_refused(tmp_path: Path) -> None:
    RunFolder.create(tmp_path / "r", prompts="p")
    with pytest.raises(UsageError, match=r"a=r: the run has no best_skill\.md yet"):
        find_skill("r", key="a", base=tmp_path)
