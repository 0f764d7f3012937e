"""What test says of a run's skills: with intervals, against each other, by group, and what they cost."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm.misbehaving import Answer, Asked, MisbehavingServer, says
from running import SMALL, all_files, run

from skillopt_exp.groups import by_group
from skillopt_exp.held_out import HeldOut, OnTest
from skillopt_exp.records import NO_CALLS, ACall, Item, Rollout, Score, Skill
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.stats import gain, standing, wilson

SKILLED = "train.skill_init=seed.md"


def attempts(hards: Sequence[float], groups: Sequence[str] | None = None) -> tuple[Rollout, ...]:
    """One attempt an item; items without groups are of one kind."""
    kinds = [""] * len(hards) if groups is None else groups
    return tuple(
        Rollout(Item(f"i{number}", "?", ("a",), group=kind), 1, (), "", Score(hard, hard))
        for number, (hard, kind) in enumerate(zip(hards, kinds, strict=True))
    )


def scored(body: str, hards: Sequence[float], took: ACall) -> OnTest:
    return OnTest(Skill(body), attempts(hards), took)


NOTHING = scored("", [0.0, 0.0, 1.0, 0.0], ACall(4, 10.0, 3.0))
SEED = scored("seed", [0.0, 1.0, 1.0, 0.0], ACall(4, 20.0, 2.0, 0.25))
BEST = scored("best", [1.0, 1.0, 1.0, 0.0], ACall(4, 25.0, 2.0, 0.5))


def test_every_pair_of_texts_is_compared_once() -> None:
    figures = HeldOut({"control": NOTHING, "baseline": SEED, "best": BEST, "final": BEST})
    compared = [(each.first, each.second, each.hard) for each in figures.gains]
    assert compared == [("best", "baseline", 0.25), ("best", "control", 0.5), ("baseline", "control", 0.25)]
    from_nothing = HeldOut({"control": NOTHING, "baseline": NOTHING, "best": BEST, "final": SEED})
    compared = [(each.first, each.second, each.hard) for each in from_nothing.gains]
    assert compared == [("best", "baseline", 0.5), ("final", "baseline", 0.25)]


def test_a_run_that_found_nothing_better_has_a_difference_of_zero_and_no_gains() -> None:
    figures = HeldOut({"control": NOTHING, "baseline": NOTHING, "best": NOTHING, "final": NOTHING})
    assert figures.gains == ()
    assert figures.headline is not None
    assert figures.headline.hard == 0.0


def test_what_the_skill_costs_is_unknown_where_no_skill_was_not_scored() -> None:
    figures = HeldOut({"control": NOTHING, "baseline": SEED, "best": BEST, "final": BEST})
    assert figures.cost_a_call == ACall(4, 15.0, -1.0, None)
    assert HeldOut({"baseline": SEED, "best": BEST}).cost_a_call is None


def test_before_both_were_tested_there_is_nothing_to_say() -> None:
    for so_far in ({}, {"control": NOTHING}, {"control": NOTHING, "baseline": SEED}):
        figures = HeldOut(so_far)
        assert figures.headline is None
        assert figures.groups == {}


cases = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 1.0]), st.sampled_from(["a", "b", ""])),
    min_size=1,
    max_size=30,
)


@given(cases)
def test_groups_are_each_what_their_items_alone_would_be(rows: list[tuple[float, float, str]]) -> None:
    new, old, kinds = zip(*rows, strict=True)
    after, before = attempts(new, kinds), attempts(old, kinds)
    items = [each.item for each in after]
    groups = by_group(items, {"new": after, "old": before}, ("new", "old"))
    if len(set(kinds)) < 2:
        assert groups == {}
        return
    assert sum(each.num_items for each in groups.values()) == len(rows)
    assert [each.num_items for each in groups.values()] == sorted(map(kinds.count, set(kinds)), reverse=True)
    for kind, each in groups.items():
        mine = [attempt for attempt in after if attempt.item.group == kind]
        others = [attempt for attempt in before if attempt.item.group == kind]
        assert each.standings == {"new": standing(mine), "old": standing(others)}
        assert each.gain == gain("new", "old", mine, others)
        assert each.small is (len(mine) < 20)


def test_a_trained_run_reports_control_baseline_best_and_final_with_intervals(tmp_path: Path) -> None:
    (tmp_path / "seed.md").write_text("- Be kind to your reader.\n", encoding="utf-8")
    summary = run(tmp_path, SKILLED, "dataset.limit=200")
    folder = RunFolder.open(tmp_path)
    for name, hard, interval in (
        ("control", summary.control_test_hard, summary.control_test_hard_interval),
        ("baseline", summary.baseline_test_hard, summary.baseline_test_hard_interval),
        ("best", summary.test_hard, summary.test_hard_interval),
        ("final", summary.final_test_hard, summary.final_test_hard_interval),
    ):
        lines = [json.loads(line) for line in folder.test(name).read_text(encoding="utf-8").splitlines()]
        solved = sum(line["hard"] for line in lines)
        assert interval == wilson(int(solved), len(lines)), name
        assert hard == solved / len(lines)
    assert {(each.first, each.second) for each in summary.test_gains} == {
        ("best", "baseline"),
        ("best", "control"),
        ("baseline", "control"),
    }
    assert summary.skill_cost_a_call is not None
    assert summary.skill_cost_a_call.input is not None
    assert summary.skill_cost_a_call.input > 0
    assert summary.skill_cost_a_call.seconds is None, "the embedded simulation has no latency"
    assert sum(each.num_items for each in summary.test_by_group.values()) == summary.num_test_items
    assert summary.test_by_group.keys() >= {"place", "number"}
    best = summary.test_by_group["place"]
    assert best.gain is not None
    assert best.gain.hard == best.standings["best"].hard - best.standings["baseline"].hard


def test_the_control_costs_nothing_where_the_run_began_with_no_skill(tmp_path: Path) -> None:
    summaries = {}
    for control in ("true", "false"):
        folder = tmp_path / control
        summaries[control] = run(folder, f"evaluation.control={control}", "cache.mode=none")
    assert summaries["true"] == summaries["false"]
    assert summaries["true"].control_test_hard == summaries["true"].baseline_test_hard


def test_the_control_changes_nothing_but_what_is_said_of_it(tmp_path: Path) -> None:
    files, calls = {}, {}
    for control in ("true", "false"):
        folder = tmp_path / control
        folder.mkdir()
        (folder / "seed.md").write_text("- Be kind to your reader.\n", encoding="utf-8")
        summary = run(folder, SKILLED, f"evaluation.control={control}", "cache.mode=none")
        files[control], calls[control] = all_files(folder), summary.usage["target/test"].calls
    assert calls["true"] - calls["false"] == 24
    assert files["true"].keys() - files["false"].keys() == {"test/control.jsonl"}
    differing = {name for name in files["false"] if files["false"][name] != files["true"][name]}
    assert differing - {"run.json"} == {"calls.jsonl", "config.yaml", "report.html", "summary.json"}


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    """A target that says what its skill says, a token a word; an optimizer that has one rule to add."""
    server = MisbehavingServer()
    server.decide = _decide
    yield server
    server.close()


def _decide(asked: Asked) -> Answer:
    if asked.body["model"] == "large":
        return says('{"edits": [{"op": "append", "content": "Say red."}], "failure_summary": "green"}')
    text = "\n".join(message["content"] for message in asked.body["messages"])
    colour = "red" if "Say red." in text else "green"
    usage = {"prompt_tokens": len(text.split()), "completion_tokens": 3, "total_tokens": 0}
    return says(f"<answer>{colour}</answer>", usage=usage)


def test_the_tokens_and_the_time_of_a_call_are_those_of_the_skill(
    tmp_path: Path, server: MisbehavingServer
) -> None:
    rows = [
        {"question": f"Colour of ball {i}?", "answers": "red", "split": ("train", "val", "test")[i % 3]}
        for i in range(30)
    ]
    (tmp_path / "balls.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    (tmp_path / "seed.md").write_text("Be quick.\n", encoding="utf-8")
    roles = [
        word
        for role, name in (("target", "small"), ("optimizer", "large"))
        for word in (
            f"model.{role}.name={name}",
            f"model.{role}.base_url={server.url}",
            f"model.{role}.api_key_env=null",
        )
    ]
    data = ("dataset=qa", "dataset.path=balls.jsonl", "dataset.split_field=split", "dataset.limit=null")
    keys = [key for key in SMALL if not key.startswith(("model=", "dataset."))]
    summary = run(tmp_path, *keys, "model=openai_compatible", *roles, *data, SKILLED)
    cost = summary.skill_cost_a_call
    assert cost is not None
    assert (cost.calls, cost.input, cost.output) == (10, 4.0, 0.0), "two words of the seed, two of the edit"
    assert cost.seconds is not None
    assert summary.test_a_call["baseline"].input == summary.test_a_call["control"].input + 2  # type: ignore[operator]
    assert summary.test_by_group == {}, "these items are of one kind"


def test_several_attempts_at_an_item_count_as_one() -> None:
    def repeated(*tries: str) -> tuple[Rollout, ...]:
        return tuple(
            Rollout(Item(f"i{place}", "?", ("a",)), number, (), "", Score(float(digit), float(digit)))
            for place, digits in enumerate(tries)
            for number, digit in enumerate(digits, start=1)
        )

    tested = {
        "baseline": OnTest(Skill("old"), repeated("000", "010", "111"), NO_CALLS),
        "best": OnTest(Skill("new"), repeated("110", "010", "111"), NO_CALLS),
    }
    held_out = HeldOut(tested)
    assert held_out.standings["best"].num_items == 3
    assert held_out.standings["best"].hard == pytest.approx(2 / 3)
    headline = held_out.headline
    assert headline is not None
    assert headline.hard == pytest.approx(2 / 9)
    assert (headline.num_won, headline.num_lost, headline.hard_p) == (1, 0, 1.0)


def test_a_best_skill_that_is_the_seed_s_text_is_never_told_as_a_gain(tmp_path: Path) -> None:
    """Both are one text, scored once: no luck of answers can make it look better than itself."""
    (tmp_path / "seed.md").write_text("- Be kind to your reader.\n", encoding="utf-8")
    summary = run(tmp_path / "run", SKILLED, "train.num_epochs=0", base=tmp_path)
    assert summary.best_digest == summary.seed_digest
    assert summary.test_delta_hard == 0
    assert len(summary.test_gains) == 1, "there are two texts, and so one pair of them"
    assert not summary.verdict.startswith("clear")
    assert not summary.meets_seed_rule
