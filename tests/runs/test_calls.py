import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.errors import DataError, InterruptedRun
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.bill import AtMost
from skillopt_exp.llm.ledger import Entry, FailedCall, SentCall, SettledCall
from skillopt_exp.records import Role
from skillopt_exp.runs.calls import CallLog

COUNTS = st.none() | st.integers(0, 2**40)
CALLS = st.builds(
    SettledCall,
    at=st.floats(0, 4e9),
    role=st.sampled_from(Role),
    stage=st.sampled_from(Stage),
    attempt=st.integers(1, 5),
    input_tokens=st.none() | st.integers(2**40, 2**41),
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


def sent(id: str) -> SentCall:
    return SentCall(
        id=id, at=1.5, key="k", role=Role.target, stage=Stage.rollout, host="h", asked="m", attempt=1,
        at_most=AtMost(9, None),
    )  # fmt: skip


def failed(id: str) -> FailedCall:
    return FailedCall(id=id, at=2.5, role=Role.target, status=503)


def written(file: Path, *entries: Entry) -> None:
    with closing(CallLog(file)) as log:
        for entry in entries:
            log.add(entry)


def added(file: Path, *keys: str) -> None:
    with closing(CallLog(file)) as log:
        for key in keys:
            log.add(call(key))


def keys(file: Path) -> list[str]:
    return [each.key for each in CallLog(file).earlier() if isinstance(each, SettledCall)]


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


def test_requests_and_their_ends_are_read_as_they_were_written(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    entries = (
        sent("1"), sent("2"), failed("1"), call("reused"), sent("3"), replace(call("k"), id="2"),
        replace(failed("3"), status=None), sent("4"),
    )  # fmt: skip
    written(file, *entries)
    assert CallLog(file).earlier() == entries


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([sent("1"), sent("1")], "2: call 1 is sent a second time"),
        ([sent("1"), failed("1"), sent("1")], "3: call 1 is sent a second time"),
        ([failed("1")], "1: call 1 ends, but was never sent"),
        ([call("k"), replace(call("k"), id="7")], "2: call 7 ends, but was never sent"),
        ([sent("1"), failed("1"), replace(call("k"), id="1")], "3: call 1 ends a second time"),
    ],
)
def test_what_cannot_follow_is_refused_by_its_line(tmp_path: Path, entries: list[Entry], said: str) -> None:
    file = tmp_path / "calls.jsonl"
    written(file, *entries)
    with pytest.raises(DataError, match=rf"calls\.jsonl:{said}; restore the file"):
        CallLog(file).earlier()


@pytest.mark.parametrize(
    ("entry", "damage", "said"),
    [
        (call("k"), {"input_tokens": -1}, "input_tokens is -1"),
        (call("k"), {"reasoning_tokens": -1}, "reasoning_tokens is -1"),
        (call("k"), {"cached_tokens": 4}, "cached_tokens is 4, more than the 3"),
        (call("k"), {"attempt": 0}, "attempt is 0"),
        (call("k"), {"at": -1.0}, "at is -1.0"),
        (call("k"), {"at": "soon"}, "at: must be of type float"),
        (call("k"), {"role": "nobody"}, "role: must be one of target, optimizer"),
        (call("k"), {"stage": "dinner"}, "stage: must be one of"),
        (call("k"), {"event": "eaten"}, "event: must be one of sent, answered, failed"),
        (call("k"), {"at_most": {"input": -1, "output": 3}}, "at_most is -1 and 3 tokens"),
        (call("k"), {"price": 3}, "unknown key 'price'"),
        (sent("1"), {"id": ""}, "id is empty"),
        (sent("1"), {"at_most": {"input": 1, "output": -3}}, "at_most is 1 and -3 tokens"),
        (failed("1"), {"status": "busy"}, "status: must be of type int"),
    ],
)
def test_impossible_values_are_refused_by_their_line(
    tmp_path: Path, entry: Entry, damage: dict[str, object], said: str
) -> None:
    file = tmp_path / "calls.jsonl"
    written(file, sent("0"), entry)
    first, second = file.read_text(encoding="utf-8").splitlines()
    file.write_text(f"{first}\n{json.dumps(json.loads(second) | damage)}\n", encoding="utf-8")
    with pytest.raises(DataError) as refused:
        CallLog(file).earlier()
    assert "calls.jsonl:2" in str(refused.value)
    assert said in str(refused.value)


def test_of_a_run_that_has_called_something_must_be_there(tmp_path: Path) -> None:
    file = tmp_path / "calls.jsonl"
    assert CallLog(file).earlier() == ()
    with pytest.raises(DataError, match=r"calls\.jsonl is missing, but the run has made some"):
        CallLog(file, begun=True).earlier()
    file.touch()
    with pytest.raises(DataError, match=r"calls\.jsonl holds no calls, but the run has made some"):
        CallLog(file, begun=True).earlier()
    written(file, sent("1"))
    assert CallLog(file, begun=True).earlier() == (sent("1"),)
