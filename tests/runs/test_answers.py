import logging
import multiprocessing
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.config.spending import CacheConfig, CacheMode
from skillopt_exp.errors import DataError, InterruptedRun
from skillopt_exp.runs.answers import AnswerStore, answers_path, open_answers

GB = 10**9


@contextmanager
def opened(path: Path, *, max_bytes: int = GB) -> Iterator[AnswerStore]:
    with closing(AnswerStore(path, max_bytes=max_bytes)) as store:
        yield store


def test_an_answer_is_there_for_whoever_opens_the_store(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "answers.sqlite"
    with opened(file) as store:
        assert store.get("k") is None
        assert store.put("k", '{"a": 1}') == '{"a": 1}'
        assert store.count == 1
        with opened(file) as other:
            assert other.get("k") == '{"a": 1}'
    with opened(file) as store:
        assert store.get("k") == '{"a": 1}'


@settings(deadline=None, max_examples=30)
@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))
    )
)
def test_any_text_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, answers: dict[str, str]
) -> None:
    with opened(tmp_path_factory.mktemp("store") / "a.sqlite") as store:
        for key, response in answers.items():
            store.put(key, response)
        assert {key: store.get(key) for key in answers} == answers
        assert store.count == len(answers)


def test_the_first_answer_stands_until_it_is_forgotten(tmp_path: Path) -> None:
    with opened(tmp_path / "a.sqlite") as store:
        store.put("k", "first")
        assert store.put("k", "second") == "first"
        store.forget("k")
        assert store.put("k", "third") == "third"
        assert store.count == 1


def test_the_store_is_ahead_logging_and_of_a_known_version(tmp_path: Path) -> None:
    with opened(tmp_path / "a.sqlite"):
        connection = sqlite3.connect(tmp_path / "a.sqlite")
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)
        connection.close()


def test_where_the_store_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert answers_path(CacheConfig(), base=tmp_path) == tmp_path / ".skillopt" / "answers.sqlite"
    assert answers_path(CacheConfig(path="x/y.db"), base=tmp_path) == tmp_path / "x" / "y.db"
    assert answers_path(CacheConfig(path="~/y.db"), base=tmp_path) == tmp_path / "home" / "y.db"


def test_no_store_is_made_to_read_from_or_to_leave_alone(tmp_path: Path) -> None:
    for mode in (CacheMode.read, CacheMode.none):
        with open_answers(CacheConfig(mode=mode), base=tmp_path) as store:
            assert store is None
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_only_read_keeps_and_drops_nothing(tmp_path: Path) -> None:
    with open_answers(CacheConfig(), base=tmp_path) as store:
        assert store is not None
        store.put("k", "first")
        with open_answers(CacheConfig(mode=CacheMode.read), base=tmp_path) as reading:
            assert reading is not None
            assert reading.get("k") == "first"
            assert reading.put("new", "x") == "x"
            reading.forget("k")
            assert (reading.count, reading.get("new")) == (1, None)


def test_a_full_store_still_answers_and_says_once_that_it_keeps_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    with opened(tmp_path / "a.sqlite", max_bytes=200_000) as store:
        for n in range(100):
            assert store.put(f"k{n}", "x" * 10_000) == "x" * 10_000
        assert 5 < store.count < 25
        assert store.size_bytes < 300_000
        assert store.get("k0") == "x" * 10_000
        assert store.get("k99") is None
    assert [("cache.max_gb" in each.getMessage()) for each in caplog.records] == [True]
    with opened(tmp_path / "a.sqlite") as store:  # a higher limit: it goes on
        store.put("k99", "y")
        assert store.get("k99") == "y"


def test_a_file_that_is_no_store_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    file.write_text("This is a text about answers. " * 100, encoding="utf-8")
    with pytest.raises(DataError, match=r"a\.sqlite is damaged, or is none: .*cache\.path"), opened(file):
        pytest.fail("opened")
    file.unlink()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(DataError, match="other tables"), opened(file):
        pytest.fail("opened")
    file.write_bytes(b"")
    with (
        pytest.raises(DataError, match="no answers"),
        closing(AnswerStore(file, max_bytes=0, writable=False)),
    ):
        pytest.fail("opened")


def test_a_damaged_page_is_an_error_and_not_a_missing_answer(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with opened(file) as store:
        for n in range(200):
            store.put(f"k{n}", "x" * 1000)
    content = bytearray(file.read_bytes())
    content[4096:-4096] = b"\xff" * (len(content) - 2 * 4096)
    file.write_bytes(bytes(content))
    with pytest.raises(DataError, match="damaged"), opened(file) as store:
        [store.get(f"k{n}") for n in range(200)]


def test_a_store_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(DataError, match="newer"), opened(file):
        pytest.fail("opened")


def test_a_place_where_nothing_can_be_made_interrupts_the_run(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InterruptedRun, match=r"cache\.path"), opened(tmp_path / "file" / "a.sqlite"):
        pytest.fail("opened")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InterruptedRun, match=r"cache\.path"), opened(tmp_path / "folder"):
        pytest.fail("opened")


WRITER = """
import sys
from pathlib import Path
from skillopt_exp.runs.answers import AnswerStore

store = AnswerStore(Path(sys.argv[1]), max_bytes=10**9)
n = 0
while True:
    n += 1
    store.put(f"k{n}", f"answer {n} " * 100)
    sys.stdout.write(f"{n}\\n")
    sys.stdout.flush()
"""


def test_a_kill_at_any_moment_loses_no_answer_that_was_put(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    for after in (0.01, 0.05, 0.1):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(after)
        process.kill()
        said = process.communicate()[0].split("\n")[:-1]
        with opened(file) as store:
            last = int(said[-1]) if said else 1
            for n in range(1, last + 1):
                assert store.get(f"k{n}") == f"answer {n} " * 100


def _put_all(file: Path, worker: int) -> None:
    with closing(AnswerStore(file, max_bytes=GB)) as store:
        for n in range(200):
            store.put(f"k{n}", f"by {worker}")
            store.put(f"own {worker} {n}", "x" * 500)


def test_processes_that_begin_at_once_make_one_store_and_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    spawn = multiprocessing.get_context("fork")
    processes = [spawn.Process(target=_put_all, args=(file, worker)) for worker in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    with opened(file) as store:
        assert store.count == 200 + 4 * 200
        assert {store.get(f"k{n}") for n in range(200)} <= {f"by {worker}" for worker in range(4)}
