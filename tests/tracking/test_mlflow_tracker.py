"""What a run leaves in MLflow, read back through MLflow's own client."""

import json
import sqlite3
from asyncio import CancelledError
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
import sample_run
from mlflow_project import Project
from sample_run import SAMPLE

from skillopt_exp import __version__
from skillopt_exp.errors import DataError, InterruptedRun, OutageError, ProviderError, SkillOptError
from skillopt_exp.records import Rejection
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.recorder import RunRecorder
from skillopt_exp.tracking.session import tracked_run


def test_a_whole_run_is_finished_and_tagged(project: Project) -> None:
    tracker = project.whole("whole")
    run = project.run(tracker)
    assert run.info.status == "FINISHED"
    assert run.info.run_name == "whole"
    assert project.client.get_experiment(run.info.experiment_id).name == f"skillopt/{project.dataset}"
    expected = {
        "dataset": project.dataset,
        "target": "sim-target",
        "optimizer": "sim-optimizer",
        "simulated": "true",
        "manifest_sha256": sha256('{"train": ["ü"]}\n'.encode()).hexdigest(),
        "skillopt_exp": __version__,
        "run_folder": f"outputs/{project.dataset}/whole",
        "choice.model": "simulated",
        "choice.model_target": "simulated",
        "status": "finished",
        "verdict": "no clear gain",
        "evidence": "underpowered",
        "meets_seed_rule": "false",
    }
    assert expected.items() <= run.data.tags.items()
    assert run.data.params == {"train.seed": "42", "train.batch_size": "3", "dataset.split": "null"}


def test_every_step_stands_on_one_step_axis_with_the_numbers_of_its_record(project: Project) -> None:
    tracker = project.whole("whole")
    records = [trace.record for trace in SAMPLE.traces]
    for name, values in (
        ("train/hard", [record.train_hard for record in records]),
        ("train/soft", [record.train_soft for record in records]),
        ("train/faults", [1, 1, 1, 1]),
        ("val/candidate_hard", [0.0, 0.25, 0.25, 0.5]),
        ("gate/accepted", [0, 1, 0, 1]),
        ("gate/rejected", [1, 0, 0, 0]),
        ("gate/unchanged", [0, 0, 1, 0]),
        ("edits/applied", [1, 1, 1, 1]),
        ("edits/rejected/anchor_missing", [1, 1, 1, 1]),
        ("edits/rejected/protected", [0, 0, 0, 0]),
        ("parse/repaired", [1, 1, 1, 1]),
    ):
        assert project.metrics(tracker, name) == dict(zip(range(1, 5), values, strict=True)), name
    assert project.metrics(tracker, "val/current_hard") == {0: 0.0, 1: 0.0, 2: 0.25, 3: 0.25, 4: 0.5}
    assert project.metrics(tracker, "val/best_hard")[0] == 0.0


def test_applied_and_rejected_edits_add_up_in_mlflow(project: Project) -> None:
    tracker = project.whole("whole")
    rejected = project.metrics(tracker, "edits/rejected")
    applied, proposed = project.metrics(tracker, "edits/applied"), project.metrics(tracker, "edits/proposed")
    by_reason = [project.metrics(tracker, f"edits/rejected/{reason}") for reason in Rejection]
    for step in range(1, 5):
        assert applied[step] + rejected[step] == proposed[step]
        assert sum(reason[step] for reason in by_reason) == rejected[step]


def test_the_result_is_logged_and_what_is_unknown_is_not(project: Project) -> None:
    metrics = project.run(project.whole("whole")).data.metrics
    expected = {
        "test_hard": 0.5,
        "baseline_test_hard": 0.0,
        "test_delta_hard": 0.5,
        "test_delta_hard_low": 0.1,
        "best_selection_hard": 0.5,
        "total_steps": 4,
        "total_accepts": 2,
        "total_rejects": 1,
        "outcomes/unchanged": 1,
        "test/best_hard": 0.5,
        "test/baseline_hard": 0.0,
        "usage/target/rollout/calls": 3,
        "usage/target/rollout/input_tokens": 100,
        "usage/target/rollout/reasoning_tokens": 0,
        "usage/target/rollout/cost_usd": 0.25,
        "usage/optimizer/reflect/calls": 1,
        "usage/optimizer/reflect/lost": 0,
        "failed_requests/target/all": 3,
        "failed_requests/optimizer/all": 0,
        "failed_requests/target/429": 2,
        "failed_requests/target/no answer": 1,
    }
    assert expected.items() <= metrics.items()
    assert "final_test_hard" not in metrics
    assert "usage/target/rollout/cached_tokens" not in metrics
    assert "usage/optimizer/reflect/cost_usd" not in metrics


def test_the_files_of_the_run_are_its_artifacts_beside_the_database(project: Project) -> None:
    tracker, folder = project.whole("whole"), project.folder("whole")
    assert project.artifact(tracker, "config.yaml") == "train:\n  seed: 42\n"
    assert json.loads(project.artifact(tracker, "origins.json"))[0]["key"] == "train.batch_size"
    for name in ("best_skill.md", "best_skill.json", "summary.json", "history.jsonl", "split_manifest.json"):
        assert project.artifact(tracker, name) == (folder / name).read_text(encoding="utf-8")
    uri = project.run(tracker).info.artifact_uri
    assert uri is not None
    assert uri.startswith((project.base / "mlartifacts").as_uri())


def test_the_run_folder_names_its_mlflow_run(project: Project) -> None:
    tracker = project.tracker()
    assert tracker.run is None
    tracker.opened(project.opening(project.folder("opened")))
    assert tracker.run == tracked_run(project.folder("opened"))
    assert tracker.run is not None
    assert tracker.run.link.endswith(f"/#/experiments/{tracker.run.experiment_id}/runs/{tracker.run.run_id}")
    assert tracker.run.ui_command == tracker.ui_command
    assert tracked_run(project.folder("never opened")) is None


def test_nothing_of_mlflow_is_process_global(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mlflow

    monkeypatch.chdir(tmp_path)
    before = mlflow.get_tracking_uri()
    project.whole("whole")
    assert mlflow.active_run() is None
    assert mlflow.get_tracking_uri() == before
    assert list(tmp_path.iterdir()) == []


def test_two_runs_side_by_side_do_not_touch_each_other(project: Project) -> None:
    good, bad = project.tracker(), project.tracker()
    good.opened(project.opening(project.folder("good")))
    bad.opened(project.opening(project.folder("bad")))
    bad.failed(DataError("no items"), None)
    good.baseline(sample_run.seed(), ())
    good.finished(sample_run.summary(()), sample_run.seed())
    assert project.run(good).info.status == "FINISHED"
    assert project.run(bad).info.status == "FAILED"
    assert project.metrics(bad, "val/best_hard") == {}


def test_an_experiment_that_is_named_is_used(project: Project) -> None:
    tracker = project.tracker(experiment="mine / ü")
    tracker.opened(project.opening(project.folder("named")))
    assert project.client.get_experiment(project.run(tracker).info.experiment_id).name == "mine / ü"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ProviderError("402: no balance left"), "FAILED"),
        (OutageError("no answer from http://host"), "FAILED"),
        (InterruptedRun("stopped by the user"), "KILLED"),
    ],
)
def test_a_run_that_ends_early_says_why(project: Project, error: SkillOptError, status: str) -> None:
    tracker, folder = project.tracker(), project.folder("early")
    watcher = project.watched(tracker, folder)
    project.train(watcher, folder, SAMPLE.traces[:2])
    watcher.failed(error, replace(sample_run.summary(SAMPLE.traces[:2]), status="failed(somehow)"))
    run = project.run(tracker)
    assert run.info.status == status
    assert run.data.tags["cause"] == str(error)
    assert run.data.tags["status"] == "failed(somehow)"
    assert "traceback" not in run.data.tags
    assert run.data.metrics["total_steps"] == 2
    assert project.artifact(tracker, "best_skill.md") == "- Rule 2\n"


def test_an_error_that_nobody_foresaw_leaves_the_end_of_its_traceback(project: Project) -> None:
    tracker = project.tracker()
    tracker.opened(project.opening(project.folder("crash")))
    try:
        raise RuntimeError("x" * 9000 + " postgresql://me:geheim@host")
    except RuntimeError as error:
        tracker.failed(error, None)
    run = project.run(tracker)
    assert run.info.status == run.data.tags["status"].upper() == "FAILED"
    assert run.data.tags["cause"].startswith("RuntimeError: xxx")
    assert run.data.tags["traceback"].rstrip().endswith("@host")
    assert "geheim" not in str(run.data.tags)


@pytest.mark.parametrize("error", [KeyboardInterrupt(), CancelledError()])
def test_a_run_that_the_user_stopped_is_killed(project: Project, error: BaseException) -> None:
    tracker = project.tracker()
    tracker.opened(project.opening(project.folder("stopped")))
    tracker.failed(error, None)
    run = project.run(tracker)
    assert run.info.status == "KILLED"
    assert run.data.tags["cause"].startswith("stopped by the user")
    assert "traceback" not in run.data.tags


def test_a_run_that_never_opened_may_fail(project: Project) -> None:
    project.tracker().failed(DataError("no items"), None)


def test_long_and_odd_parameters_never_end_a_run(project: Project) -> None:
    odd = {"a[0]": "x" * 7000, "a_0_": "", "p@1": "postgresql://me:geheim@host/db"}
    params = odd | {f"key{number}": str(number) for number in range(250)}
    tracker = project.tracker()
    tracker.opened(replace(project.opening(project.folder("odd")), params=params))
    logged = project.run(tracker).data.params
    assert len(logged) == len(params)
    assert len(logged["a_0_"]) == 6000
    assert logged["a_0_"].endswith("[cut]")
    assert logged["a_0__2"] == ""
    assert "geheim" not in str(logged)


def test_a_run_that_goes_on_is_the_same_run(project: Project) -> None:
    folder = project.folder("resumed")
    first = project.tracker()
    watcher = project.watched(first, folder)
    project.train(watcher, folder, SAMPLE.traces[:2])
    watcher.failed(OutageError("no answer"), sample_run.summary(SAMPLE.traces[:2]))

    second = project.tracker()
    watcher = project.watched(second, folder)
    params = {"train.seed": "42", "model.target.max_concurrency": "8", "train.batch_size": "4"}
    watcher.opened(replace(project.opening(folder), params=params))
    assert first.run == second.run
    run = project.run(second)
    assert run.info.status == "RUNNING"
    assert not run.data.tags.keys() & {"cause", "verdict"}
    assert run.data.params["train.batch_size"] == "3"
    assert run.data.tags["changed.train.batch_size"] == "4"
    assert run.data.params["model.target.max_concurrency"] == "8"

    for trace in SAMPLE.traces[2:]:
        watcher.step(trace)
    SAMPLE.tell_result(watcher)
    run = project.run(second)
    assert run.info.status == "FINISHED"
    assert run.data.metrics["total_steps"] == 4
    assert list(project.metrics(second, "train/hard")) == [1, 2, 3, 4]


def test_steps_that_the_folder_has_and_mlflow_lacks_are_logged_when_the_run_goes_on(project: Project) -> None:
    folder = project.folder("killed")
    tracker = project.tracker()
    watcher = project.watched(tracker, folder)
    project.train(watcher, folder, SAMPLE.traces[:1])
    # A kill between the folder and MLflow: the folder alone was told of the second step.
    recorder = RunRecorder(RunFolder.open(folder))
    recorder.opened(project.opening(folder))
    recorder.step(SAMPLE.traces[1])
    assert list(project.metrics(tracker, "train/hard")) == [1]

    again = project.tracker()
    project.watched(again, folder).opened(project.opening(folder))
    assert list(project.metrics(again, "train/hard")) == [1, 2]


def test_a_run_that_mlflow_no_longer_has_is_started_anew(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    folder = project.folder("lost")
    project.tracker().opened(project.opening(folder))
    file = folder / "mlflow.json"
    known = tracked_run(folder)
    assert known is not None
    file.write_text(file.read_text(encoding="utf-8").replace(known.run_id, "f" * 32), encoding="utf-8")
    tracker = project.tracker()
    tracker.opened(project.opening(folder))
    assert project.run(tracker).info.run_id not in ("f" * 32, known.run_id)
    assert "has no run ffff" in caplog.text


def test_a_store_that_fails_for_a_while_does_not_end_the_run_and_gets_everything_later(
    project: Project, caplog: pytest.LogCaptureFixture
) -> None:
    tracker = project.tracker()
    tracker.opened(project.opening(project.folder("shaky")))
    first, second, third, _ = SAMPLE.traces
    tracker.step(first)
    alter(project, "ALTER TABLE metrics RENAME TO away")
    tracker.step(second)
    alter(project, "ALTER TABLE away RENAME TO metrics")
    assert "did not take the metrics" in caplog.text
    assert list(project.metrics(tracker, "train/hard")) == [1]
    tracker.step(third)
    assert list(project.metrics(tracker, "train/hard")) == [1, 2, 3]


def test_a_store_that_fails_to_the_end_is_said(project: Project, caplog: pytest.LogCaptureFixture) -> None:
    tracker = project.tracker()
    tracker.opened(project.opening(project.folder("gone")))
    alter(project, "ALTER TABLE metrics RENAME TO away")
    try:
        tracker.finished(sample_run.summary(SAMPLE.traces), sample_run.seed())
    finally:
        alter(project, "ALTER TABLE away RENAME TO metrics")
    assert "MLflow lacks" in caplog.text
    assert project.run(tracker).info.status == "FINISHED"


def alter(project: Project, statement: str) -> None:
    connection = sqlite3.connect(project.base / "mlflow.db")
    with connection:
        connection.execute(statement)
    connection.close()
