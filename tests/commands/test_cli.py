"""The command line as a user meets it: real processes, real files, a real store."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMALL = ["dataset.limit=60", "train.num_epochs=1", "tracking=none"]


def skillopt(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "skillopt_exp", *arguments],
        cwd=cwd,
        env=clean | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"} | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=300,
        check=False,
    )


def only_run(cwd: Path) -> Path:
    (folder,) = (cwd / "outputs").glob("*/*")
    return folder


def test_a_run_leaves_a_skill_and_says_where(tmp_path: Path) -> None:
    done = skillopt("dataset=demo", "model=simulated", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = only_run(tmp_path)
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "finished"
    assert summary["total_steps"] == sum(summary["outcomes"].values())
    history = [json.loads(line) for line in (folder / "history.jsonl").read_text().splitlines()]
    assert len(history) == summary["total_steps"]
    assert all(
        row["edits_applied"] + sum(row["edits_rejected"].values()) == row["edits_proposed"] for row in history
    )
    for said in ("SIMULATED", "from rule seed", str(folder / "best_skill.md"), str(folder / "summary.json")):
        assert said in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["dataset=demo"], 2, ["DEEPSEEK_API_KEY", "model=simulated"]),
        (["dataset=searchqa", "model=simulated"], 3, ["dataset.split_dir", "dataset.path"]),
        (
            ["dataset=searchqa"],
            2,
            ["DEEPSEEK_API_KEY", "model=simulated", "dataset.split_dir", "dataset.path"],
        ),
        (["dataset=qa", "dataset.path=nowhere.jsonl", "model=simulated"], 3, ["nowhere.jsonl"]),
        (["train.batchsize=3"], 2, ["did you mean train.batch_size?"]),
        (["trian", "dataset=demo"], 2, ["did you mean train?"]),
        (["dataset=demo", "model=simulated", "train.batch_size=5000"], 2, ["train.batch_size is 5000"]),
        (["model=simulated", "train.skill_init=missing.md"], 2, ["missing.md"]),
        (["rule", "train_size=0"], 2, ["train_size is 0"]),
        (["rule"], 2, ["rule needs train_size"]),
        (["rule", "train_size=many"], 2, ["train_size=many"]),
        (["rule", "train_size=[x"], 2, ["train_size=[x"]),
    ],
)
def test_bad_input_gets_one_message_and_leaves_nothing(
    arguments: list[str], code: int, said: list[str], tmp_path: Path
) -> None:
    failed = skillopt(*arguments, cwd=tmp_path)
    assert failed.returncode == code, failed.stderr
    assert failed.stderr.startswith("error: ")
    assert "Traceback" not in failed.stderr + failed.stdout
    for words in said:
        assert words in failed.stderr
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


def test_what_a_run_warns_of_on_its_way_looks_like_its_other_warnings(tmp_path: Path) -> None:
    capped = skillopt("model=simulated", *SMALL, "budget.calls=60", cwd=tmp_path)
    assert capped.returncode == 5
    assert "\nwarning  50 % of budget.calls are spent: 30 calls\n" in capped.stdout
    assert "[WARNING]" not in capped.stdout + capped.stderr
    assert "50 % of budget.calls" in (only_run(tmp_path) / "skillopt_exp.log").read_text(encoding="utf-8")
    (tmp_path / "again").mkdir()
    resumed = skillopt("resume", f"run={only_run(tmp_path)}", "budget.calls=70", cwd=tmp_path / "again")
    assert resumed.returncode == 5
    assert "\nwarning  " in resumed.stdout
    assert resumed.stderr.count("\n") == 1, "the one message"


def test_options_may_stand_between_overrides(tmp_path: Path) -> None:
    shown = skillopt("dataset=qa", "--cfg", "job", "train.seed=7", "-p", "train", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "seed: 7" in shown.stdout


def test_a_key_on_the_command_line_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    refused = skillopt("-m", "+llm.api_key=sk-demo-000", "dataset=demo", cwd=tmp_path)
    assert refused.returncode == 2
    assert "sk-demo-000" not in refused.stderr + refused.stdout
    assert list(tmp_path.iterdir()) == []


def test_hydras_own_options_work(tmp_path: Path) -> None:
    helped = skillopt("--help", cwd=tmp_path)
    assert helped.returncode == 0
    for words in ("dataset: ", "searchqa", "rule", "serve-simulated", "model=simulated"):
        assert words in helped.stdout
    composed = skillopt("dataset=searchqa", "--cfg", "job", cwd=tmp_path)
    assert composed.returncode == 0
    assert "deepseek-v4-flash" in composed.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_runs_each_job_in_a_folder_of_its_own(tmp_path: Path) -> None:
    swept = skillopt(
        "-m", "dataset=demo", "model=simulated", *SMALL, "optimizer.learning_rate=1,3", cwd=tmp_path
    )
    assert swept.returncode == 0, swept.stderr
    summaries = sorted(tmp_path.glob("multirun/demo-learning_rate/*/summary.json"))
    assert len(summaries) == 2


def test_a_sweep_over_the_files_of_a_group_needs_no_list_of_them(tmp_path: Path) -> None:
    swept = skillopt(
        "-m", "model=simulated", *SMALL, "train.num_epochs=0", "gate=glob(s*,exclude=si*)", cwd=tmp_path
    )
    assert swept.returncode == 0, swept.stderr
    assert len(list(tmp_path.glob("multirun/demo-gate/*/summary.json"))) == 2


def test_a_skill_to_start_from_is_used(tmp_path: Path) -> None:
    (tmp_path / "seed.md").write_text("# Seed\n\n- Résumé first.\n", encoding="utf-8")
    done = skillopt(
        "dataset=demo",
        "model=simulated",
        *SMALL,
        "train.num_epochs=0",
        "train.skill_init=seed.md",
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    best = only_run(tmp_path) / "best_skill.md"
    assert best.read_text(encoding="utf-8").strip() == "# Seed\n\n- Résumé first."


def test_a_console_that_knows_no_unicode_is_no_reason_to_die(tmp_path: Path) -> None:
    items = [
        {
            "question": f"Où est l'objet n° {i} → ?",
            "answers": f"réponse № {i}",
            "context": "[DOC] [TLE] ☃ [PAR] ☃",
        }
        for i in range(30)
    ]
    (tmp_path / "fragen.jsonl").write_text(
        "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), encoding="utf-8"
    )
    done = skillopt(
        "dataset=qa",
        "dataset.path=fragen.jsonl",
        "model=simulated",
        "tracking=none",
        "train.num_epochs=1",
        cwd=tmp_path,
        PYTHONIOENCODING="cp1252",
        LC_ALL="C",
    )
    assert done.returncode == 0, done.stderr
    assert "réponse" in (only_run(tmp_path) / "test" / "best.jsonl").read_text(encoding="utf-8")
