"""A job's key: the same job is found again, another one never taken for it."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.commands.composing import compose_raw
from skillopt_exp.config.resolved import flat
from skillopt_exp.sweeps.keys import JobConfig, job_keys
from skillopt_exp.sweeps.names import job_name, sweep_name


def keys(*commands: str, base: Path = Path("/nowhere")) -> tuple[str, ...]:
    """The keys of the jobs with these overrides."""
    jobs = [JobConfig(flat(compose_raw(["model=simulated", *each.split()])), {}) for each in commands]
    return job_keys(jobs, base=base)


def test_a_wider_grid_finds_the_jobs_of_the_narrow_one() -> None:
    narrow = keys("train.seed=1", "train.seed=2")
    wide = keys("train.seed=3", "train.seed=2", "train.seed=1")
    assert wide[1:] == narrow[::-1]
    assert len(set(wide)) == 3


@pytest.mark.parametrize(
    "other",
    [
        "budget.usd=3",
        "model.target.max_concurrency=2",
        "tracking=none",
        "sweep.on_error=stop",
    ],
)
def test_what_affects_the_cost_or_nothing_leaves_a_job_the_same(other: str) -> None:
    assert keys("train.seed=1") == keys(f"train.seed=1 {other}")


@pytest.mark.parametrize("other", ["train.seed=2", "gate=soft", "dataset.limit=9"])
def test_what_affects_the_result_makes_another_job(other: str) -> None:
    assert keys("") != keys(other)


def test_jobs_that_differ_in_their_cost_alone_are_told_apart() -> None:
    assert len(set(keys("gradient.analyst_workers=1", "gradient.analyst_workers=8"))) == 2


def test_two_files_of_a_group_are_two_jobs_though_they_say_the_same() -> None:
    same = flat(compose_raw(["model=simulated"]))
    alpha, gamma = JobConfig(same, {"model": "alpha"}), JobConfig(same, {"model": "gamma"})
    alone = {*job_keys([alpha], base=Path()), *job_keys([gamma], base=Path())}
    assert len(alone) == 1
    assert len(set(job_keys([alpha, gamma, alpha], base=Path()))) == 2


def test_jobs_that_differ_in_the_sweeps_own_keys_alone_are_one_job() -> None:
    assert len(set(keys("sweep.test_all=true", "sweep.test_all=false", ""))) == 1


def test_a_job_on_changed_files_is_another_job(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text("one\n")
    command = "dataset=qa dataset.path=items.jsonl"
    before = keys(command, base=tmp_path)
    assert before == keys(command, base=tmp_path)
    (tmp_path / "items.jsonl").write_text("two\n")
    assert before != keys(command, base=tmp_path)


def test_files_that_cannot_be_read_through_are_left_to_the_run(tmp_path: Path) -> None:
    assert len(set(keys("train.skill_init=/dev/zero", "train.skill_init=missing.md", base=tmp_path))) == 2


words = st.text(st.characters(codec="utf-8"), max_size=40)


@given(dataset=words, swept=st.lists(words, max_size=4))
def test_every_sweep_has_a_name_that_is_a_folder(dataset: str, swept: list[str]) -> None:
    name = sweep_name(dataset, swept)
    assert name.strip(". ")
    assert not set(name) & set("/\\\0\n")
    assert len(name) <= 80


@pytest.mark.parametrize(
    ("swept", "name"),
    [
        ({"optimizer.learning_rate": "3", "train.batch_size": "20"}, "learning_rate=3 batch_size=20"),
        ({"model/target": "ollama", "+experiment": "a"}, "target=ollama experiment=a"),
        (
            {"model.target.name": "a", "model.optimizer.name": "b"},
            "model.target.name=a model.optimizer.name=b",
        ),
        ({}, "the only job"),
    ],
)
def test_a_job_is_called_by_what_tells_it_from_its_siblings(swept: dict[str, str], name: str) -> None:
    assert job_name(swept) == name
