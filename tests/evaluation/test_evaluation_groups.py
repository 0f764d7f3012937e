"""Rows by group of items: in the terminal, in the files, in MLflow."""

import io
import json
from pathlib import Path

import pytest
from evaluation.benches import BLUE, RED, asks, attempts, colours, silent, simulated
from llm.misbehaving import MisbehavingServer
from rich.console import Console

from skillopt_exp import commands
from skillopt_exp.display import MOST_GROUPS, print_groups
from skillopt_exp.evaluation.evaluate import Question, evaluate
from skillopt_exp.evaluation.folder import EvaluationSummary, write_results
from skillopt_exp.evaluation.table import print_evaluation
from skillopt_exp.evaluation.tracked import metrics_of
from skillopt_exp.groups import by_group
from skillopt_exp.records import GroupResult, Item
from skillopt_exp.runs.codec import from_json
from skillopt_exp.tracking.metrics import group_metrics

QUESTION = Question("compare", {"a": RED, "b": BLUE}, ("b", "a"))
BY_COLOUR = "dataset.fields.group=answers"


def printed(*args: object) -> str:
    paper = io.StringIO()
    print_evaluation(Console(file=paper, width=80), *args)  # type: ignore[arg-type]
    return paper.getvalue()


def test_each_group_has_a_row_that_says_that_it_is_small(tmp_path: Path, server: MisbehavingServer) -> None:
    found = evaluate(QUESTION, colours(tmp_path, server, BY_COLOUR), silent)
    said = printed(found, tmp_path / "out", None).splitlines()
    rows = {line.partition(" ")[0]: " ".join(line.split()) for line in said}
    assert rows["held-out"] == "held-out items b 95 % soft a points 95 %"
    assert rows["red"] == "red 10* 0.0 0.0 to 27.8 0.0 100.0 -100.0 -100.0 to -100.0"
    assert rows["blue"] == "blue 10* 100.0 72.2 to 100.0 100.0 0.0 +100.0 +100.0 to +100.0"
    assert any("too few items" in line for line in said)


def test_a_skill_alone_has_rows_without_a_difference(tmp_path: Path, server: MisbehavingServer) -> None:
    alone = Question("eval", {"skill": RED}, None)
    found = evaluate(alone, colours(tmp_path, server, BY_COLOUR), silent)
    rows = [line.split() for line in printed(found, tmp_path, None).splitlines()]
    assert ["red", "10*", "100.0", "72.2", "to", "100.0", "100.0"] in rows
    assert all(group.gain is None for group in found.groups.values())


def test_items_of_one_kind_have_no_rows(tmp_path: Path, server: MisbehavingServer) -> None:
    found = evaluate(QUESTION, colours(tmp_path, server), silent)
    assert found.groups == {}
    assert "items     b" not in printed(found, tmp_path, None)


def test_groups_and_what_the_scores_are_stand_in_the_file(tmp_path: Path, server: MisbehavingServer) -> None:
    found = evaluate(asks(RED), colours(tmp_path, server, BY_COLOUR), silent)
    write_results(tmp_path / "out", found)
    text = (tmp_path / "out" / "summary.json").read_text(encoding="utf-8")
    summary = from_json(EvaluationSummary, text, "summary.json")
    assert summary.scores_are == "held-out"
    assert dict(summary.groups) == dict(found.groups)
    assert summary.groups["red"].standings["skill"].hard == 1.0
    assert summary.groups["blue"].standings["skill"].hard == 0.0


def test_attempts_that_a_run_kept_have_groups_all_the_same(tmp_path: Path) -> None:
    whole = simulated(tmp_path, "dataset.limit=200")
    found = evaluate(asks(RED), whole, silent)
    assert sum(group.num_items for group in found.groups.values()) == len(whole.items)
    assert [group.num_items for group in found.groups.values()] == sorted(
        (group.num_items for group in found.groups.values()), reverse=True
    )


def test_a_matrix_has_rows_by_group_below_each_cell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.md").write_text("- Answer with the bare name.\n", encoding="utf-8")
    arguments = ["transfer", "skill=good.md", "models=[simulated]", "dataset=demo", "dataset.limit=200"]
    assert commands.run([*arguments, "tracking=none", "out=x"]) == 0
    said = capsys.readouterr().out
    assert "each on its test split, held-out" in said
    (cell,) = json.loads((tmp_path / "x" / "transfer.json").read_text(encoding="utf-8"))["cells"]
    for name, group in cell["groups"].items():
        row = next(line for line in said.splitlines() if line.startswith(f"    {name} "))
        assert str(group["num_items"]) in row
        assert f"{100 * group['gain']['hard']:+.1f}" in row
    header = (tmp_path / "x" / "transfer.csv").read_text(encoding="utf-8").splitlines()[0]
    assert "groups" not in header, "a table has no tables in it"


def many(names: list[str]) -> dict[str, GroupResult]:
    items = [Item(f"i{number}", "?", ("a",), group=name) for number, name in enumerate(names)]
    return by_group(items, {"skill": attempts([1.0] * len(items))}, None)


def test_a_table_shows_the_largest_groups_and_says_how_many_there_are_more() -> None:
    names = [f"g{number}" for number in range(MOST_GROUPS + 3) for _ in range(number + 1)]
    paper = io.StringIO()
    print_groups(Console(file=paper, width=80), many(names), "held-out", "skill", None)
    said = paper.getvalue()
    assert f"g{MOST_GROUPS + 2} " in said
    assert "g0 " not in said
    assert "3 smaller groups are in summary.json" in said


def test_no_name_of_a_group_commands_the_terminal_or_breaks_a_metric() -> None:
    groups = many(["\x1b[2J[red]", "a/b", "A/B", "", "ünï", ".."])
    paper = io.StringIO()
    print_groups(Console(file=paper, width=80), groups, "held-out", "skill", None)
    assert "\x1b" not in paper.getvalue()
    assert "(no group)" in paper.getvalue()
    metrics = group_metrics("test", groups)
    assert len({name.casefold() for name in metrics}) == 3 * 6, "each group has its own"
    assert all("\x1b" not in name and "//" not in name and "/../" not in name for name in metrics)


def test_the_metrics_of_a_split_carry_its_name(tmp_path: Path, server: MisbehavingServer) -> None:
    metrics = metrics_of(evaluate(asks(RED), colours(tmp_path, server, BY_COLOUR), silent))
    assert metrics["test/group/red/skill_hard"] == 1.0
    assert metrics["test/group/red/difference_hard"] == 1.0
    assert metrics["test/group/blue/items"] == 10
    assert metrics["test/skill_hard"] == 0.5
    assert metrics["test/skill_seconds_a_call"] > 0
    assert all(name.startswith(("test/", "usage/")) or name == "num_items" for name in metrics)
