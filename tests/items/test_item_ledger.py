"""Which accepted change fixed an item, and which broke it: as a table and as a picture."""

import csv
import io
import struct
import zlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest
import sample_run
from hypothesis import given
from hypothesis import strategies as st
from running import run
from sample_run import SAMPLE

from skillopt_exp.errors import OutageError
from skillopt_exp.items.heat_map import draw
from skillopt_exp.items.keeper import ItemKeeper
from skillopt_exp.items.ledger import SEED, Column, Fate, Ledger, by_fate, change_name
from skillopt_exp.items.table import as_csv
from skillopt_exp.records import Item, Outcome, Skill
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.progress import read_progress
from skillopt_exp.runs.recorder import RunRecorder
from skillopt_exp.runs.rollouts import read_rollouts

ITEMS = tuple(Item(name, "?", ("a",), group=f"group of {name}") for name in ("i", "j", "k"))


def column(step: int, accepted: bool, *scores: float | None, epoch_end: bool = False) -> Column:
    known = {item.id: score for item, score in zip(ITEMS, scores, strict=True) if score is not None}
    return Column(change_name(step, epoch_end=epoch_end) if step else SEED, accepted, known)


LEDGER = Ledger(
    ITEMS,
    (
        column(0, True, 0.0, 1.0, 0.0),
        column(1, False, 1.0, 1.0, 1.0),
        column(2, True, 1.0, 0.0, 0.5),
        column(3, True, 0.0, 0.0, 0.0),
        column(3, True, 1.0, 0.0, None, epoch_end=True),
    ),
)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_only_accepted_changes_fix_and_break() -> None:
    fixed, broken, unsolved = LEDGER.rows
    assert fixed.fixed_by == ("step_0002", "step_0003_epoch_end")
    assert fixed.broken_by == ("step_0003",)
    assert (broken.fixed_by, broken.broken_by) == ((), ("step_0002",))
    assert (unsolved.fixed_by, unsolved.broken_by) == ((), ()), "half of an item is not solved"
    assert [row.fate for row in LEDGER.rows] == [Fate.fixed, Fate.broken, Fate.unsolved]


def test_the_table_has_a_column_for_each_accepted_change_and_nothing_for_what_was_not_scored() -> None:
    assert as_csv(LEDGER).splitlines() == [
        '"id","group","seed","step_0002","step_0003","step_0003_epoch_end","fixed_by","broken_by"',
        '"i","group of i",0,1,0,1,"step_0002 step_0003_epoch_end","step_0003"',
        '"j","group of j",1,0,0,0,"","step_0002"',
        '"k","group of k",0,0.5,0,"","",""',
    ]


names = st.text(min_size=1, max_size=40)
scores = st.sampled_from([None, 0.0, 0.5, 1.0])


@st.composite
def ledgers(draw_from: st.DrawFn) -> Ledger:
    items = tuple(
        Item(name, "?", ("a",)) for name in draw_from(st.lists(names, min_size=1, max_size=6, unique=True))
    )
    columns = []
    for step in range(draw_from(st.integers(0, 5)) + 1):
        accepted = step == 0 or draw_from(st.booleans())
        given_scores = {item.id: draw_from(scores) for item in items}
        known = {name: score for name, score in given_scores.items() if score is not None}
        columns.append(Column(change_name(step) if step else SEED, accepted, known))
    return Ledger(items, tuple(columns))


@given(ledgers())
def test_fixes_and_breaks_of_an_item_take_turns_and_lead_from_its_first_score_to_its_last(
    ledger: Ledger,
) -> None:
    assert sum(len(rows) for _, rows in by_fate(ledger.rows)) == len(ledger.items)
    for row in ledger.rows:
        known = [each.scores[row.item.id] >= 1.0 for each in ledger.accepted if row.item.id in each.scores]
        assert abs(len(row.fixed_by) - len(row.broken_by)) <= 1
        if known:
            assert len(row.fixed_by) - len(row.broken_by) == known[-1] - known[0]
        changes = sorted([(name, True) for name in row.fixed_by] + [(name, False) for name in row.broken_by])
        assert all(one[1] is not other[1] for one, other in pairwise(changes))


@given(ledgers())
def test_the_table_is_read_back_as_it_was(ledger: Ledger) -> None:
    rows = rows_of(as_csv(ledger))
    assert [row["id"] for row in rows] == [item.id for item in ledger.items]
    for row, item in zip(rows, ledger.items, strict=True):
        for each in ledger.accepted:
            score = each.scores.get(item.id)
            assert row[each.name] == ("" if score is None else f"{score:g}")


def pixels(png: bytes) -> tuple[int, int]:
    """Width and height; the picture is whole."""
    assert png.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", png[16:24])
    data = b"".join(chunks(png).values())
    zlib.decompress(data)
    return width, height


def chunks(png: bytes) -> Mapping[int, bytes]:
    found, place = {}, 8
    while place < len(png):
        (length,) = struct.unpack(">I", png[place : place + 4])
        if png[place + 4 : place + 8] == b"IDAT":
            found[place] = png[place + 8 : place + 8 + length]
        place += length + 12
    return found


def test_the_picture_is_the_same_for_the_same_ledger_and_says_nothing_of_who_drew_it() -> None:
    first = draw(LEDGER)
    assert first == draw(LEDGER)
    assert b"Matplotlib" not in first
    assert pixels(first)[0] > 1000


@pytest.mark.parametrize("name", ["$x_1", "\x1b[2J", "物品", "a" * 300, "{", "\\frac", " "])
def test_no_id_keeps_the_picture_from_being_drawn(name: str) -> None:
    width, _ = pixels(draw(Ledger((Item(name, "?", ("a",)),), (Column(SEED, True, {name: 1.0}),))))
    assert width < 3000


def test_many_items_and_steps_still_fit_a_screen() -> None:
    items = tuple(Item(f"i{number}", "?", ("a",)) for number in range(3000))
    solved = {each.id: float(len(each.id) > 4) for each in items}
    columns = [Column(change_name(step) if step else SEED, step % 5 == 0, solved) for step in range(120)]
    width, height = pixels(draw(Ledger(items, tuple(columns))))
    assert width <= 3000
    assert height <= 1800


def kept(folder: RunFolder) -> tuple[RunRecorder, ItemKeeper]:
    items = tuple(rollout.item for rollout in sample_run.selection(0))
    return RunRecorder(folder), ItemKeeper(folder, items)


def test_a_run_that_goes_on_keeps_the_same_table_as_one_that_never_ended(tmp_path: Path) -> None:
    whole = RunFolder.create(tmp_path / "whole", prompts="p")
    for watcher in kept(whole):
        SAMPLE.tell_training(watcher, whole.path)
        SAMPLE.tell_result(watcher)
    broken = RunFolder.create(tmp_path / "broken", prompts="p")
    for watcher in kept(broken):
        watcher.opened(sample_run.opening(broken.path))
        watcher.baseline(sample_run.seed(), sample_run.selection(0))
        for trace in SAMPLE.traces[:2]:
            watcher.step(trace)
        watcher.failed(OutageError("gone"), None)
    assert broken.item_table.exists(), "what is known by then"
    assert not broken.heat_map.exists()
    progress = read_progress(broken, Skill())
    assert progress is not None
    for watcher in kept(broken):
        watcher.opened(sample_run.opening(broken.path))
        watcher.resumed(progress)
        for trace in SAMPLE.traces[2:]:
            watcher.step(trace)
        SAMPLE.tell_result(watcher)
    assert broken.item_table.read_bytes() == whole.item_table.read_bytes()
    assert broken.heat_map.read_bytes() == whole.heat_map.read_bytes()
    rows = rows_of(whole.item_table.read_text(encoding="utf-8"))
    assert [row["fixed_by"] for row in rows] == ["step_0002", "step_0004", "", ""]


def test_the_table_of_a_run_says_what_the_attempts_say(tmp_path: Path) -> None:
    run(tmp_path, "dataset.limit=120")
    folder = RunFolder.open(tmp_path)
    rows = rows_of(folder.item_table.read_text(encoding="utf-8"))
    accepted = [record for record in folder.read_history() if record.outcome is Outcome.accepted]
    assert accepted
    assert {row["group"] for row in rows} > {"place", "person"}
    for name, step in [(SEED, 0), *((change_name(record.step), record.step) for record in accepted)]:
        lines = read_rollouts(folder.selection(step))
        assert [(line.id, f"{line.hard:g}") for line in lines] == [(row["id"], row[name]) for row in rows]
    last = change_name(accepted[-1].step)
    gained = sum(row[last] == "1" for row in rows) - sum(row[SEED] == "1" for row in rows)
    assert sum(len(row["fixed_by"].split()) - len(row["broken_by"].split()) for row in rows) == gained
    assert pixels(folder.heat_map.read_bytes())[1] > 500


def test_a_run_that_never_scored_its_seed_leaves_no_table(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, prompts="p")
    _, keeper = kept(folder)
    keeper.failed(OutageError("gone"), None)
    assert not folder.item_table.exists()


def test_the_folder_names_every_file_of_attempts_and_conversations(tmp_path: Path) -> None:
    run(tmp_path, "dataset.limit=60", "train.num_epochs=2")
    folder = RunFolder.open(tmp_path)
    named = {*folder.rollout_files(), *folder.exchange_files()}
    own = {folder.history, folder.calls}
    assert named == {file for file in tmp_path.rglob("*.jsonl") if ".skillopt" not in file.parts} - own
