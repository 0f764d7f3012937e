"""A sweep in MLflow: one run above those of its jobs, whatever became of them."""

from pathlib import Path

import pytest
from serving import skillopt

from skillopt_exp.tracking.store import connect, resolve

pytestmark = pytest.mark.slow

ROLES = "defaults:\n  - target: {target}\n  - optimizer: simulated\n  - _self_\n"
NO_KEY = "defaults:\n  - openai\n  - _self_\nname: a-model\napi_key_env: A_KEY_THAT_NOBODY_SET\n"
SMALL = ("dataset=demo", "dataset.limit=40", "train.num_epochs=1")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder of configurations: alpha and gamma can be asked, beta has no key."""
    folder = tmp_path / "own"
    (folder / "model" / "target").mkdir(parents=True)
    (folder / "model" / "target" / "keyless.yaml").write_text(NO_KEY, encoding="utf-8")
    for name, target in (("alpha", "simulated"), ("beta", "keyless"), ("gamma", "simulated")):
        (folder / "model" / f"{name}.yaml").write_text(ROLES.format(target=target), encoding="utf-8")
    return folder


def test_one_failed_job_ruins_nothing_and_the_next_command_goes_on_with_it_alone(
    own: Path, tmp_path: Path
) -> None:
    command = ("--config-dir", str(own), "-m", "model=alpha,beta,gamma", "train.seed=1,2", *SMALL)
    done = skillopt(*command, cwd=tmp_path)
    assert done.returncode == 2
    assert "A_KEY_THAT_NOBODY_SET" in done.stderr
    client = connect(resolve(None, tmp_path))
    (experiment,) = client.search_experiments(filter_string="name = 'skillopt/demo'")
    runs = client.search_runs([experiment.experiment_id])
    (parent,) = [run for run in runs if run.data.tags.get("kind") == "sweep"]
    children = {run.info.run_name: run for run in runs if run is not parent}
    assert len(children) == 6
    assert {run.data.tags["mlflow.parentRunId"] for run in children.values()} == {parent.info.run_id}
    for name, run in children.items():
        failed = name.startswith("model=beta")
        assert run.info.status == ("FAILED" if failed else "FINISHED"), name
        assert ("traceback" in run.data.tags) == failed
    assert parent.info.status == "FAILED"
    assert parent.data.metrics["sweep/jobs_failed"] == 2
    artifacts = {each.path for each in client.list_artifacts(parent.info.run_id)}
    kept = {
        "leaderboard.csv",
        "leaderboard.json",
        "leaderboard.png",
        "best_skill.md",
        "multirun.yaml",
        "sweep.json",
    }
    assert artifacts >= kept

    again = skillopt(*command, cwd=tmp_path)
    assert again.returncode == 2
    assert again.stdout.count("kept") >= 4
    runs = client.search_runs([experiment.experiment_id])
    assert len(runs) == 7, "a job that failed again has no second run"


@pytest.mark.parametrize("at_once", [8])
def test_jobs_at_once_on_a_new_store_lose_neither_run_nor_metric(at_once: int, tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_joblib_launcher")
    seeds = ",".join(map(str, range(at_once + 1)))
    done = skillopt(
        "-m", "model=simulated", *SMALL, f"train.seed={seeds}", "hydra/launcher=joblib",
        f"hydra.launcher.n_jobs={at_once}", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    client = connect(resolve(None, tmp_path))
    (experiment,) = client.search_experiments(filter_string="name = 'skillopt/demo'")
    runs = client.search_runs([experiment.experiment_id])
    children = [run for run in runs if "kind" not in run.data.tags]
    assert len(children) == at_once + 1
    assert len({run.data.tags["run_folder"] for run in children}) == at_once + 1
    for run in children:
        assert run.info.status == "FINISHED"
        history = (tmp_path / run.data.tags["run_folder"] / "history.jsonl").read_text().splitlines()
        logged = {point.step for point in client.get_metric_history(run.info.run_id, "train/failures")}
        assert logged == set(range(1, len(history) + 1))
