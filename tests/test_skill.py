from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.checks.materials import read_skill
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Edit, Rejection, Skill
from skillopt_exp.skill import (
    OPS,
    apply_edit,
    apply_edits,
    num_tokens,
    parse,
    rewritten,
    with_body,
    with_guidance,
)

TWICE = Skill(body="# Skill\n- Check units\n- Read the clue twice\n- Check units")


def test_every_edit_ends_as_applied_or_rejected_with_its_reason() -> None:
    edits = (
        Edit("delete", target=""),
        Edit("add", content="x"),
        Edit("insert_after", target="- Not there", content="y"),
        Edit("delete", target="- Check units"),
        Edit("append", content=None),
        Edit("append", content="- Cite the page."),
    )
    skill, results = apply_edits(TWICE, edits)
    assert [result.rejection for result in results] == [
        Rejection.empty_anchor,
        Rejection.unknown_op,
        Rejection.anchor_missing,
        Rejection.anchor_ambiguous,
        Rejection.bad_content,
        None,
    ]
    assert skill.body == TWICE.body + "\n- Cite the page."


@pytest.mark.parametrize(
    ("edit", "body"),
    [
        (Edit("append", content="- d"), "# T\n- a\n- b c\n- d"),
        (Edit("append", content="## More\n- d"), "# T\n- a\n- b c\n\n## More\n- d"),
        (Edit("insert_after", target="- a", content="- x"), "# T\n- a\n- x\n- b c"),
        (Edit("insert_after", target="- a\n", content="- x\n"), "# T\n- a\n- x\n- b c"),
        (Edit("insert_after", target="b", content="- x"), "# T\n- a\n- b c\n- x"),
        (Edit("replace", target="- b c", content="- B"), "# T\n- a\n- B"),
        (Edit("replace", target="b", content="B"), "# T\n- a\n- B c"),
        (Edit("delete", target="- a"), "# T\n- b c"),
        (Edit("delete", target=" c"), "# T\n- a\n- b"),
        (Edit("delete", target="# T\n- a\n"), "- b c"),
    ],
)
def test_an_edit_changes_its_anchor_and_nothing_else(edit: Edit, body: str) -> None:
    assert apply_edit(Skill(body="# T\n- a\n- b c"), edit) == (Skill(body=body), None)


def test_text_outside_the_body_is_protected() -> None:
    skill = Skill(body="- a", guidance="keep calm", appendix="note")
    for target in ("keep calm", Skill.GUIDANCE_START, "note", Skill.APPENDIX_END):
        assert apply_edit(skill, Edit("delete", target=target)) == (skill, Rejection.protected)
    for mark in Skill.MARKS:
        assert apply_edit(skill, Edit("append", content=f"{mark}\nobey")) == (skill, Rejection.protected)


@pytest.mark.parametrize(
    "edit",
    [Edit("replace", target="- a", content="- a"), Edit("append", content="\n"), Edit("append", content="")],
)
def test_an_edit_without_effect_is_rejected(edit: Edit) -> None:
    skill, rejection = apply_edit(Skill(body="- a"), edit)
    assert skill == Skill(body="- a")
    assert rejection in (Rejection.no_change, Rejection.bad_content)


@pytest.mark.parametrize(
    ("body", "edit"),
    [
        ("- Be brief.", Edit("append", content="- Be brief.")),
        ("- Be brief.", Edit("append", content="- One.\n- One.")),
        ("- Be brief.\n- Go.", Edit("replace", target="- Go.", content="* be  BRIEF.")),
        ("# Rules\n- Go.", Edit("append", content="## Rules\n- Stay.")),
    ],
)
def test_no_line_may_come_to_stand_twice(body: str, edit: Edit) -> None:
    skill = Skill(body=body)
    assert apply_edit(skill, edit) == (skill, Rejection.duplicate)


def test_lines_without_words_and_fences_may_stand_twice_and_so_may_what_stood_twice_before() -> None:
    code = "```text\na\n```\n\n---"
    skill, rejection = apply_edit(Skill(body=code), Edit("append", content="```text\nb\n```\n\n---"))
    assert rejection is None
    assert skill.body.count("---") == 2
    assert apply_edit(TWICE, Edit("append", content="- New."))[1] is None


PLACED = Skill(body="Answer {question} from {context}.\n- Be brief.")


@pytest.mark.parametrize(
    ("edit", "rejection"),
    [
        (Edit("replace", target="{context}", content="the text"), Rejection.placeholders),
        (Edit("append", content="- Mind the {hint}."), Rejection.placeholders),
        (Edit("append", content="- Mind the {{ hint }}."), Rejection.placeholders),
        (Edit("delete", target="Answer {question} from {context}.\n"), Rejection.placeholders),
        (Edit("replace", target="Answer {question} from", content="Take {question} and"), None),
        (Edit("append", content="- Write \\frac{a}{b} and \\boxed{answer}, or {1, 2}."), None),
    ],
)
def test_the_placeholders_of_the_seed_stay_as_they_are(edit: Edit, rejection: Rejection | None) -> None:
    assert apply_edit(PLACED, edit)[1] == rejection


@pytest.mark.parametrize("content", ['{"rule": "Be brief."}', '["a", "b"]', '```json\n{"rule": 1}\n```'])
def test_a_json_document_is_no_part_of_a_skill(content: str) -> None:
    skill = Skill(body="- a")
    assert apply_edit(skill, Edit("append", content=content)) == (skill, Rejection.bad_content)
    assert with_body(skill, content) == (skill, Rejection.bad_content)
    assert with_guidance(skill, content) == (skill, Rejection.bad_content)


def test_whoever_writes_a_part_is_held_to_the_same() -> None:
    skill = Skill(body="- Keep {x}.", guidance="Old.", appendix="note")
    assert with_body(skill, "- Keep {x} still.") == (replace(skill, body="- Keep {x} still."), None)
    assert with_guidance(skill, "New.") == (replace(skill, guidance="New."), None)
    for text, rejection in (
        ("- Keep nothing.", Rejection.placeholders),
        ("- Keep {x}.\nnote", Rejection.duplicate),
        (f"- {{x}} {Skill.GUIDANCE_START}", Rejection.protected),
        ("  ", Rejection.bad_content),
    ):
        assert with_body(skill, text) == (skill, rejection)
    assert with_guidance(skill, "- Keep {x}.") == (skill, Rejection.duplicate)
    assert with_guidance(skill, "Old. ") == (skill, Rejection.no_change)


@given(st.text(max_size=300))
def test_a_token_is_four_bytes(text: str) -> None:
    length = len(text.encode("utf-8", "surrogatepass"))
    assert 4 * num_tokens(text) - 4 < length <= 4 * num_tokens(text) or (length, num_tokens(text)) == (0, 0)


texts = st.text(alphabet="ab -\n#é", max_size=12)
maybe = st.none() | texts


@given(texts, st.lists(st.builds(Edit, op=st.sampled_from([*OPS, "add", ""]), target=maybe, content=maybe)))
def test_any_edits_leave_a_report_of_each_and_a_skill(body: str, edits: list[Edit]) -> None:
    skill, results = apply_edits(Skill(body=body), edits)
    assert [result.edit for result in results] == edits
    if not any(result.applied for result in results):
        assert skill == Skill(body=body)


@given(texts, st.builds(Edit, op=st.sampled_from(OPS), target=maybe, content=maybe))
def test_an_applied_edit_changes_the_text_and_a_rejected_one_never_does(body: str, edit: Edit) -> None:
    before = Skill(body=body)
    after, rejection = apply_edit(before, edit)
    assert (after.text != before.text) is (rejection is None)


parts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | texts


@given(parts, parts, parts)
def test_a_rendered_skill_falls_into_its_parts_again(body: str, guidance: str, appendix: str) -> None:
    skill = Skill(body.strip(), guidance.strip(), appendix.strip())
    assert parse(skill.text, "here") == skill
    assert parse(f"\n{skill.text}\n", "here") == skill


def test_a_part_may_stand_anywhere_and_an_empty_one_is_none() -> None:
    start, end = Skill.GUIDANCE_START, Skill.GUIDANCE_END
    empty = f"{Skill.APPENDIX_START}\n{Skill.APPENDIX_END}"
    assert parse(f"{empty}\n- a\n{start}\nkeep\n{end}\n- b\n", "here") == Skill("- a\n\n- b", "keep")
    assert parse(f"{start}{end}", "here") == Skill()


@pytest.mark.parametrize(
    "marks",
    [
        Skill.GUIDANCE_START,
        Skill.APPENDIX_END,
        f"{Skill.GUIDANCE_END}\n{Skill.GUIDANCE_START}",
        f"{Skill.GUIDANCE_START}a{Skill.GUIDANCE_END}{Skill.GUIDANCE_START}b{Skill.GUIDANCE_END}",
        f"{Skill.GUIDANCE_START}{Skill.GUIDANCE_START}a{Skill.GUIDANCE_END}{Skill.GUIDANCE_END}",
        f"{Skill.GUIDANCE_START}{Skill.APPENDIX_START}a{Skill.APPENDIX_END}{Skill.GUIDANCE_END}",
        f"{Skill.APPENDIX_START}{Skill.GUIDANCE_START}a{Skill.GUIDANCE_END}{Skill.APPENDIX_END}",
        f"{Skill.GUIDANCE_START}a{Skill.APPENDIX_START}b{Skill.GUIDANCE_END}c{Skill.APPENDIX_END}",
    ],
)
def test_marks_that_do_not_say_where_a_part_ends_are_refused_by_file(marks: str, tmp_path: Path) -> None:
    (tmp_path / "seed.md").write_text(f"- Be brief.\n{marks}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"^train\.skill_init=seed\.md: the marks .* its end, once"):
        read_skill("seed.md", base=tmp_path)


def test_a_best_skill_to_start_from_keeps_its_guidance_and_its_appendix(tmp_path: Path) -> None:
    skill = Skill("- Be brief.", "- Keep calm.", "- Mind the rule.")
    (tmp_path / "best_skill.md").write_text(f"\ufeff{skill.text}\r\n", encoding="utf-8", newline="")
    assert read_skill("best_skill.md", base=tmp_path) == skill


def test_a_rewritten_skill_may_repeat_the_parts_of_others_and_never_change_them() -> None:
    skill = Skill("- Be brief.", "- Keep calm.", "- Mind the rule.")
    new = Skill("- Be terse.", "- Keep calm.", "- Mind the rule.")
    for text in ("- Be terse.", new.text, replace(new, guidance="").text):
        assert rewritten(skill, text) == (new, None)
    for text, rejection in (
        (replace(new, appendix="- Mind no rule.").text, Rejection.protected),
        (f"- Be terse.\n{Skill.GUIDANCE_START}", Rejection.protected),
        (Skill("", "- Keep calm.").text, Rejection.bad_content),
        (skill.text, Rejection.no_change),
    ):
        assert rewritten(skill, text) == (skill, rejection)
