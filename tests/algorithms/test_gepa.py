"""``optimizer=gepa``: whole runs on the demo, with the simulated models and with scripted ones."""

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from planning.rehearsal import SETTINGS
from running import all_files, history, run
from scripted import Answer, EchoTask, ScriptedChat, items
from serving import ROOT

from skillopt_exp.algorithms.gepa import Gepa
from skillopt_exp.commands.composing import compose
from skillopt_exp.decide import Decision, decide
from skillopt_exp.errors import BudgetError, DataError, ProviderError, UsageError
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Settings, Trainer
from skillopt_exp.records import (
    Evidence,
    Item,
    Message,
    Outcome,
    Progress,
    Rollout,
    ScoredSkill,
    Skill,
    Split,
    Splits,
    StepTrace,
    TrainState,
)
from skillopt_exp.watch import Watcher

ABOUT_THE_PROCESS = {"run.json", "mlflow.json", "calls.jsonl", "report.html"}
SIZES = {Split.train: 240, Split.val: 120, Split.test: 840}


def searched(folder: Path, *overrides: str) -> Any:
    return run(folder, "optimizer=gepa", *overrides)


@pytest.mark.slow
def test_the_demo_gains_over_twenty_points(tmp_path: Path) -> None:
    summary = searched(tmp_path, "dataset.limit=null", "train.num_epochs=3")
    assert summary.evidence is Evidence.clear
    assert summary.baseline_test_hard < 0.45
    assert summary.test_hard > 0.70
    assert summary.meets_seed_rule


def test_a_small_demo_gains_within_its_attempts_and_each_verdict_is_told(tmp_path: Path) -> None:
    summary = searched(tmp_path, "dataset.limit=160", "optimizer.max_metric_calls=640")
    assert summary.evidence is Evidence.clear
    assert summary.test_delta_hard > 0.20
    attempts = {name: usage.calls + usage.reused for name, usage in summary.usage.items()}
    assert 480 < attempts["target/rollout"] + attempts["target/selection"] <= 640
    rows = history(tmp_path)
    assert [row["step"] for row in rows] == list(range(1, len(rows) + 1))
    assert {(row["outcome"], row["by"]) for row in rows} >= {
        ("accepted", ""),
        ("rejected", "screen"),
        ("unchanged", ""),
    }
    screened = next(row for row in rows if row["by"] == "screen")
    assert "on its minibatch" in screened["detail"]
    assert screened["candidate_hard"] is None
    assert all(len(row["item_ids"]) % 4 == 0 for row in rows), "whole minibatches"
    best = max(rows, key=lambda row: row["candidate_hard"] or 0.0)
    assert summary.best_selection_hard == best["candidate_hard"] == rows[-1]["best_hard"]
    assert len((tmp_path / "best_skill.md").read_text().splitlines()) > 1


def test_one_seed_is_one_run_whatever_the_concurrency(tmp_path: Path) -> None:
    runs = []
    for slots in (1, 64):
        folder = tmp_path / str(slots)
        folder.mkdir()
        limits = [f"model.{role}.max_concurrency={slots}" for role in ("target", "optimizer")]
        searched(folder, *limits, "optimizer.max_metric_calls=200")
        files = all_files(folder)
        runs.append({name: files[name] for name in files if name not in ABOUT_THE_PROCESS | {"config.yaml"}})
    assert runs[0] == runs[1]


def test_another_seed_is_another_search(tmp_path: Path) -> None:
    left = {}
    for seed in (1, 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        searched(folder, f"train.seed={seed}", "optimizer.max_metric_calls=100")
        left[seed] = all_files(folder)
    assert left[1]["baseline/selection.jsonl"] == left[2]["baseline/selection.jsonl"]
    assert left[1]["steps/step_0001/rollouts.jsonl"] != left[2]["steps/step_0001/rollouts.jsonl"]


def test_the_answers_of_test_items_reach_no_decision(tmp_path: Path) -> None:
    rows = [
        {
            "id": f"i{i}",
            "question": f"Which number follows {i}?",
            "answers": f"{i + 1} metres",
            "split": ("train", "val", "test")[i % 3],
        }
        for i in range(60)
    ]
    left = {}
    for name, shift in (("true", 0), ("permuted", 1)):
        test = [row for row in rows if row["split"] == "test"]
        answers = [row["answers"] for row in test]
        moved = dict(zip((row["id"] for row in test), answers[shift:] + answers[:shift], strict=True))
        folder = tmp_path / name
        folder.mkdir()
        lines = [json.dumps(row | {"answers": moved.get(row["id"], row["answers"])}) for row in rows]
        (folder / "items.jsonl").write_text("\n".join(lines), encoding="utf-8")
        source = ("dataset=qa", "dataset.path=items.jsonl", "dataset.limit=null", "dataset.split_field=split")
        searched(folder, *source, "optimizer.max_metric_calls=200")
        left[name] = all_files(folder)
    differing = {name for name in left["true"] if left["true"][name] != left["permuted"].get(name)}
    allowed = ABOUT_THE_PROCESS | {"items.jsonl", "split_manifest.json", "summary.json"}
    assert {name for name in differing if not name.startswith("test/")} <= allowed
    assert any(name.startswith("test/") for name in differing), "the permutation reached the test rollouts"


def test_the_library_prints_nothing_and_leaves_no_file_of_its_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    launch, folder = tmp_path / "launch", tmp_path / "run"
    launch.mkdir()
    folder.mkdir()
    monkeypatch.chdir(launch)
    searched(folder, "optimizer.max_metric_calls=100")
    assert capfd.readouterr() == ("", "")
    assert list(launch.iterdir()) == []
    kinds = {Path(name).suffix for name in all_files(folder)}
    assert kinds == {"", ".csv", ".html", ".json", ".jsonl", ".lock", ".md", ".png", ".yaml"}


def test_without_the_store_a_resumed_search_that_comes_out_otherwise_is_refused(tmp_path: Path) -> None:
    """The answers to the first steps are gone, and the model says something else this time."""
    told = Told()
    solve(told, by_words("- Be exact."), budget=60)
    earlier = told.progress(2)
    with pytest.raises(DataError, match=r"step 1 comes out otherwise than it was recorded.*cache\.path"):
        solve(Told(), by_words("- Be brief."), budget=60, progress=earlier)


def test_the_steps_of_an_earlier_process_are_gone_through_and_not_told_again() -> None:
    whole = Told()
    state = solve(whole, by_words("- Be exact."), budget=120)
    assert len(whole.steps) > 5
    for steps in range(1, len(whole.steps)):
        again = Told()
        assert solve(again, by_words("- Be exact."), budget=120, progress=whole.progress(steps)) == state
        assert again.steps == whole.steps[steps:]
        assert again.gone_through == list(range(1, steps + 1))


def test_the_cap_on_calls_ends_a_search_in_good_order(tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match=r"budget\.calls is reached"):
        searched(tmp_path, "budget.calls=100")
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["status"] == "stopped(budget)"
    assert sum(usage["calls"] for usage in summary["usage"].values()) == 100


def test_a_search_ends_where_the_best_skill_solves_all_of_val() -> None:
    told = Told()
    solve(told, by_words("- Right."), budget=1000)
    assert told.steps[-1].judged.verdict.outcome is Outcome.accepted
    assert told.steps[-1].state.best.scores[0].hard == 1.0


@pytest.mark.parametrize(
    ("proposed", "by", "detail"),
    [
        ("- The answer to it is Ouagadougou.", "leak", "answer of val item v0"),
        (f"- {'Say it in more and more words. ' * 20}", "length", "at most 40"),
    ],
)
def test_a_skill_that_may_not_be_is_refused_before_it_meets_the_target(
    proposed: str, by: str, detail: str
) -> None:
    told, val = Told(), (Item("v0", "Where is it?", ("Ouagadougou",)), *items("v", 3)[1:])
    target = ScriptedChat(lambda messages, stage: "no")
    solve(told, by_words(proposed), budget=40, target=target, data=Splits(items("t", 8), val, items("x", 2)))
    assert {(str(step.judged.verdict), step.judged.selection) for step in told.steps} == {
        (f"rejected(by: {by})", ())
    }
    assert detail in told.steps[0].judged.verdict.detail
    assert not any(proposed[:20] in messages[0].content for _, messages in target.asked)


def test_what_is_no_clean_skill_is_no_proposal() -> None:
    told = Told()
    solve(told, by_words("- Answer {question} in one word."), budget=40)
    results = Counter(result.rejection for step in told.steps for result in step.edits)
    assert [str(reason) for reason in results] == ["placeholders"]
    assert {step.judged.verdict.outcome for step in told.steps} == {Outcome.unchanged}


def test_minibatches_that_teach_nothing_are_part_of_the_next_step() -> None:
    """All train items are solved: there is one step in the end, and it says what was attempted."""
    told = Told()
    target = ScriptedChat(lambda messages, stage: "yes" if stage is Stage.rollout else "no")
    solve(told, by_words("- Never."), budget=60, target=target)
    (step,) = told.steps
    assert len(step.rollouts) == target.count(Stage.rollout) > 20
    assert (step.judged.verdict.outcome, step.patches[0].edits) == (Outcome.unchanged, ())


def test_an_optimizer_that_never_can_be_read_ends_the_run() -> None:
    told = Told()
    with pytest.raises(ProviderError, match="no reply of the optimizer model could be read in 5 steps"):
        solve(told, lambda messages, stage: "no JSON", budget=1000)
    assert len(told.steps) == 5


def decided(*overrides: str) -> Decision:
    return decide(compose(["model=simulated", "optimizer=gepa", *overrides]), SIZES)


def test_the_attempts_are_those_that_skillopt_expects_to_make() -> None:
    decision = decided("gate.early_stop=none")
    # 3 epochs of 240 items in 12 steps; at the end of two of them 20 items under two skills; the seed, one
    # candidate a step and two guidances on 120 val items.
    assert decision.algorithm == Gepa(3 * 240 + 2 * 40 + 120 * (1 + 36 + 2))
    (origin,) = decision.origins
    assert (origin.key, origin.value) == ("optimizer.max_metric_calls", "5480")
    # A quarter of the candidates is accepted; the others see 61 of the 120 items, whatever the slots.
    asked = 120 * 12 * (0.25 + 0.75 * 61 / 120)
    for slots in (1, 64):
        early = decided("train.num_epochs=1", f"model.target.max_concurrency={slots}")
        assert early.algorithm == Gepa(round(240 + 120 + asked))
    assert decided("optimizer.max_metric_calls=700").origins[0].source == "yours; SkillOpt expects 3798"


def test_too_few_attempts_and_keys_that_nobody_reads_are_told() -> None:
    with pytest.raises(UsageError, match=r"max_metric_calls is 200.*need 248: give 248 or more"):
        decided("optimizer.max_metric_calls=200")
    assert decided().warnings == ()
    assert (
        "optimizer=gepa does not read gradient.failure_only" in decided("gradient.failure_only=true").warnings
    )
    both = decided("train.num_epochs=2", "optimizer.max_metric_calls=700").warnings
    assert both == ("optimizer=gepa does not read train.num_epochs",)
    assert any("cache.mode=none" in warning for warning in decided("cache.mode=none").warnings)


def test_without_the_package_the_command_that_installs_it_is_named(tmp_path: Path) -> None:
    """In an environment that is this one, but for the package."""
    (installed,) = {path for path in map(Path, sys.path) if (path / "gepa").is_dir()}
    for entry in installed.iterdir():
        if not entry.name.startswith("gepa"):
            (tmp_path / entry.name).symlink_to(entry)
    done = subprocess.run(
        [sys.executable, "-S", "-m", "skillopt_exp", "model=simulated", "optimizer=gepa"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "pip install 'gepa>=0.1.4,<0.2'" in done.stderr
    assert "Traceback" not in done.stderr


class Told(Watcher):
    """Keeps what a run tells."""

    def __init__(self) -> None:
        self.seed: ScoredSkill | None = None
        self.steps: list[StepTrace] = []
        self.gone_through: list[int] = []

    def baseline(self, seed: ScoredSkill, selection: Sequence[Rollout]) -> None:
        self.seed = seed

    def step(self, trace: StepTrace) -> None:
        self.steps.append(trace)

    def replayed(self, trace: StepTrace) -> None:
        self.gone_through.append(trace.record.step)

    def progress(self, steps: int) -> Progress:
        """What a process left that ended after so many steps."""
        assert self.seed is not None
        done = self.steps[:steps]
        scored = [trace.judged.candidate for trace in done if trace.judged.selection]
        return Progress(
            self.seed, tuple(trace.record for trace in done), done[-1].state, (self.seed, *scored)
        )


def by_words(skill: str) -> Answer:
    """An optimizer that always proposes this skill, with one more word each time."""
    return lambda messages, stage: json.dumps({"new_skill": f"{skill}{' Truly.' * _rules(messages)}"})


def _rules(messages: Sequence[Message]) -> int:
    return messages[0].content.partition("<skill>")[2].partition("</skill>")[0].count(".")


def solve(
    told: Told,
    optimizer: Answer,
    *,
    budget: int,
    target: ScriptedChat | None = None,
    data: Splits | None = None,
    progress: Progress | None = None,
    settings: Settings = SETTINGS,
) -> TrainState:
    """A search with a target that is right where the skill says so, and else by the item."""

    def right(messages: Sequence[Message], stage: Stage) -> str:
        skill, question = messages[0].content, messages[1].content
        return "yes" if "Right" in skill or len(skill + question) % 3 == 0 else "no"

    trainer = Trainer(
        EchoTask(),
        Splits(items("t", 8), items("v", 3), items("x", 2)) if data is None else data,
        ScriptedChat(right) if target is None else target,
        ScriptedChat(optimizer),
        replace(settings, minibatch_size=4, max_skill_tokens=40),
        told,
    )
    return asyncio.run(Gepa(budget).optimizer(trainer).train(Skill(), progress))
