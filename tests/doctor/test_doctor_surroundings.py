"""What is found about the machine, the keys, the data and the MLflow store."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from doctor.obedient import KEY, Obedient

from skillopt_exp.commands.composing import compose
from skillopt_exp.config.model import EndpointConfig, ModelConfig
from skillopt_exp.config.tracking import Backend, TrackingConfig
from skillopt_exp.doctor import examine
from skillopt_exp.doctor.finding import State, worst
from skillopt_exp.doctor.items import examine_items
from skillopt_exp.doctor.keys import examine_keys
from skillopt_exp.doctor.machine import examine_machine
from skillopt_exp.doctor.store import examine_store
from skillopt_exp.records import Role
from skillopt_exp.tracking.store import connect, resolve


def test_a_machine_that_can_train_is_fine_and_nothing_is_left_behind(tmp_path: Path) -> None:
    findings = examine_machine(tmp_path)
    assert [finding.subject for finding in findings] == ["python", "packages", "launch folder", "disk"]
    assert worst(findings) == 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_a_problem_of_use(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    by_subject = {finding.subject: finding for finding in examine_machine(file)}
    assert by_subject["launch folder"].exit_code == 2
    assert "change into a folder" in by_subject["launch folder"].advice


def roles(**keys: str | None) -> ModelConfig:
    """Both roles at hosts of their own, with the variables of ``keys``."""
    target, optimizer = (
        EndpointConfig(name=role, base_url=f"https://{role}.example/v1", api_key_env=keys.get(role))
        for role in Role
    )
    return ModelConfig(target=target, optimizer=optimizer)


def test_keys_are_told_by_name_with_the_host_that_they_go_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", KEY)
    findings, endpoints = examine_keys(roles(target="FIRST_KEY", optimizer=None))
    assert [(finding.state, finding.said) for finding in findings] == [
        (State.ok, "FIRST_KEY is set; goes to target.example alone")
    ]
    assert set(endpoints) == set(Role)
    assert KEY not in repr(findings)


def test_a_missing_key_leaves_the_other_role_to_be_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", KEY)
    monkeypatch.delenv("SECOND_KEY", raising=False)
    findings, endpoints = examine_keys(roles(target="FIRST_KEY", optimizer="SECOND_KEY"))
    assert [finding.exit_code for finding in findings] == [2, 0]
    assert "SECOND_KEY is not set" in findings[0].said
    assert set(endpoints) == {Role.target}


def test_a_key_for_two_hosts_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIRST_KEY", KEY)
    findings, _ = examine_keys(roles(target="FIRST_KEY", optimizer="FIRST_KEY"))
    assert [finding.state for finding in findings] == [State.warning]
    assert "target.example, optimizer.example" in findings[0].said


def test_an_address_that_would_send_prompts_in_clear_text_is_a_problem() -> None:
    config = roles()
    config.target.base_url = "http://far.example/v1"
    findings, endpoints = examine_keys(config)
    assert worst(findings) == 2
    assert set(endpoints) == {Role.optimizer}


def test_the_data_is_told_with_its_sizes_and_warnings(tmp_path: Path) -> None:
    examined = examine_items(compose(["dataset=demo", "dataset.limit=60"]), base=tmp_path)
    assert examined.findings[0].said.startswith("demo: train 24, val 18, test 18")
    assert any("train has 24 items" in finding.said for finding in examined.findings)
    assert len(examined.knowledge) == 60


def test_items_that_cannot_be_read_are_a_problem_of_data(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"question": "a"}\n{"quest', encoding="utf-8")
    config = compose(["dataset=qa", "dataset.path=items.jsonl"])
    (finding,) = examine_items(config, base=tmp_path).findings
    assert finding.exit_code == 3
    assert "items.jsonl:" in finding.said


def test_settings_that_cannot_go_together_are_found(tmp_path: Path) -> None:
    examined = examine_items(compose(["dataset=demo", "train.batch_size=5000"]), base=tmp_path)
    assert worst(examined.findings) == 2


def mlflow(**keys: str) -> TrackingConfig:
    return TrackingConfig(backend=Backend.mlflow, **keys)


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    finding = examine_store(mlflow(), base=tmp_path)
    assert finding.state is State.ok
    assert "mlflow.db" in finding.said
    assert list(tmp_path.iterdir()) == []


def test_a_store_in_use_is_told_with_its_schema(tmp_path: Path) -> None:
    connect(resolve(None, tmp_path))
    finding = examine_store(mlflow(), base=tmp_path)
    assert finding.state is State.ok
    for words in ("MLflow 3.", "schema ", "reachable, "):
        assert words in finding.said


def test_what_is_no_database_is_a_problem_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "mlflow.db").write_bytes(b"by no means a database" * 100)
    finding = examine_store(mlflow(), base=tmp_path)
    assert (finding.exit_code, "tracking=none" in finding.said) == (2, True)
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.commit()
    finding = examine_store(mlflow(uri="sqlite:///other.db"), base=tmp_path)
    assert "something else" in finding.said
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


def test_a_tracking_server_that_does_not_answer_is_a_problem(obedient: Obedient, tmp_path: Path) -> None:
    address = obedient.url.removesuffix("/v1")
    finding = examine_store(mlflow(uri=address), base=tmp_path)
    assert finding.exit_code == 2
    assert "HTTP" in finding.said
    obedient.close()
    finding = examine_store(mlflow(uri=address), base=tmp_path)
    assert (finding.exit_code, "start the server" in finding.advice) == (2, True)


def test_no_store_is_fine(tmp_path: Path) -> None:
    assert examine_store(TrackingConfig(backend=Backend.none), base=tmp_path).state is State.ok


def test_a_problem_with_the_data_does_not_keep_the_models_from_being_asked(
    obedient: Obedient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)
    settings = [
        f"model.{role}.{key}"
        for role in Role
        for key in (f"base_url={obedient.url}", "name=small", "api_key_env=TEST_MODEL_KEY")
    ]
    config = compose(["dataset=qa", "model=openai_compatible", "tracking=none", *settings])
    findings = list(examine(config, base=tmp_path))
    assert {finding.subject for finding in findings} >= {"target", "optimizer"}
    assert worst(findings) == 3
    assert KEY not in repr(findings)
