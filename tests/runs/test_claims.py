"""One asks, the others wait; whoever dies, fails or stands still keeps nobody waiting."""

import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.config.spending import CacheConfig, CacheMode
from skillopt_exp.runs.answers import AnswerStore, open_answers

GB = 10**9
LONG = 3600.0

OWNER = """
import sys, time
from pathlib import Path
from skillopt_exp.runs.answers import AnswerStore
store = AnswerStore(Path(sys.argv[1]), max_bytes=10**9)
print(store.claim("k", seconds=float(sys.argv[2])), store.claim("other", seconds=3600.0), flush=True)
time.sleep(600)
"""


def opened(path: Path, *, max_bytes: int = GB) -> "closing[AnswerStore]":
    return closing(AnswerStore(path, max_bytes=max_bytes))


@contextmanager
def owner_elsewhere(path: Path, *, seconds: float = LONG) -> "Iterator[subprocess.Popen[str]]":
    """A process of its own that has claimed "k" for so many seconds, and "other"."""
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "True True\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_question_is_claimed_by_one_at_a_time(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with opened(file) as one, opened(file) as two:
        assert one.claim("k", seconds=LONG)
        assert not two.claim("k", seconds=LONG)
        assert not one.claim("k", seconds=LONG), "not twice by one either"
        assert one.claimed("k")
        assert two.claimed("k")
        assert two.claim("another", seconds=LONG)
        one.release("k")
        assert not two.claimed("k")
        assert two.claim("k", seconds=LONG)


def test_what_has_been_answered_cannot_be_claimed_and_is_not(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with opened(file) as one, opened(file) as two:
        one.put("k", "answer")
        assert not two.claim("k", seconds=LONG)
        assert not two.claimed("k")


def test_a_killed_process_claims_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with opened(file) as store:
        with owner_elsewhere(file) as process:
            assert store.claimed("k")
            assert not store.claim("k", seconds=LONG)
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert store.claim("k", seconds=LONG)
            assert not store.claimed("other")
        assert len(list((tmp_path / "a.sqlite.asking").iterdir())) == 1, "this one's"
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite"]


def test_a_process_that_stands_still_keeps_nobody_waiting_for_longer_than_its_request_may_take(
    tmp_path: Path,
) -> None:
    file = tmp_path / "a.sqlite"
    with opened(file) as store, owner_elsewhere(file, seconds=0.0) as process:
        os.kill(process.pid, signal.SIGSTOP)
        assert not store.claimed("k")
        assert store.claim("k", seconds=LONG)
        assert not store.claim("other", seconds=LONG), "that one has not come to its end"


def test_a_claim_that_has_gone_to_somebody_else_is_not_given_back_for_them(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with opened(file) as late, opened(file) as other:
        assert late.claim("k", seconds=0.0)
        assert other.claim("k", seconds=LONG)
        late.release("k")
        assert late.claimed("k")


def test_closing_gives_everything_back(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with opened(file) as other:
        with opened(file) as one:
            assert one.claim("k", seconds=LONG)
        assert not other.claimed("k")


def test_who_only_reads_claims_nothing_and_waits_for_nobody(tmp_path: Path) -> None:
    cache = CacheConfig(path=str(tmp_path / "a.sqlite"), mode=CacheMode.read)
    with opened(tmp_path / "a.sqlite") as asking:
        assert asking.claim("k", seconds=LONG)
        with open_answers(cache, base=tmp_path) as reading:
            assert reading is not None
            assert not reading.claimed("k")
            assert reading.claim("k", seconds=LONG)
            assert reading.claim("own", seconds=LONG)
            reading.release("k")
        assert not asking.claimed("own")
        assert asking.claimed("k")


def test_a_full_store_makes_nobody_wait_for_an_answer_that_it_will_not_keep(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with opened(file, max_bytes=1) as one, opened(file, max_bytes=1) as two:
        assert one.claim("k", seconds=LONG)
        assert two.claim("k", seconds=LONG)


def test_a_store_made_before_there_were_claims_is_used_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite"
    with opened(file) as store:
        store.put("k", "answer")
    with closing(sqlite3.connect(file)) as old:
        old.execute("DROP TABLE claims")
        old.commit()
    with opened(file) as store:
        assert store.get("k") == "answer"
        assert store.claim("new", seconds=LONG)


ACTS = st.tuples(
    st.integers(0, 2), st.sampled_from(["claim", "release", "answer", "reopen"]), st.sampled_from("ab")
)


@given(st.lists(ACTS, max_size=25))
@settings(deadline=None, max_examples=40)
def test_whatever_is_done_no_two_ask_the_same_at_once(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[int, str, str]]
) -> None:
    file = tmp_path_factory.mktemp("claims") / "a.sqlite"
    holder: dict[str, int] = {}
    answered: set[str] = set()
    with ExitStack() as stack:
        stores = [AnswerStore(file, max_bytes=GB) for _ in range(3)]
        stack.callback(lambda: [store.close() for store in stores])
        for who, act, key in acts:
            match act:
                case "claim":
                    free = key not in holder and key not in answered
                    assert stores[who].claim(key, seconds=LONG) is free
                    if free:
                        holder[key] = who
                case "release":
                    stores[who].release(key)
                    if holder.get(key) == who:
                        del holder[key]
                case "answer":
                    stores[who].put(key, "answer")
                    answered.add(key)
                case "reopen":
                    stores[who].close()
                    stores[who] = AnswerStore(file, max_bytes=GB)
                    holder = {each: by for each, by in holder.items() if by != who}
            for each in "ab":
                assert {store.claimed(each) for store in stores} == {each in holder}
