"""What a run leaves: every file of it, equal for equal runs, and whole after a kill at any write."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import sample_run
from sample_run import SAMPLE

from skillopt_exp.errors import OutageError
from skillopt_exp.records import Fault, Judged, Metric, Outcome, Skill, TrainState, Verdict
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.recorder import RunRecorder
from skillopt_exp.transitions import UNGATED, after_epoch


def run_in(path: Path) -> RunFolder:
    folder = RunFolder.create(path, prompts="p")
    recorder = RunRecorder(folder)
    SAMPLE.tell_training(recorder, path)
    SAMPLE.tell_result(recorder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Every file below ``folder`` but the marker, which has the time."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file() and file.name != "run.json")
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def test_a_run_leaves_these_files(tmp_path: Path) -> None:
    stages = (
        "candidate.md",
        "edits.json",
        "merged.json",
        "optimizer.jsonl",
        "patches.json",
        "rollouts.jsonl",
        "selected.json",
        "selection.jsonl",
        "verdict.json",
    )
    assert list(contents(run_in(tmp_path).path)) == sorted(
        [
            "baseline/selection.jsonl",
            "best_skill.json",
            "best_skill.md",
            "config.yaml",
            # step 3 ends an epoch
            *(
                f"epochs/epoch_0001/{name}"
                for name in ("after.jsonl", "before.jsonl", "candidate.md", "epoch.json", "selection.jsonl")
            ),
            "history.jsonl",
            "origins.json",
            "runtime_state.json",
            # the candidate of step 3 is the skill that was there
            *(f"skills/skill_v{step:04d}.md" for step in (0, 1, 2, 4)),
            "skills/skill_v0003_epoch_end.md",
            "split_manifest.json",
            *(f"steps/step_{step:04d}/{name}" for step in (1, 2, 3, 4) for name in stages),
            "summary.json",
            *(f"test/{which}.jsonl" for which in ("baseline", "best", "final")),
        ]
    )


def test_equal_runs_leave_equal_bytes_wherever_they_stand(tmp_path: Path) -> None:
    one, other = run_in(tmp_path / "one"), run_in(tmp_path / "other" / "deeper")
    assert contents(one.path) == contents(other.path)


SAMPLE_IN = """
import sys
from pathlib import Path
from sample_run import SAMPLE
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.recorder import RunRecorder
path = Path(sys.argv[1])
recorder = RunRecorder(RunFolder.create(path, prompts="p"))
SAMPLE.tell_training(recorder, path)
SAMPLE.tell_result(recorder)
"""


def test_a_run_leaves_the_same_bytes_where_text_is_not_utf_8_by_itself(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "cp1252",
        "PYTHONPATH": os.pathsep.join(sys.path),
    }
    subprocess.run([sys.executable, "-c", SAMPLE_IN, tmp_path / "plain"], env=environment, check=True)
    assert contents(tmp_path / "plain") == contents(run_in(tmp_path / "usual").path)


def test_the_best_skill_stands_beside_its_provenance_and_not_with_it(tmp_path: Path) -> None:
    folder = run_in(tmp_path)
    assert folder.best_skill.read_text(encoding="utf-8") == "- Rule 2\n- Rule 4\n"
    assert json.loads(folder.best_provenance.read_text(encoding="utf-8")) == {
        "format": 1,
        "skillopt_exp": folder.marker.skillopt_exp,
        "step": 4,
        "epoch_end": False,
        "guidance": None,
        "digest": Skill("- Rule 2\n- Rule 4").digest,
        "seed_digest": Skill().digest,
        "dataset": "demo",
        "target": "sim-target",
        "optimizer": "sim-optimizer",
        "simulated": True,
        "selection_hard": 0.5,
        "selection_soft": 0.5,
        "num_selection_items": 4,
    }


@pytest.mark.parametrize(("by", "label"), [("", "gated"), (UNGATED, "ungated")])
def test_guidance_in_the_best_skill_is_labelled_by_whether_the_gate_saw_it(
    by: str, label: str, tmp_path: Path
) -> None:
    folder = RunFolder.create(tmp_path, prompts="p")
    recorder = RunRecorder(folder)
    recorder.opened(sample_run.opening(tmp_path))
    recorder.baseline(sample_run.seed(), sample_run.selection(0))
    (trace,) = sample_run.traces(Outcome.unchanged)
    end = sample_run.epoch_end(trace.state)
    skill = replace(sample_run.scored(Skill(guidance="Mind the gap."), 3, 1), epoch_end=True)
    judged = Judged(skill, sample_run.selection(3), Verdict(Outcome.accepted, by, 3.0))
    end = replace(end, judged=judged)
    recorder.step(replace(trace, epoch_end=end, state=after_epoch(trace.state, end, Metric.hard)))
    for _ in range(2):  # as it was written, and as one that goes on writes it again
        provenance = json.loads(folder.best_provenance.read_text(encoding="utf-8"))
        assert (provenance["epoch_end"], provenance["guidance"]) == (True, label)
        assert "Mind the gap." in folder.best_skill.read_text(encoding="utf-8")
        RunRecorder(RunFolder.open(tmp_path)).opened(sample_run.opening(tmp_path))


def test_the_end_of_an_epoch_is_a_part_of_its_last_step(tmp_path: Path) -> None:
    folder = run_in(tmp_path)
    ends = [record.epoch_end for record in folder.read_history()]
    assert [end is not None for end in ends] == [False, False, True, False]
    assert ends[2] is not None
    assert (ends[2].pairs, ends[2].outcome, ends[2].margin) == (
        {"improved": 1, "still_solved": 1},
        Outcome.rejected,
        -1.0,
    )
    kept = json.loads((tmp_path / "epochs" / "epoch_0001" / "epoch.json").read_text(encoding="utf-8"))
    assert kept["pairs"] == [
        {"id": "train0", "change": "improved", "shown": True},
        {"id": "train1", "change": "still_solved", "shown": False},
    ]
    assert kept["meta_skill"]["text"] == "Look at ünits."
    assert kept["verdict"]["outcome"] == "rejected"


def test_the_best_skill_is_there_from_the_baseline_on(tmp_path: Path) -> None:
    recorder = RunRecorder(RunFolder.create(tmp_path, prompts="p"))
    recorder.opened(sample_run.opening(tmp_path))
    recorder.baseline(sample_run.scored(Skill("Be brief."), 1, 0), sample_run.selection(1))
    assert (tmp_path / "best_skill.md").read_text(encoding="utf-8") == "Be brief.\n"


def test_a_rollout_is_one_line_with_its_conversation(tmp_path: Path) -> None:
    folder = run_in(tmp_path)
    lines = (folder.step(1) / "rollouts.jsonl").read_text(encoding="utf-8").split("\n")
    assert lines.pop() == ""
    first, second, _ = map(json.loads, lines)
    assert list(first) == ["id", "attempt", "hard", "soft", "feedback", "prediction", "fault", "messages"]
    assert (first["id"], first["hard"], first["fault"]) == ("train0", 1.0, None)
    assert (second["hard"], second["fault"], second["feedback"]) == (0.0, Fault.truncated, "expected zwölf")
    assert first["messages"][1] == {
        "tool_calls": [],
        "answers_call": "",
        "role": "assistant",
        "content": "<answer>12</answer>",
        "reasoning": "hm\u2028so",
    }


def test_applied_and_rejected_edits_add_up_in_file_and_history(tmp_path: Path) -> None:
    folder = run_in(tmp_path)
    for record in folder.read_history():
        edits = json.loads((folder.step(record.step) / "edits.json").read_text(encoding="utf-8"))
        assert (
            record.edits_proposed == len(edits) == record.edits_applied + sum(record.edits_rejected.values())
        )
        assert sum(edit["rejection"] is None for edit in edits) == record.edits_applied


def test_the_summary_comes_back_as_it_was_told(tmp_path: Path) -> None:
    assert run_in(tmp_path).read_summary() == sample_run.summary(SAMPLE.traces)


def test_a_run_that_fails_leaves_what_is_known(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, prompts="p")
    recorder = RunRecorder(folder)
    SAMPLE.tell_training(recorder, tmp_path)
    stopped = replace(sample_run.summary(SAMPLE.traces), status="failed(outage)")
    recorder.failed(OutageError("no answer"), stopped)
    assert folder.read_summary() == stopped
    assert folder.read_state() == SAMPLE.traces[-1].state


def test_a_password_in_the_configuration_is_not_written(tmp_path: Path) -> None:
    recorder = RunRecorder(RunFolder.create(tmp_path, prompts="p"))
    uri = "tracking:\n  uri: postgresql://me:geheim@host/db\n"
    recorder.opened(replace(sample_run.opening(tmp_path), config_yaml=uri))
    assert b"geheim" not in b"".join(contents(tmp_path).values())


def killed_at_write(path: Path, number: int) -> bool:
    """Tell the run in a process of its own that is killed at its so manieth write to the disk.

    False when there are fewer writes than that.
    """
    child = os.fork()
    if child == 0:
        left = number

        def dying(descriptor: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        os.fsync = dying  # type: ignore[assignment]  # in the child alone
        try:
            SAMPLE.tell_training(RunRecorder(RunFolder.create(path, prompts="p")), path)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0
    return False


def go_on(folder: RunFolder) -> None:
    """Take the run from its last completed step to the end."""
    recorder = RunRecorder(folder)
    recorder.opened(sample_run.opening(folder.path))
    state = folder.read_state()
    if state is None:
        recorder.baseline(sample_run.seed(), sample_run.selection(0))
    for trace in SAMPLE.traces[0 if state is None else state.step :]:
        recorder.step(trace)
    SAMPLE.tell_result(recorder)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_run_killed_at_any_write_goes_on_to_the_same_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A kill is not a power failure: the files survive it without waiting for the disk.
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    whole = contents(run_in(tmp_path / "whole").path)
    records = tuple(trace.record for trace in SAMPLE.traces)
    states = [
        None,
        TrainState(0, sample_run.seed(), sample_run.seed()),
        *(trace.state for trace in SAMPLE.traces),
    ]
    seen, number = set(), 1
    while killed_at_write(path := tmp_path / str(number), number):
        folder = RunFolder.open(path)
        state = folder.read_state()
        assert state in states
        seen.add(states.index(state))
        assert folder.read_history() == records[: state.step if state else 0]
        go_on(folder)
        assert contents(path) == whole
        number += 1
    assert seen == set(range(len(states)))
    assert number > 80


def test_training_again_from_the_baseline_replaces_the_history(tmp_path: Path) -> None:
    folder = run_in(tmp_path)
    before = contents(tmp_path)
    SAMPLE.tell_training(RunRecorder(folder), tmp_path)
    assert contents(tmp_path) == before


def test_a_torn_history_is_mended_before_it_grows(tmp_path: Path) -> None:
    folder = RunFolder.create(tmp_path, prompts="p")
    SAMPLE.tell_training(RunRecorder(folder), tmp_path)
    whole = folder.history.read_bytes()
    folder.history.write_bytes(whole + b'{"step": 5, "epo')
    RunRecorder(folder).opened(sample_run.opening(tmp_path))
    assert folder.history.read_bytes() == whole
