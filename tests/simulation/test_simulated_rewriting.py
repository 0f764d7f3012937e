"""The simulated optimizer where more than edits is asked for: suggestions, whole skills, notes."""

from typing import Any

import pytest
from simulation.simulated_items import quiz_items
from simulation.test_simulated_optimizer import failures, parsed, render

from skillopt_exp.records import Skill
from skillopt_exp.simulation.optimizer import Optimizer
from skillopt_exp.simulation.optimizer.advice import ADVICE, HARMFUL
from skillopt_exp.simulation.optimizer.diagnosis import Flaw
from skillopt_exp.simulation.optimizer.prompt import Proposal
from skillopt_exp.simulation.optimizer.suggesting import as_edit, suggested
from skillopt_exp.simulation.target import Habit, cured

WORDY, HEDGING = (ADVICE[flaw].rules for flaw in (Flaw.too_many_words, Flaw.two_answers))


def asked(template: str, **variables: Any) -> dict[str, Any]:
    return parsed(Optimizer().reply(render(template, **variables)))


def reflected(template: str, name: str, skill: str = "", **variables: Any) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = reflection(template, skill, **variables)[name]
    return entries


def reflection(template: str, skill: str = "", **variables: Any) -> dict[str, Any]:
    known = {"kind": "failure", "memory": [], "advice": "", "budget": 4}
    shown = failures(quiz_items(4), Habit.wordy)
    return asked(template, skill=skill, trajectories=shown, **{**known, **variables})


@pytest.mark.parametrize(
    "edit",
    [
        Proposal("append", None, "- One."),
        Proposal("insert_after", '- Say "yes".', '- Say "no" below: twice.'),
        Proposal("replace", "- One.", "- Two."),
        Proposal("delete", "- One.", None),
    ],
)
def test_a_suggestion_says_in_words_what_the_edit_would_do(edit: Proposal) -> None:
    assert as_edit(suggested(edit)) == edit


def test_an_instruction_in_other_words_is_taken_for_a_rule() -> None:
    reply = asked("rewrite", skill="- One.", suggestions=[{"type": "clarify", "instruction": "Be brief."}])
    assert reply["new_skill"].splitlines()[-1] == "- Be brief."


def test_reflection_thinks_the_same_in_every_mode() -> None:
    skills = [f"- Rule {n}." for n in range(60)]
    suggestions = [
        each for skill in skills for each in reflected("reflect_suggestions", "revise_suggestions", skill)
    ]
    written = [each for skill in skills for each in reflected("reflect_skill", "skill_candidates", skill)]
    for texts in ([each["instruction"] for each in suggestions], [each["new_skill"] for each in written]):
        assert sum(Habit.wordy in cured(text.removeprefix("Add this rule: ")) for text in texts) >= 10
        assert any(idea in text for text in texts for idea in HARMFUL), "it is as fallible"


def test_merging_suggestions_adds_up_the_support_of_those_that_ask_for_the_same() -> None:
    one, other, third = WORDY[0], WORDY[1], HEDGING[0]
    patches = [
        {
            "revise_suggestions": [
                {"type": "add_rule", "title": "a", "instruction": f"Add this rule: - {one}"}
            ]
        },
        {
            "revise_suggestions": [
                {"type": "add_rule", "instruction": f"Add this rule: - {other}", "support_count": 3},
                {"type": "add_rule", "instruction": f"Add this rule: - {third}", "source_type": "success"},
            ]
        },
    ]
    merged = asked("merge_suggestions", kind="mixed", skill="", patches=patches)["revise_suggestions"]
    assert [(each["instruction"], each["support_count"], each["source_type"]) for each in merged] == [
        (f"Add this rule: - {other}", 4, "failure"),
        (f"Add this rule: - {third}", 1, "success"),
    ]


def test_one_skill_is_made_of_several_without_what_most_leave_out() -> None:
    old = Skill("- Keep this.\n- Drop this.", "- Guidance.", "- Note.")
    texts = [f"- Keep this.\n- {WORDY[0]}", f"- Keep this.\n- {WORDY[1]}", f"- Drop this.\n- {HEDGING[0]}"]
    patches = [{"skill_candidates": [{"title": "new", "new_skill": text}]} for text in texts]
    (merged,) = asked("merge_skills", kind="failure", skill=old.text, patches=patches)["skill_candidates"]
    lines = merged["new_skill"].splitlines()
    assert lines[0] == "- Keep this."
    assert cured(merged["new_skill"]) >= {Habit.wordy, Habit.hedging}
    assert len(lines) == 3, "what says the same is there once, and the parts of others are not"
    assert merged["support_count"] == 3


def test_a_rewrite_does_what_is_suggested_and_seldom_loses_a_line() -> None:
    lost = 0
    for number in range(200):
        skill = Skill(f"- Rule {number}.\n- Old.\n- Gone.", "- Guidance.", "- Note.")
        edits = [
            Proposal("replace", "- Old.", "- New."),
            Proposal("delete", "- Gone.", None),
            Proposal("append", None, "- Last."),
        ]
        suggestions = [
            {"type": each.op, "title": each.target, "instruction": each.content}
            for each in map(suggested, edits)
        ]
        text = asked("rewrite", skill=skill.text, suggestions=suggestions)["new_skill"]
        assert "- Guidance." not in text
        lost += text != f"- Rule {number}.\n- New.\n- Last."
    assert 0 < lost < 25


def test_what_was_rejected_before_is_not_suggested_again() -> None:
    seen: set[str] = set()
    memory: list[dict[str, Any]] = []
    for _ in range(30):
        found = reflected("reflect_suggestions", "revise_suggestions", memory=memory)
        instructions = {each["instruction"] for each in found}
        assert not seen & instructions
        seen |= instructions
        memory.append({"rejected_edits": found})
    assert len(seen) > 3


def noted(skill: str, lapses: int | None = 3, **variables: Any) -> list[dict[str, Any]]:
    """Replies to reflections on one forgotten rule, which differ by chance alone."""
    return [
        reflection("reflect", f"- Rule {number}.\n{skill}", lapses=lapses, **variables)
        for number in range(100)
    ]


def test_a_flaw_that_the_skill_speaks_of_is_a_lapse_and_one_that_it_does_not_is_none() -> None:
    forgotten = [note for reply in noted(f"- {WORDY[0]}") for note in reply["appendix_notes"]]
    assert 30 < len(forgotten) < 70
    assert sum(Habit.wordy in cured(note) for note in forgotten) > 0.8 * len(forgotten)
    assert not {WORDY[0]} & set(forgotten), "a reminder is no repetition"
    silent = [note for reply in noted("- Be kind.") for note in reply["appendix_notes"]]
    assert 0 < len(silent) < 15, "seldom a defect is taken for a lapse"
    assert not any("appendix_notes" in reply for reply in noted(f"- {WORDY[0]}", lapses=None))


def test_for_a_lapse_the_skill_is_left_as_it_is_in_every_mode() -> None:
    rule = f"- {WORDY[0]}"
    assert not any(edit["op"] == "replace" for reply in noted(rule) for edit in reply["edits"])
    for template, name in (
        ("reflect_suggestions", "revise_suggestions"),
        ("reflect_skill", "skill_candidates"),
    ):
        replies = [reflection(template, f"- Rule {n}.\n{rule}", lapses=3) for n in range(60)]
        assert any(reply["appendix_notes"] and not reply[name] for reply in replies), "lapses alone"


def test_a_note_that_was_not_kept_is_not_written_again() -> None:
    memory = [{"rejected_edits": [], "rejected_notes": list(WORDY[1:])}]
    written = {note for reply in noted(f"- {WORDY[0]}", memory=memory) for note in reply["appendix_notes"]}
    assert not written & set(WORDY)


def test_notes_on_the_same_rule_become_one() -> None:
    notes = ["Be careful.", WORDY[0], HEDGING[0], WORDY[1]]
    reply = asked("compact_notes", skill="", notes=notes, max_notes=3)
    assert reply["appendix_notes"] == [WORDY[0], HEDGING[0]]
    assert asked("compact_notes", skill="", notes=notes, max_notes=1)["appendix_notes"] == [HEDGING[0]]
