"""What is printed."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.benches import BLUE, RED, attempts, colours, silent, simulated
from llm.misbehaving import MisbehavingServer
from rich.console import Console

from skillopt_exp.display import p_value
from skillopt_exp.evaluation.evaluate import Question, evaluate
from skillopt_exp.evaluation.figures import difference
from skillopt_exp.evaluation.grid import Follower, print_matrix
from skillopt_exp.evaluation.matrix import Cell, Matrix
from skillopt_exp.evaluation.scoring import Scored
from skillopt_exp.evaluation.source import NO_SKILL
from skillopt_exp.evaluation.table import print_evaluation, print_question, progress_on
from skillopt_exp.records import Evidence, Interval, Split

QUESTION = Question("compare", {"a": RED, "b": BLUE, "control": NO_SKILL}, ("b", "a"))


def on_paper(width: int = 80) -> tuple[Console, io.StringIO]:
    paper = io.StringIO()
    return Console(file=paper, width=width), paper


def test_a_comparison_reads_as_it_is(tmp_path: Path, server: MisbehavingServer) -> None:
    bench = colours(tmp_path, server)
    console, paper = on_paper()
    print_question(console, QUESTION, bench)
    print_evaluation(console, evaluate(QUESTION, bench, silent), tmp_path / "out", None)
    said = paper.getvalue()
    for line in (
        "a        red.md (8 characters)",
        "control  no skill",
        "data     qa: test 20 items   held-out",
        "verdict  no clear difference: too few items to tell   p = 1.0000",
        "hard     +0.0 points (95 % interval -40.0 to +40.0)   b minus a",
        "items    10 won, 10 lost, 0 tied   of the tied, both solve 0",
        "won      ball5, ball11, ball17",
        "lost     ball2, ball8, ball14",
        "a call   +0.0 tokens in, +0.0 out, ",
        "spent    60 calls, ",
        f"results  {tmp_path / 'out'}",
    ):
        assert line in said
    assert "tied     " not in said
    assert "SIMULATED" not in said


def test_the_table_fits_eighty_columns_and_cuts_nothing(tmp_path: Path) -> None:
    console, paper = on_paper()
    print_question(console, QUESTION, simulated(tmp_path))
    print_evaluation(console, evaluate(QUESTION, simulated(tmp_path), silent), tmp_path / "out", None)
    said = paper.getvalue()
    table = said[said.index("hard ") : said.index("verdict")].splitlines()
    assert all(len(line) <= 80 for line in table)
    assert "…" not in said
    assert "SIMULATED" in said
    assert "cost unknown" not in said


def test_an_unknown_cost_is_not_zero(tmp_path: Path, server: MisbehavingServer) -> None:
    bench = colours(tmp_path, server)
    console, paper = on_paper()
    print_evaluation(console, evaluate(QUESTION, bench, silent), tmp_path / "out", None)
    assert "cost unknown" in paper.getvalue()
    console, paper = on_paper()
    print_evaluation(console, evaluate(QUESTION, bench, silent), tmp_path / "out", None)
    assert "spent    0 calls, 0 tokens in, 0 out, $0.00; 60 answers reused" in paper.getvalue()


def test_ten_ids_are_named_and_none_of_them_commands_the_terminal(
    tmp_path: Path, server: MisbehavingServer
) -> None:
    evaluation = evaluate(QUESTION, colours(tmp_path, server), silent)
    before, after = (
        tuple(replace(line, id=f"\x1b[2J[red]{line.id}") for line in attempts([hard] * 12))
        for hard in (0.0, 1.0)
    )
    scored = {
        name: Scored(named, after if name == "b" else before) for name, named in QUESTION.skills.items()
    }
    strange = replace(evaluation, scored=scored, difference=difference(("b", "a"), after, before))
    console, paper = on_paper()
    print_evaluation(console, strange, tmp_path, None)
    assert "\x1b" not in paper.getvalue()
    assert "[red]i9' and 2 more (items.jsonl)" in paper.getvalue()


@pytest.mark.parametrize(
    ("p", "said"),
    [(1.0, "p = 1.0000"), (0.03125, "p = 0.0312"), (0.0001, "p = 0.0001"), (1e-9, "p < 0.0001")],
)
def test_a_p_value_has_the_digits_that_say_something(p: float, said: str) -> None:
    assert p_value(p) == said


def test_a_live_line_is_for_terminals_alone(tmp_path: Path) -> None:
    console, paper = on_paper()
    with progress_on(console, simulated(tmp_path)) as progress:
        progress("skill", 1)
    assert paper.getvalue() == ""
    live = Console(file=paper, force_terminal=True, width=80)
    with progress_on(live, simulated(tmp_path)) as progress:
        progress("skill", 7)
        live.print("one line, so that the live one is drawn")
    assert "skill: 7 of 24 items" in paper.getvalue()


def test_a_matrix_says_once_why_a_model_failed_everywhere(tmp_path: Path) -> None:
    cells = (
        Cell("sim", "x", "t", True, 9, 0.5, 1.0, 0.5, Interval(0.5, 0.1, 0.9), 0.03, Evidence.clear),
        Cell("ollama:qwen3:8b", "x", error="no key [bold]", exit_code=2),
        Cell("ollama:qwen3:8b", "y", error="no key [bold]", exit_code=2),
    )
    console, paper = on_paper()
    follower = Follower(console, 3)
    for cell in cells:
        follower.ended(cell)
    print_matrix(console, Matrix(1, "0.1.0", "s.md", "d", Split.test, cells), tmp_path)
    said = paper.getvalue()
    assert "  1/3  sim on x: done" in said
    assert "  2/3  ollama:qwen3:8b on x: failed" in said
    assert said.count("no key [bold]") == 1
    assert "failed  ollama:qwen3:8b on x, ollama:qwen3:8b on y: no key [bold]" in said
    assert "SIMULATED: sim" in said
    row = next(line for line in said.splitlines() if "+50.0" in line)
    assert row.split() == ["sim", "9", "50.0", "%", "100.0", "%", "+50.0", "+10.0", "to", "+90.0", "clear"]
