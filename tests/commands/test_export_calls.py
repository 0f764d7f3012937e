"""The conversations of a run, in a format that other tools read."""

import json
from pathlib import Path

import pytest
from running import run as train

from skillopt_exp.commands.export_calls import run as export
from skillopt_exp.errors import UsageError


def test_every_paid_call_of_a_run_is_exported_once_with_its_reply(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    summary = train(folder, "cache.mode=none", base=tmp_path)
    out = tmp_path / "calls.jsonl"
    assert export([f"run={folder}", f"out={out}"]) == 0
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert all(line["messages"][-1]["role"] == "assistant" for line in lines)
    assert all(
        {message["role"] for message in line["messages"]} <= {"system", "user", "assistant"} for line in lines
    )
    optimizer = [line for line in lines if line["metadata"]["role"] == "optimizer"]
    asked = sum(usage.calls for name, usage in summary.usage.items() if name.startswith("optimizer/"))
    assert len(optimizer) == asked
    assert {line["metadata"]["stage"] for line in optimizer} >= {"reflect"}
    target = [line for line in lines if line["metadata"]["role"] == "target"]
    assert {line["metadata"]["hard"] for line in target} == {0.0, 1.0}
    tested = {line["metadata"]["file"] for line in target}
    assert {"baseline/selection.jsonl", "steps/step_0001/rollouts.jsonl", "test/best.jsonl"} <= tested


def test_the_order_of_the_export_does_not_depend_on_arrival(tmp_path: Path) -> None:
    written = []
    for slots in (1, 16):
        folder, out = tmp_path / f"run{slots}", tmp_path / f"calls{slots}.jsonl"
        folder.mkdir()
        limits = [f"model.{role}.max_concurrency={slots}" for role in ("target", "optimizer")]
        train(folder, "cache.mode=none", *limits, base=tmp_path)
        export([f"run={folder}", f"out={out}"])
        written.append(out.read_bytes())
    assert written[0] == written[1]


def test_nothing_is_overwritten_and_no_folder_is_made_up(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    train(folder, "evaluation.val_limit=2", "evaluation.test_limit=2", "train.num_epochs=0")
    (tmp_path / "there.jsonl").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        export([f"run={folder}", f"out={tmp_path}/there.jsonl"])
    with pytest.raises(UsageError, match="not a folder"):
        export([f"run={folder}", f"out={tmp_path}/nowhere/calls.jsonl"])
    assert (tmp_path / "there.jsonl").read_text() == "mine"
