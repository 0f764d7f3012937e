"""A kill at any moment leaves the old file or the new one; only a torn last line is forgiven."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.errors import DataError, InterruptedRun
from skillopt_exp.runs.codec import from_json
from skillopt_exp.runs.files import (
    append_line,
    create_exclusive,
    keep_lines,
    read_jsonl,
    read_text,
    write_atomic,
)

TEXT = st.text(st.characters(exclude_categories=["Cs"]))


def number(line: str, where: str) -> int:
    return from_json(int, line, where)


@settings(deadline=None)  # a disk may be slow
@given(old=TEXT, new=TEXT)
def test_text_is_read_as_it_was_written_line_ends_and_all(
    tmp_path_factory: pytest.TempPathFactory, old: str, new: str
) -> None:
    file = tmp_path_factory.mktemp("files") / "deep" / "er" / "file.txt"
    for text in (old, new):
        write_atomic(file, text)
        assert read_text(file) == text
        assert os.listdir(file.parent) == ["file.txt"]


def test_a_left_over_of_a_killed_writer_is_taken_over(tmp_path: Path) -> None:
    (tmp_path / ".file.txt.tmp").write_text("half", encoding="utf-8")
    write_atomic(tmp_path / "file.txt", "whole")
    assert os.listdir(tmp_path) == ["file.txt"]


def test_only_the_first_makes_a_file(tmp_path: Path) -> None:
    assert create_exclusive(tmp_path / "run.json", "first")
    assert not create_exclusive(tmp_path / "run.json", "second")
    assert read_text(tmp_path / "run.json") == "first"


def test_lines_are_read_as_they_were_added(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    for line in ("1", "2", '"\u2028\u0085\x0c"'):
        append_line(file, line)
    assert read_jsonl(file, lambda line, where: line) == ("1", "2", '"\u2028\u0085\x0c"')
    assert file.read_bytes().endswith(b"\n")


def test_a_line_holds_no_line_end(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="one line at a time"):
        append_line(tmp_path / "lines.jsonl", "1\n2")


@settings(deadline=None)  # a disk may be slow
@given(
    values=st.lists(st.integers(min_value=0), min_size=1, max_size=5),
    data=st.data(),
)
def test_a_file_cut_anywhere_gives_the_lines_that_are_whole(
    tmp_path_factory: pytest.TempPathFactory, values: list[int], data: st.DataObject
) -> None:
    file = tmp_path_factory.mktemp("files") / "lines.jsonl"
    for value in values:
        append_line(file, f'{{"é{value}": 1}}')
    whole = file.read_bytes()
    file.write_bytes(whole[: data.draw(st.integers(0, len(whole)))])
    whole_lines = file.read_bytes().count(b"\n")

    found = read_jsonl(file, lambda line, where: from_json_object(line, where))

    # A line whose line end alone is gone is whole, too.
    assert len(found) in (whole_lines, whole_lines + 1)
    assert list(found) == [f"é{value}" for value in values[: len(found)]]


def from_json_object(line: str, where: str) -> str:
    if not (line.startswith("{") and line.endswith("}")):
        raise DataError(where)
    return line[2 : line.index('"', 2)]


@pytest.mark.parametrize(
    ("content", "line"),
    [(b"1\nx\n3\n", 2), (b"1\n\n3\n", 2), (b"1\n2\n\xff\n", 3), (b"x\n2", 1), (b"1\n2x\n", 2)],
)
def test_damage_anywhere_else_is_an_error_with_its_line(tmp_path: Path, content: bytes, line: int) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(content)
    with pytest.raises(DataError, match=rf"lines\.jsonl:{line}: "):
        read_jsonl(file, number)


@pytest.mark.parametrize("tail", [b"2x", b"\xc3", b"\x00\x00\x00", b'"half'])
def test_a_torn_last_line_is_left_out(tmp_path: Path, tail: bytes) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes(b"1\n" + tail)
    assert read_jsonl(file, number) == (1,)


def test_cutting_keeps_the_bytes_of_what_stays(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_bytes('{"a":  1}\r\n{"b": "ü"}\n{"c": '.encode())
    keep_lines(file, 2)
    assert file.read_bytes() == '{"a":  1}\r\n{"b": "ü"}\n'.encode()
    keep_lines(file, 0)
    assert file.read_bytes() == b""


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.md is missing"):
        read_text(tmp_path / "gone.md")
    with pytest.raises(DataError, match="cannot be read: it is a folder"):
        read_text(tmp_path)
    (tmp_path / "latin.md").write_bytes("naïve".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.md: not UTF-8"):
        read_text(tmp_path / "latin.md")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system that takes nothing")
def test_a_disk_that_takes_nothing_interrupts_the_run_and_says_so() -> None:
    for write in (write_atomic, append_line, create_exclusive):
        with pytest.raises(InterruptedRun, match=r"cannot be written: .*then go on"):
            write(Path("/proc/nowhere/below.txt"), "text")


def test_what_is_in_the_place_of_a_file_or_of_its_folder_is_damage(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    for write in (write_atomic, append_line, create_exclusive):
        with pytest.raises(DataError, match=r"cannot be written: .*move away"):
            write(tmp_path / "file" / "below.txt", "text")
    for write in (write_atomic, append_line):
        with pytest.raises(DataError, match=r"cannot be written: .*move away"):
            write(tmp_path / "folder", "text")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="it is a pipe"):
        read_text(tmp_path / "pipe")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_interrupts_the_run(tmp_path: Path) -> None:
    file = tmp_path / "lines.jsonl"
    file.symlink_to("/dev/full")
    with pytest.raises(InterruptedRun, match="No space left on device"):
        append_line(file, "1")


SAVER = """
import sys
from pathlib import Path
from skillopt_exp.runs.files import append_line, write_atomic
folder, size = Path(sys.argv[1]), int(sys.argv[2])
for turn in range(1_000_000):
    write_atomic(folder / "state", f"{turn} " + "\\xe9" * size + " end")
    append_line(folder / "lines", f'["{turn}", "' + "1" * size + '"]')
    if turn == 0:
        sys.stdout.write("saving\\n")
        sys.stdout.flush()
"""


@pytest.mark.parametrize("turn", range(6))
def test_a_process_killed_while_it_saves_leaves_whole_files(tmp_path: Path, turn: int) -> None:
    size = 10 ** (turn % 3 + 3)
    with subprocess.Popen(
        [sys.executable, "-c", SAVER, str(tmp_path), str(size)], stdout=subprocess.PIPE
    ) as saver:
        assert saver.stdout is not None
        assert saver.stdout.readline() == b"saving\n"
        while saver.poll() is None and (tmp_path / "lines").stat().st_size < (turn + 2) * size:
            time.sleep(0.001)
        saver.send_signal(signal.SIGKILL)
    assert saver.returncode == -signal.SIGKILL

    turn_saved, filling, end = read_text(tmp_path / "state").split(" ")
    assert (filling, end) == ("é" * size, "end")
    lines = read_jsonl(tmp_path / "lines", lambda line, where: from_json(tuple[str, ...], line, where)[0])
    assert lines == tuple(map(str, range(len(lines))))
    assert len(lines) in (int(turn_saved), int(turn_saved) + 1)
