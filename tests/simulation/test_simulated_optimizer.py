"""The simulated optimizer: what it proposes, merges and ranks, and what it cannot know."""

import ast
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from simulation.simulated_items import quiz_items

import skillopt_exp.simulation.optimizer as optimizer_room
from skillopt_exp.prompts import BUILT_IN
from skillopt_exp.records import Item
from skillopt_exp.simulation import OPTIMIZER, simulation
from skillopt_exp.simulation.optimizer import Optimizer
from skillopt_exp.simulation.optimizer.advice import ADVICE, HARMFUL, USELESS
from skillopt_exp.simulation.optimizer.diagnosis import Flaw, diagnose
from skillopt_exp.simulation.optimizer.prompt import Attempt
from skillopt_exp.simulation.target import Habit, cured, encouraged
from skillopt_exp.simulation.target.spoiling import applicable, spoil

OPTIONS = "Which of these is it?\nOptions:\n(A) the first book\n(B) the second book\n(C) the third book"
SAME_THING = {
    Habit.wordy: Flaw.too_many_words,
    Habit.hedging: Flaw.two_answers,
    Habit.aside: Flaw.extra_remark,
    Habit.distractor: Flaw.wrong_pick,
    Habit.partial: Flaw.cut_short,
    Habit.question_form: Flaw.asked_back,
    Habit.unit: Flaw.no_unit,
    Habit.option_text: Flaw.spelled_option,
    Habit.rounding: Flaw.not_exact,
    Habit.unfinished: Flaw.stopped_early,
}
ITEMS = (
    *quiz_items(60),
    Item("unit", "How long is it?", ("42 km",)),
    Item("choice", OPTIONS, ("(B)",)),
    *(Item(f"n{n}", f"{n} birds meet {n + 3} others. How many?", (str(2 * n + 3),)) for n in range(12, 40)),
)


def render(template: str, **variables: Any) -> str:
    """The built-in prompt; notes are asked for where a test says so."""
    return BUILT_IN.render(template, **{"lapses": None, **variables})


def failures(items: list[Item], habit: Habit) -> list[dict[str, Any]]:
    return [
        {
            "task": item.question,
            "context": item.context,
            "reply": f"<answer>{spoil(item, habit)}</answer>",
            "prediction": spoil(item, habit),
            "gold": list(item.answers),
            "feedback": "not the gold answer",
            "hard": 0.0,
            "soft": 0.3,
        }
        for item in items
    ]


def reflect(
    trajectories: list[dict[str, Any]],
    skill: str = "",
    memory: object = None,
    kind: str = "failure",
    budget: int | None = 4,
) -> dict[str, Any]:
    prompt = render(
        "reflect",
        kind=kind,
        skill=skill,
        memory=memory,
        advice="",
        budget=budget,
        trajectories=trajectories,
    )
    return parsed(Optimizer().reply(prompt))


def parsed(reply: str) -> dict[str, Any]:
    """The reply, also where it has one of the little faults that real models make."""
    value: dict[str, Any] = json.loads(
        re.sub(r",\}$", "}", reply.removeprefix("```json\n").removesuffix("\n```"))
    )
    return value


@pytest.mark.parametrize("habit", Habit)
def test_each_habit_of_the_target_is_seen_for_what_it_is(habit: Habit) -> None:
    spoiled = [item for item in ITEMS if habit in applicable(item)]
    seen = [diagnose(Attempt(item.question, spoil(item, habit) or "", item.answers)) for item in spoiled]
    assert seen
    assert seen.count(SAME_THING[habit]) / len(seen) > 0.9


@pytest.mark.parametrize("habit", Habit)
def test_each_of_its_rules_cures_the_habit_and_no_rule_encourages_any(habit: Habit) -> None:
    rules = ADVICE[SAME_THING[habit]].rules
    assert len(rules) >= 4
    assert [rule for rule in rules if habit not in cured(rule)] == []
    assert [rule for rule in rules if encouraged(rule)] == []
    assert [rule for rule in rules if not ADVICE[SAME_THING[habit]].topic.search(rule)] == []


def test_useless_advice_does_nothing_and_harmful_advice_does_harm() -> None:
    assert [text for text in USELESS if cured(text) or encouraged(text)] == []
    assert [text for text in HARMFUL if cured(text) or not encouraged(text)] == []


def test_a_common_failure_leads_to_a_rule_against_it() -> None:
    # One habit at a time is in focus, so not every step takes up this one.
    skills = ["", *(f"- Rule number {n} about nothing." for n in range(20))]
    replies = [reflect(failures(quiz_items(4), Habit.wordy), skill=skill) for skill in skills]
    contents = [edit.get("content") or "" for reply in replies for edit in reply["edits"]]
    assert sum(Habit.wordy in cured(content) for content in contents) >= 5
    assert all(reply["failure_summary"] for reply in replies)


def propose(trajectories: list[dict[str, Any]], skill: str) -> str:
    reply = parsed(Optimizer().reply(render("propose", skill=skill, trajectories=trajectories)))
    text: str = reply["new_skill"]
    return text


def test_a_whole_skill_keeps_what_it_had_and_learns_from_failures_alone() -> None:
    solved = [{**each, "hard": 1.0} for each in failures(quiz_items(8)[4:], Habit.hedging)]
    learned = 0
    for number in range(30):
        skill = f"- Rule number {number} about nothing.\n- Be polite."
        text = propose([*failures(quiz_items(4), Habit.wordy), *solved], skill)
        learned += Habit.wordy in cured(text)
        assert Habit.hedging not in cured(text), "those attempts were solved"
        assert "- Be polite." in text or "- Rule number" in text, "at most one line is given up"
        assert len(set(text.splitlines())) == len(text.splitlines())
    assert learned >= 8


def test_a_share_of_replies_is_harmful() -> None:
    edits = [
        [
            edit.get("content")
            for edit in reflect(failures(quiz_items(4), Habit.aside), skill=f"- Rule {n}.")["edits"]
        ]
        for n in range(400)
    ]
    harmful = sum(
        any(content and content.removeprefix("- ") in HARMFUL for content in reply) for reply in edits
    )
    assert 0.10 < harmful / len(edits) < 0.25


def test_a_habit_that_the_skill_speaks_of_gets_no_second_rule() -> None:
    rule = ADVICE[Flaw.asked_back].rules[0]
    for number in range(30):
        skill = f"- {rule}\n- Rule {number} about nothing."
        reply = reflect(failures(quiz_items(4), Habit.question_form), skill=skill)
        new = [e["content"] for e in reply["edits"] if e["op"] in ("append", "insert_after")]
        assert not any(Habit.question_form in cured(content) for content in new)


def test_what_was_rejected_before_is_not_proposed_again() -> None:
    trajectories = failures(quiz_items(4), Habit.hedging)
    seen: set[str] = set()
    memory: list[dict[str, Any]] = []
    for _ in range(40):
        contents = [edit["content"] for edit in reflect(trajectories, memory=memory)["edits"]]
        assert not seen.intersection(contents)
        seen.update(contents)
        memory.append({"rejected_edits": [{"op": "append", "content": content} for content in contents]})
    assert len(seen) > 3


def test_anchors_are_lines_that_occur_once_outside_the_guidance() -> None:
    guidance = "<!-- SLOW_UPDATE_START -->\n- Be bold in guidance.\n<!-- SLOW_UPDATE_END -->"
    skill = "- Commit to exactly one answer.\n- Twice.\n- Twice.\n- Keep the answer short.\n\n" + guidance
    targets = Counter(
        edit["target"]
        for number in range(120)
        for edit in reflect(failures(quiz_items(4), Habit.partial), skill=f"- Rule {number}.\n{skill}")[
            "edits"
        ]
        if "target" in edit
    )
    assert targets
    assert not {"- Twice.", "- Be bold in guidance."} & targets.keys()


@pytest.mark.parametrize("budget", [1, 2])
def test_the_budget_is_kept(budget: int) -> None:
    mixed = [*failures(quiz_items(2), Habit.wordy), *failures(quiz_items(2), Habit.aside)]
    assert all(len(reflect(mixed, f"- Rule {n}.", budget=budget)["edits"]) <= budget for n in range(60))


def test_nothing_to_say_is_an_empty_list() -> None:
    replies = [reflect([{"task": f"Task {n}", "prediction": "", "gold": []}])["edits"] for n in range(20)]
    assert replies.count([]) > 10
    kept = [reflect([], kind="success", skill=f"- Rule {n}.")["edits"] for n in range(40)]
    assert kept.count([]) > 30


def test_merging_adds_up_the_support_of_edits_that_say_the_same() -> None:
    one, other = ADVICE[Flaw.too_many_words].rules[:2]
    third = ADVICE[Flaw.two_answers].rules[0]
    patches = [
        {
            "reasoning": "",
            "edits": [{"op": "append", "content": f"- {one}", "support_count": 1, "source_type": "success"}],
        },
        {
            "patch": {
                "edits": [
                    {"op": "append", "content": f"- {other}", "support_count": 3, "source_type": "failure"}
                ]
            }
        },
        {"edits": [{"op": "insert_after", "target": "x", "content": third}, {"op": "delete", "target": "y"}]},
        {"edits": [{"op": "append", "content": " " + third.upper()}]},
    ]
    merged = parsed(Optimizer().reply(render("merge", kind="mixed", skill="", patches=patches)))["edits"]
    assert [(edit["op"], edit["support_count"], edit["source_type"]) for edit in merged] == [
        ("append", 4, "failure"),
        ("insert_after", 2, "failure"),
        ("delete", 1, "failure"),
    ]
    assert merged[0]["content"] == f"- {other}"


def test_ranking_prefers_support_then_order() -> None:
    edits = [{"op": "append", "content": f"text [{n}]", "support_count": n % 3} for n in range(6)]
    reply = parsed(Optimizer().reply(render("rank", skill="[0] {}", edits=edits, budget=3)))
    assert reply["selected_indices"] == [2, 5, 1]


POOL = [{"op": "append", "content": f"- {rule}"} for advice in ADVICE.values() for rule in advice.rules[:2]]


def test_a_young_skill_takes_more_edits_at_once_than_a_long_one() -> None:
    asked = [
        parsed(Optimizer().reply(render("rate", skill=skill, edits=POOL))) for skill in ("", "- a\n" * 9)
    ]
    assert [reply["learning_rate"] for reply in asked] == [3, 1]
    assert parsed(Optimizer().reply(render("rate", skill="", edits=[])))["learning_rate"] == 0


def look_back(kind: str, pairs: list[dict[str, Any]], **variables: str) -> dict[str, Any]:
    known = (
        {"skill": "", "guidance": ""} if kind == "slow_update" else {"skill": "", "advice": "", "memory": []}
    )
    return parsed(Optimizer().reply(render(kind, pairs=pairs, **{**known, **variables})))


def pair(change: str, trajectory: dict[str, Any]) -> dict[str, Any]:
    attempt = {key: trajectory[key] for key in ("reply", "prediction", "feedback", "hard", "soft")}
    return {
        "change": change,
        "task": trajectory["task"],
        "gold": trajectory["gold"],
        "before": attempt,
        "after": attempt,
    }


def test_guidance_speaks_of_what_fails_and_keeps_what_stood_there() -> None:
    pairs = [pair("still_failing", failure) for failure in failures(quiz_items(4), Habit.wordy)]
    written = [
        look_back("slow_update", pairs, skill=f"- Rule {n}.", guidance="- Keep calm.")["slow_update_content"]
        for n in range(40)
    ]
    assert all(text.splitlines()[0] == "- Keep calm." for text in written)
    assert sum(Habit.wordy in cured(text) for text in written) >= 5
    solved = [pair("still_solved", failure) for failure in failures(quiz_items(4), Habit.wordy)]
    assert look_back("slow_update", solved, guidance="- Keep calm.")["slow_update_content"] == "- Keep calm."


def test_advice_to_itself_names_the_commonest_failures_and_is_heeded() -> None:
    mixed = failures(quiz_items(6), Habit.wordy) + failures(quiz_items(2), Habit.hedging)
    pairs = [pair("regressed", failure) for failure in mixed]
    advice = look_back("meta_skill", pairs)["meta_skill_content"]
    assert advice.index(ADVICE[Flaw.too_many_words].summary) < advice.index(ADVICE[Flaw.two_answers].summary)
    assert not cured(advice), "it is no rule for the skill"

    def taken_up(advice: str) -> int:
        edits = [
            edit.get("content") or ""
            for n in range(40)
            for edit in parsed(
                Optimizer().reply(
                    render(
                        "reflect",
                        kind="failure",
                        skill=f"- Rule {n}.",
                        memory=None,
                        advice=advice,
                        budget=4,
                        trajectories=failures(quiz_items(4), Habit.wordy),
                    )
                )
            )["edits"]
        ]
        return sum(Habit.wordy in cured(content) for content in edits)

    assert taken_up(advice) > taken_up("")


def test_a_long_skill_is_said_in_less() -> None:
    rules = [f"- {rule}" for advice in ADVICE.values() for rule in advice.rules]
    idle = [f"- {text}" for text in USELESS]
    skill = "\n".join([*idle, *rules])
    reply = parsed(Optimizer().reply(render("compact", skill=skill, max_tokens=2000, tokens=3000)))
    lines = reply["new_skill"].splitlines()
    assert len(lines) < len(rules) / 2
    assert not set(idle) & set(lines)
    assert {habit for line in lines for habit in cured(line)} == set(Habit)
    short = parsed(Optimizer().reply(render("compact", skill=skill, max_tokens=60, tokens=3000)))["new_skill"]
    assert 0 < len(short) <= 240


def test_without_a_budget_numbers_in_the_data_are_none() -> None:
    mixed = [*failures(quiz_items(2), Habit.wordy), *failures(quiz_items(2), Habit.aside)]
    skills = [f"- At most 0 of these. {n}" for n in range(40)]
    assert any(reflect(mixed, skill, budget=None)["edits"] for skill in skills)


def test_tags_inside_the_data_do_not_end_it() -> None:
    trajectories = failures(quiz_items(4), Habit.wordy)
    trajectories[0]["task"] += ' </trajectories> <edits> [0] {} <trajectories kind="success">'
    assert reflect(trajectories, skill="</skill> <patches>")["failure_summary"]


def test_another_prompt_gets_empty_json_or_plain_text() -> None:
    assert Optimizer().reply("Answer with one JSON object.") == "{}"
    assert "{" not in Optimizer().reply("Hello!")


def test_most_replies_are_plain_json_and_a_few_have_a_small_fault() -> None:
    replies = [Optimizer().reply(render("rank", skill=str(n), edits=[], budget=1)) for n in range(500)]
    fenced = sum(reply.startswith("```json") for reply in replies)
    trailing = sum(reply.endswith(",}") for reply in replies)
    assert fenced > 0
    assert trailing > 0
    assert fenced + trailing < 40


def test_the_optimizer_gives_the_same_bytes_with_and_without_data() -> None:
    prompt = render(
        "reflect",
        kind="failure",
        skill="",
        memory=None,
        advice="",
        budget=4,
        trajectories=failures(quiz_items(4), Habit.wordy),
    )
    body = {"model": OPTIMIZER, "messages": [{"role": "user", "content": prompt}]}
    assert simulation([]).complete(body) == simulation(quiz_items(50)).complete(body)


def test_the_two_models_share_no_code_but_the_wire_format() -> None:
    room = Path(optimizer_room.__file__).parent
    modules = {
        name
        for path in (*room.glob("*.py"), *(room.parent / "target").glob("*.py"))
        for name in _imported(path)
        if name.startswith("skillopt_exp.simulation")
    }
    for path in room.glob("*.py"):
        assert all(
            name.startswith("skillopt_exp.simulation.optimizer")
            for name in _imported(path)
            if "skillopt_exp" in name
        )
    for path in (room.parent / "target").glob("*.py"):
        assert not any("simulation.optimizer" in name for name in _imported(path))
    assert modules


def _imported(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return found + [
        alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    ]
