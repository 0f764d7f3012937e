"""What a person sees at the end of a run: every skill on test, with its interval, labelled."""

import io
from dataclasses import replace
from pathlib import Path

import sample_run
from rich.console import Console
from running import SMALL
from sample_run import SAMPLE

from skillopt_exp.commands.composing import compose_raw
from skillopt_exp.commands.running import Launch, start
from skillopt_exp.records import ACall, Evidence, Gain, Interval, Summary
from skillopt_exp.terminal import Terminal


def shown(summary: Summary, folder: Path) -> list[str]:
    """The lines of the result, single spaces."""
    paper = io.StringIO()
    terminal = Terminal(Console(file=paper, width=80), usage=dict, tracked=lambda: None)
    terminal.opened(sample_run.opening(folder))
    terminal.finished(summary, sample_run.seed())
    return [" ".join(line.split()) for line in paper.getvalue().splitlines()]


def gain(first: str, second: str, value: float) -> Gain:
    spread = Interval(value, value - 0.1, value + 0.1)
    return Gain(first, second, value, spread, 0.01, value, spread, Evidence.clear, 3, 1)


def test_each_text_on_test_has_one_line_with_its_interval_and_its_differences(tmp_path: Path) -> None:
    texts = {"control": "c", "baseline": "b", "best": "x", "final": "y"}
    summary = replace(
        sample_run.summary(SAMPLE.traces),
        control_test_hard=0.1,
        control_test_hard_interval=Interval(0.1, 0.05, 0.2),
        final_test_hard=0.4,
        test_digests=texts,
        test_gains=(
            gain("best", "baseline", 0.5),
            gain("best", "control", 0.4),
            gain("final", "baseline", 0.4),
        ),
        skill_cost_a_call=ACall(4, 12.0, -3.5, 0.25),
    )
    lines = shown(summary, tmp_path)
    assert "test (held-out) no skill 10.0 % (95 % interval 5.0 to 20.0)" in lines
    assert "baseline 0.0 %" in lines
    assert "best 50.0 % +50.0 (+40.0 to +60.0) over baseline; +40.0 (+30.0 to +50.0) over no skill" in lines
    assert "final 40.0 % +40.0 (+30.0 to +50.0) over baseline" in lines
    assert "a call +12.0 tokens in, -3.5 out, +0.25 s best minus no skill, on test" in lines
    same = replace(summary, test_digests={"control": "b", "baseline": "b", "best": "x", "final": "x"})
    lines = shown(same, tmp_path)
    assert "test (held-out) no skill and baseline 10.0 % (95 % interval 5.0 to 20.0)" in lines
    assert any(line.startswith("best and final 50.0 %") for line in lines)


def test_a_run_labels_what_its_scores_are(tmp_path: Path) -> None:
    paper = io.StringIO()
    launch = Launch(base=tmp_path, choices={}, console=Console(file=paper, width=80))
    start(compose_raw([*SMALL, "dataset.limit=40"]), tmp_path / "run", launch)
    said = paper.getvalue()
    for label in (
        "train is fit",
        "are selection (val)",
        "test (held-out)",
        "optimistic: the skill was chosen",
    ):
        assert label in said
    assert str(tmp_path / "run" / "items.csv") in said


def test_what_the_gate_can_see_is_told_with_the_baseline(tmp_path: Path) -> None:
    paper = io.StringIO()
    launch = Launch(base=tmp_path, choices={}, console=Console(file=paper, width=80))
    start(compose_raw([*SMALL, "gate=significant"]), tmp_path / "run", launch)
    lines = paper.getvalue().splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("seed skill: val"))
    baseline = lines[place].split()[3].removesuffix(".0")
    assert lines[place + 1].startswith(
        "gate.rule=significant on 24 val items needs 5 items won with none lost"
    )
    solved = f"where {float(baseline):.0f} % of val is solved"
    assert solved in lines[place + 1]
