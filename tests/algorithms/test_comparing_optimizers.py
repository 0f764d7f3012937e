"""Two optimizers on equal calls, by one command, in one MLflow experiment."""

import json
from pathlib import Path

import pytest
from serving import skillopt

from skillopt_exp.tracking.store import connect, resolve


@pytest.mark.slow
def test_one_sweep_compares_skillopt_and_gepa_on_equal_attempts(tmp_path: Path) -> None:
    done = skillopt(
        "-m", "dataset=demo", "dataset.limit=160", "model=simulated", "optimizer=skillopt,gepa",
        "sweep.test_all=true", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    client = connect(resolve(None, tmp_path))
    left = [json.loads(file.read_text()) for file in (tmp_path / "multirun").rglob("mlflow.json")]
    assert len({each["experiment_id"] for each in left}) == 1
    found = [client.get_run(each["run_id"]) for each in left]
    runs = {run.data.tags["choice.optimizer"]: run for run in found}
    assert runs.keys() == {"skillopt", "gepa"}
    allowed = int(runs["gepa"].data.params["optimizer.max_metric_calls"])
    attempts = {}
    for name, run in runs.items():
        assert run.info.status == "FINISHED"
        assert run.data.metrics["test_delta_hard"] > 0.2
        used = [
            run.data.metrics[f"usage/target/{stage}/{kind}"]
            for stage in ("rollout", "selection")
            for kind in ("calls", "reused")
        ]
        attempts[name] = sum(used)
    # What is expected of SkillOpt: how soon evaluations end, and what is asked ahead of it, is chance.
    assert 0.5 * allowed < attempts["skillopt"] < 1.5 * allowed
    assert 0.7 * allowed < attempts["gepa"] <= allowed
    baselines = {
        json.loads(file.read_text())["baseline_test_hard"]
        for file in (tmp_path / "multirun").rglob("summary.json")
    }
    assert len(baselines) == 1, "the same items, the same seed skill"
