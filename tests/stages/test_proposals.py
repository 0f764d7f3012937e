"""What is read of replies that propose something, in every shape that servers are known to send."""

import json
from typing import Any

import pytest

from skillopt_exp.llm.json_reply import Unparsable
from skillopt_exp.records import Edit, Source
from skillopt_exp.stages.modes import MODES, Mode
from skillopt_exp.stages.replies import read_skill, read_skills

ENTRIES: dict[str, dict[str, Any]] = {
    "edits": {"op": "append", "content": "- Be brief."},
    "revise_suggestions": {
        "type": "add_rule",
        "title": "length",
        "motivation": "answers are long",
        "instruction": "Say: be brief.",
        "priority_hint": "high",
    },
    "skill_candidates": {
        "title": "length",
        "change_summary": ["one rule", "shorter"],
        "new_skill": "# Skill\n- Be brief.",
    },
}
READ = {
    "edits": Edit("append", None, "- Be brief."),
    "revise_suggestions": Edit("add_rule", "length", "Say: be brief."),
    "skill_candidates": Edit("rewrite", "length; one rule; shorter", "# Skill\n- Be brief."),
}
modes = pytest.mark.parametrize("mode", MODES.values(), ids=lambda mode: mode.name)


@modes
def test_proposals_are_read_at_the_top_level_under_patch_and_as_a_bare_list(mode: Mode) -> None:
    entries = [ENTRIES[mode.name]]
    for value in ({mode.name: entries}, {"batch_size": 4, "patch": {mode.name: entries}}, entries):
        assert mode.read(value).edits == (READ[mode.name],)


@modes
def test_a_failure_summary_may_be_one_text_or_a_list_of_patterns(mode: Mode) -> None:
    patterns = [{"failure_type": "form", "count": 2, "description": "Too long."}, "No unit.", 3]
    for said, text in (("Too long.", "Too long."), (patterns, "Too long. No unit."), (None, "")):
        value = {"failure_summary": said, "patch": {"reasoning": "because", mode.name: []}}
        read = mode.read(value)
        assert (read.failure_summary, read.reasoning) == (text, "because")


@modes
def test_what_is_no_list_is_asked_for_again_and_what_is_no_object_is_dropped_by_name(mode: Mode) -> None:
    for value in ({mode.name: "- Be brief."}, {"other": []}, "text", None):
        with pytest.raises(Unparsable, match=mode.name):
            mode.read(value)
    read = mode.read({mode.name: ["- Be brief.", ENTRIES[mode.name]]})
    assert read.dropped == (f"entry 0 of {mode.name} is str, not an object",)
    assert read.edits == (READ[mode.name],)


@modes
def test_what_a_prompt_shows_of_a_proposal_is_read_as_the_same_again(mode: Mode) -> None:
    supported = Edit("append", "a", "- b", support_count=3, source_type=Source.success)
    shown = json.loads(json.dumps({mode.name: [mode.shown(supported)]}))
    (read,) = mode.read(shown).edits
    assert (read.target, read.content) == ("a", "- b")
    assert (read.support_count, read.source_type) == (3, Source.success)


@modes
def test_parts_of_another_type_are_absent(mode: Mode) -> None:
    (read,) = mode.read({mode.name: [dict.fromkeys(ENTRIES[mode.name], 7) | {"support_count": "many"}]}).edits
    assert (read.target, read.content, read.support_count) == (None, None, 1)


def test_a_whole_skill_may_stand_alone_and_in_a_fence() -> None:
    for text in ("- Be brief.", "```markdown\n- Be brief.\n```", "```\n- Be brief.\n```\n"):
        assert read_skill({"new_skill": text}).text == "- Be brief."
        assert read_skills({"new_skill": text}).edits == (Edit("rewrite", None, "- Be brief."),)
    two_fences = "```\na\n```\n- Be brief.\n```\nb\n```"
    assert read_skill({"patch": {"new_skill": two_fences}}).text == two_fences
