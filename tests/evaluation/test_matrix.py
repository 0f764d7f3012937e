import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from evaluation.benches import RED, colours, simulated
from llm.misbehaving import MisbehavingServer, refuses

from skillopt_exp.errors import DataError, InterruptedRun, UsageError
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.evaluate import Question
from skillopt_exp.evaluation.matrix import Cell, Matrix, Place, Spectator, as_csv, fill
from skillopt_exp.evaluation.source import NO_SKILL
from skillopt_exp.records import Split
from skillopt_exp.runs.codec import from_json

QUESTION = Question("transfer", {"skill": RED, "control": NO_SKILL}, ("skill", "control"), reuse=False)


class Told(Spectator):
    def __init__(self) -> None:
        self.cells: list[Cell] = []

    def ended(self, cell: Cell) -> None:
        self.cells.append(cell)


def failing(error: Exception) -> Callable[[], Bench]:
    def bench() -> Bench:
        raise error

    return bench


def test_a_cell_that_fails_says_why_and_the_others_go_on(tmp_path: Path, server: MisbehavingServer) -> None:
    places = [
        Place("keyless", "balls", failing(UsageError("SOME_KEY is not set;\n   set it"))),
        Place("small", "balls", lambda: colours(tmp_path, server)),
        Place("small", "gone", failing(DataError("gone.jsonl does not exist"))),
        Place("simulated", "demo", lambda: simulated(tmp_path)),
    ]
    told = Told()
    (tmp_path / "out").mkdir()
    matrix = fill(QUESTION, places, Split.test, tmp_path / "out", told)
    assert told.cells == list(matrix.cells)
    keyless, small, gone, demo = matrix.cells
    assert (keyless.error, keyless.exit_code) == ("SOME_KEY is not set; set it", 2), "one line"
    assert (gone.error, gone.exit_code) == ("gone.jsonl does not exist", 3)
    assert matrix.exit_code == 3
    assert (small.baseline_hard, small.skill_hard, small.delta_hard, small.num_items) == (0.0, 0.5, 0.5, 20)
    assert small.extra_input_tokens == 2.0
    assert (small.simulated, demo.simulated) == (False, True)
    assert (tmp_path / "out" / small.folder / "summary.json").is_file()
    text = (tmp_path / "out" / "transfer.json").read_text(encoding="utf-8")
    assert from_json(Matrix, text, "transfer.json") == matrix


def test_a_matrix_without_failures_ends_well(tmp_path: Path, server: MisbehavingServer) -> None:
    (tmp_path / "out").mkdir()
    places = [Place("small", "balls", lambda: colours(tmp_path, server))]
    assert fill(QUESTION, places, Split.val, tmp_path / "out", Spectator()).exit_code == 0


def test_a_provider_that_is_out_fails_its_cell_alone(tmp_path: Path, server: MisbehavingServer) -> None:
    def out() -> Bench:
        server.decide = lambda asked: refuses(503, "down")
        return colours(tmp_path, server, "model.target.max_retries=0", "model.max_error_rate=0")

    (tmp_path / "out").mkdir()
    places = [Place("small", "balls", out), Place("simulated", "demo", lambda: simulated(tmp_path))]
    down, up = fill(QUESTION, places, Split.test, tmp_path / "out", Spectator()).cells
    assert down.exit_code == 75
    assert up.error == ""
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "02-simulated-demo",
        "transfer.json",
        "transfer.csv",
    }


def test_whoever_stops_a_matrix_keeps_the_cells_that_ended(tmp_path: Path) -> None:
    places = [
        Place("simulated", "demo", lambda: simulated(tmp_path)),
        Place("simulated", "demo", failing(InterruptedRun("stopped by SIGINT"))),
        Place("simulated", "demo", lambda: pytest.fail("it went on")),
    ]
    (tmp_path / "out").mkdir()
    with pytest.raises(InterruptedRun):
        fill(QUESTION, places, Split.test, tmp_path / "out", Spectator())
    (cell,) = json.loads((tmp_path / "out" / "transfer.json").read_text(encoding="utf-8"))["cells"]
    assert cell["num_items"] == 24


def test_the_table_for_spreadsheets_has_a_row_a_cell_and_leaves_blank_what_is_unknown(tmp_path: Path) -> None:
    cells = (
        Cell("a", "x", "t", False, 10, 0.5, 0.0, -0.5, cost_usd=None, folder="01-a-x"),
        Cell("b,c", "x", error='no "key", no answer', exit_code=2),
    )
    rows = list(csv.DictReader(io.StringIO(as_csv(Matrix(1, "0.1.0", "s.md", "d", Split.test, cells)))))
    assert rows[0]["skill_hard"] == "0.0", "zero is a value"
    assert (rows[0]["delta_low"], rows[0]["delta_high"], rows[0]["cost_usd"]) == ("", "", "")
    assert (rows[1]["model"], rows[1]["error"]) == ("b,c", 'no "key", no answer')


def test_the_folders_of_cells_have_names_that_any_file_system_takes() -> None:
    place = Place("ollama:qwen3:8b", "qa:../my data/x.jsonl", lambda: pytest.fail("not asked for"))
    assert place.slug == "ollama_qwen3_8b-qa_.._my_data_x.jsonl"
    assert "/" not in place.slug
