"""An evaluation in MLflow: a run of its own, in a real store."""

import logging
from pathlib import Path

import pytest
from evaluation.benches import RED, asks, colours, silent, simulated
from llm.misbehaving import MisbehavingServer
from mlflow.entities import Run

from skillopt_exp.errors import UsageError
from skillopt_exp.evaluation.conduct import conduct
from skillopt_exp.evaluation.evaluate import evaluate
from skillopt_exp.evaluation.tracked import metrics_of, tags_of
from skillopt_exp.tracking.store import connect, resolve

KEPT = "tracking=mlflow"


@pytest.fixture(scope="module")
def store_at(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A launch folder with one store for all: making its tables takes seconds."""
    return tmp_path_factory.mktemp("launch")


def runs_in(base: Path, dataset: str) -> list[Run]:
    client = connect(resolve(None, base))
    found = client.get_experiment_by_name(f"skillopt/{dataset}")
    assert found is not None
    return list(client.search_runs([found.experiment_id]))


def test_an_evaluation_is_a_run_of_its_own_in_mlflow(store_at: Path, server: MisbehavingServer) -> None:
    folder = store_at / "outputs" / "x"
    evaluation, tracked = conduct(asks(RED), colours(store_at, server, KEPT), folder, silent)
    assert tracked is not None
    (run,) = runs_in(store_at, "qa")
    assert run.info.run_id == tracked.run_id
    assert (run.info.status, run.info.run_name) == ("FINISHED", "x")
    assert run.data.metrics == metrics_of(evaluation)
    assert run.data.metrics["test/skill_hard"] == 0.5
    assert run.data.metrics["test/difference_won"] == 10
    assert (
        run.data.metrics["test/skill_input_tokens_a_call"]
        - run.data.metrics["test/control_input_tokens_a_call"]
        == 2
    )
    assert run.data.tags.items() >= tags_of(evaluation).items()
    assert run.data.tags["evaluation_folder"] == "outputs/x"
    assert run.data.params["model.target.name"] == "small"
    names = {each.path for each in connect(resolve(None, store_at)).list_artifacts(run.info.run_id)}
    assert names >= {"summary.json", "config.yaml", "split_manifest.json"}


def test_what_is_unknown_has_no_metric(tmp_path: Path) -> None:
    metrics = metrics_of(evaluate(asks(RED), simulated(tmp_path, "evaluation.test_limit=1"), silent))
    assert "test/skill_soft_low" not in metrics, "one item has no spread"
    assert "usage/skill/cached_tokens" not in metrics
    assert metrics["usage/skill/cost_usd"] == 0.0


def test_a_store_that_cannot_be_used_is_an_error_before_anything_is_asked(
    tmp_path: Path, server: MisbehavingServer
) -> None:
    (tmp_path / "mlflow.db").write_text("this is no database", encoding="utf-8")
    with pytest.raises(UsageError, match="is no SQLite database"):
        conduct(asks(RED), colours(tmp_path, server, KEPT), tmp_path / "x", silent)
    assert server.asked == []
    assert not (tmp_path / "x").exists()


def test_a_store_that_does_not_take_it_loses_nothing_but_the_log(
    store_at: Path, tmp_path: Path, server: MisbehavingServer, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("where a folder should be", encoding="utf-8")
    client = connect(resolve(None, store_at))
    experiment_id = client.create_experiment("broken", artifact_location=(tmp_path / "file").as_uri())
    with caplog.at_level(logging.WARNING):
        bench = colours(store_at, server, KEPT, "tracking.experiment=broken")
        evaluation, tracked = conduct(asks(RED), bench, tmp_path / "x", silent)
    assert tracked is None
    assert "did not take the evaluation" in caplog.text
    assert evaluation.standings["skill"].hard == 0.5
    assert (tmp_path / "x" / "summary.json").is_file()
    (run,) = client.search_runs([experiment_id])
    assert run.info.status == "FAILED"
