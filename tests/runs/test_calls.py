from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.errors import DataError, InterruptedRun
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.ledger import SettledCall
from skillopt_exp.records import Role
from skillopt_exp.runs.calls import CallLog

COUNTS = st.none() | st.integers(0, 2**40)
CALLS = st.builds(
    SettledCall,
    at=st.floats(0, 4e9),
    role=st.sampled_from(Role),
    stage=st.sampled_from(Stage),
    attempt=st.integers(1, 5),
    input_tokens=COUNTS,
    cached_tokens=COUNTS,
    output_tokens=COUNTS,
    reasoning_tokens=COUNTS,
)


def call(key: str) -> SettledCall:
    return SettledCall(
        at=1.5,
        key=key,
        role=Role.target,
        stage=Stage.rollout,
        host="h",
        asked="m",
        answered="m-0813",
        finish_reason="stop",
        attempt=1,
        reused=False,
        input_tokens=3,
        cached_tokens=None,
        output_tokens=0,
        reasoning_tokens=None,
    )


def added(file: Path, *keys: str) -> None:
    with closing(CallLog(file)) as log:
        for key in keys:
            log.add(call(key))


def keys(file: Path) -> list[str]:
    return [each.key for each in CallLog(file).earlier()]


@settings(deadline=None)
@given(st.lists(CALLS, max_size=4))
def test_calls_are_read_as_they_were_added(
    tmp_path_factory: pytest.TempPathFactory, calls: list[SettledCall]
) -> None:
    file = tmp_path_factory.mktemp("calls") / "calls.jsonl"
    for each in calls:
        with closing(CallLog(file)) as log:
            log.add(each)
    assert CallLog(file).earlier() == tuple(calls)
    assert file.exists() is bool(calls)


def test_a_line_can_be_read_before_the_file_is_closed(tmp_path: Path) -> None:
    with closing(CallLog(tmp_path / "calls.jsonl")) as log:
        log.add(call("a"))
        assert keys(tmp_path / "calls.jsonl") == ["a"]


def test_wherever_a_kill_cuts_the_last_line_what_follows_is_read(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    added(file, "a", "b")
    whole = file.read_bytes()
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole) + 1):
        file.write_bytes(whole[:cut])
        before = keys(file)
        assert before == (["a", "b"] if cut >= len(whole) - 1 else ["a"])
        added(file, "c")
        assert keys(file) == [*before, "c"]


def test_a_cut_inside_a_letter_is_a_cut_like_any_other(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    added(file, "a", "\u4e8c")
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.index("\u4e8c".encode()) + 1])
    added(file, "c")
    assert keys(file) == ["a", "c"]


def test_damage_anywhere_else_is_an_error_that_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    added(file, "a", "b", "c")
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    file.write_text(lines[0] + lines[1][:20] + "\n" + lines[2], encoding="utf-8")
    with pytest.raises(DataError, match=r"calls\.jsonl:2"):
        CallLog(file).earlier()


def test_a_folder_that_is_gone_interrupts_the_run(tmp_path: Path) -> None:
    with (
        pytest.raises(InterruptedRun, match="cannot be written"),
        closing(CallLog(tmp_path / "no" / "c")) as log,
    ):
        log.add(call("a"))
