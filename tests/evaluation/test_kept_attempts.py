"""A run's own attempts at test stand in for new ones where they answer exactly the same question."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.benches import asks, colours, silent, simulated
from llm.misbehaving import Asked, MisbehavingServer, says
from running import all_files, run

from skillopt_exp.errors import DataError
from skillopt_exp.evaluation.evaluate import Question, evaluate
from skillopt_exp.evaluation.kept import kept_by, seen_by
from skillopt_exp.evaluation.source import NO_SKILL, NamedSkill, find_skill
from skillopt_exp.records import ACall, Skill, Split
from skillopt_exp.runs.folder import RunFolder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The launch folder of a finished run ``r``; nobody writes to it."""
    base = tmp_path_factory.mktemp("finished")
    run(base / "r", base=base)
    return base


def of_run(base: Path) -> Question:
    return asks(find_skill("r", key="skill", base=base))


def test_a_run_is_not_asked_again_what_it_has_tested(finished: Path) -> None:
    found = evaluate(of_run(finished), simulated(finished), silent)
    anew = evaluate(replace(of_run(finished), reuse=False), simulated(finished), silent)
    assert found.usage.calls == 0
    assert anew.usage.calls == 48
    assert found.standings == anew.standings
    assert found.difference == anew.difference
    assert found.scored["skill"].attempts == anew.scored["skill"].attempts
    assert any("test/best.jsonl" in note for note in found.notes)
    assert any("test/baseline.jsonl" in note for note in found.notes), "its first skill was empty"
    assert found.extra_a_call == ACall(0, None, None)
    assert any("reuse=false" in note for note in found.notes)


def test_a_served_model_gets_no_request_for_what_a_run_has_tested(
    tmp_path: Path, server: MisbehavingServer
) -> None:
    def optimizer_or_target(asked: Asked) -> object:
        edits = '{"edits": [{"op": "append", "content": "Say red."}], "failure_summary": "green"}'
        return says(edits) if asked.body["model"] == "large" else decide(asked)

    decide = server.decide
    assert decide is not None
    server.decide = optimizer_or_target  # type: ignore[assignment]
    bench = colours(tmp_path, server)
    keys = [
        f"{name}={bench.resolved.flat[name]}"
        for name in ("dataset.path", "dataset.split_field", "model.target.base_url", "model.target.name")
    ]
    roles = [
        "model=openai_compatible",
        "model.optimizer.name=large",
        f"model.optimizer.base_url={server.url}",
    ]
    none = ["model.target.api_key_env=null", "model.optimizer.api_key_env=null"]
    summary = run(tmp_path / "r", "dataset=qa", *keys, *roles, *none, "dataset.limit=null", base=tmp_path)
    assert summary.total_accepts == 1
    asked = len(server.asked)
    found = evaluate(of_run(tmp_path), bench, silent)
    assert (len(server.asked), found.usage.reused) == (asked, 0), "neither asked nor looked up"
    assert found.standings["skill"].hard == summary.test_hard == 0.5
    anew = replace(of_run(tmp_path), reuse=False)
    assert evaluate(anew, bench, silent).extra_a_call == ACall(20, 2.0, 0.0)


@pytest.mark.parametrize(
    ("override", "why"),
    [
        ("dataset.scorer=contains", "dataset.scorer is contains now and was exact then"),
        ("dataset.instruction='Name it.'", "dataset.instruction"),
        ("model.target.temperature=0.5", "model.target.temperature is 0.5 now and was null then"),
        ("model.target.name=other", "model.target.name"),
        ("evaluation.test_limit=5", "evaluation.test_limit"),
        ("dataset.limit=79", "its test items are others"),
        ("dataset.shuffle_answers=true", "its test items are others"),
    ],
)
def test_another_question_is_asked_anew(override: str, why: str, finished: Path) -> None:
    bench = simulated(finished, override)
    kept = kept_by(RunFolder.open(finished / "r"), bench)
    assert kept.by_digest == {}
    assert kept.why_not.startswith(why)


def test_what_only_costs_differently_is_the_same_question(finished: Path) -> None:
    bench = simulated(finished, "model.target.max_concurrency=3", "train.seed=9", "gate=soft")
    assert len(kept_by(RunFolder.open(finished / "r"), bench).by_digest) == 2


def test_other_splits_are_asked_anew_without_a_word(finished: Path) -> None:
    kept = kept_by(RunFolder.open(finished / "r"), simulated(finished, split=Split.val))
    assert (kept.by_digest, kept.why_not) == ({}, "")


def test_a_skill_that_was_edited_since_is_asked_about(finished: Path, tmp_path: Path) -> None:
    run_folder = RunFolder.open(finished / "r")
    edited = NamedSkill(
        "r", Skill(run_folder.best_skill.read_text(encoding="utf-8") + "- Be brief."), run_folder
    )
    found = evaluate(asks(edited), simulated(finished), silent)
    assert found.scored["skill"].usage.calls == 24
    assert found.scored["control"].usage.calls == 0


def test_the_attempts_of_a_run_serve_the_other_skill_too(finished: Path) -> None:
    named = find_skill("r", key="b", base=finished)
    question = Question("compare", {"a": NO_SKILL, "b": named}, ("b", "a"))
    found = evaluate(question, simulated(finished), silent)
    assert found.usage.calls == 0


def test_an_unfinished_run_has_nothing_to_reuse(tmp_path: Path, server: MisbehavingServer) -> None:
    folder = RunFolder.create(tmp_path / "r", prompts="p")
    assert kept_by(folder, simulated(tmp_path)).why_not == "the run is not finished"


def test_a_run_that_was_stopped_has_nothing_to_reuse(finished: Path, tmp_path: Path) -> None:
    shutil.copytree(finished / "r", tmp_path / "r")
    folder = RunFolder.open(tmp_path / "r")
    text = folder.summary.read_text(encoding="utf-8")
    folder.summary.write_text(text.replace('"finished"', '"stopped(user)"'), encoding="utf-8")
    assert kept_by(folder, simulated(finished)).why_not == "the run is not finished"


def test_a_run_of_another_version_is_not_reused(finished: Path) -> None:
    folder = RunFolder.open(finished / "r")
    older = replace(folder, marker=replace(folder.marker, skillopt_exp="0.0.1"))
    assert kept_by(older, simulated(finished)).why_not.startswith("the run was made by skillopt_exp 0.0.1")


def test_items_that_a_run_has_seen_are_counted(finished: Path) -> None:
    folder = RunFolder.open(finished / "r")
    assert seen_by(folder, simulated(finished)) == 0
    assert seen_by(folder, simulated(finished, split=Split.val)) == 24
    assert 0 < seen_by(folder, simulated(finished, "dataset.split_seed=7")) < 24
    found = evaluate(of_run(finished), simulated(finished, "dataset.split_seed=7"), silent)
    assert any("were in the train or val split" in note for note in found.notes)


def test_equal_ids_of_other_sources_are_other_items(finished: Path, server: MisbehavingServer) -> None:
    own = RunFolder.open(finished / "r")
    balls = colours(finished, server)
    text = own.manifest.read_text(encoding="utf-8")
    try:
        own.manifest.write_text(text.replace('"demo-', '"ball'), encoding="utf-8")
        assert seen_by(own, balls) == 0
    finally:
        own.manifest.write_text(text, encoding="utf-8")


def test_a_damaged_run_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    run(tmp_path / "r", base=tmp_path)
    (tmp_path / "r" / "test" / "best.jsonl").write_text("{}\n{}\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"best\.jsonl:1"):
        evaluate(of_run(tmp_path), simulated(tmp_path), silent)


def test_a_run_s_folder_stays_as_it_is(tmp_path: Path) -> None:
    run(tmp_path / "r", base=tmp_path)
    before = all_files(tmp_path / "r")
    evaluate(of_run(tmp_path), simulated(tmp_path), silent)
    evaluate(replace(of_run(tmp_path), reuse=False), simulated(tmp_path, "dataset.limit=60"), silent)
    assert all_files(tmp_path / "r") == before
