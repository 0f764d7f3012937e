"""``transfer`` as a user meets it."""

import csv
import json
from pathlib import Path

import pytest
from serving import skillopt

from skillopt_exp import commands
from skillopt_exp.commands.transfer import DATASETS, MODELS, Entry, entries
from skillopt_exp.errors import UsageError

SMALL = ("dataset.limit=40", "tracking=none")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    (tmp_path / "good.md").write_text(
        "- Answer with the bare name.\n- Commit to one answer.\n", encoding="utf-8"
    )
    rows = [
        {"id": str(i), "question": f"Which colour has ball {i}?", "answers": ("dark blue", "red")[i % 2]}
        for i in range(40)
    ]
    (tmp_path / "my balls.jsonl").write_text(
        "".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8"
    )


def cells_in(base: Path) -> list[dict[str, str]]:
    (folder,) = (base / "outputs" / "transfer").iterdir()
    text = (folder / "transfer.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def test_a_matrix_goes_on_past_cells_that_fail_and_says_so(tmp_path: Path) -> None:
    models = "models=[simulated,deepseek,vllm,nosuch]"
    datasets = "datasets=[demo,qa:my balls.jsonl,qa:gone.jsonl]"
    done = skillopt("transfer", "skill=good.md", models, datasets, *SMALL, cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert done.stderr == ""
    cells = cells_in(tmp_path)
    assert [(cell["model"], cell["dataset"]) for cell in cells[:5]] == [
        ("simulated", "demo"),
        ("deepseek", "demo"),
        ("vllm", "demo"),
        ("nosuch", "demo"),
        ("simulated", "qa:my balls.jsonl"),
    ]
    good = [cell for cell in cells if not cell["error"]]
    assert [(cell["model"], cell["num_items"]) for cell in good] == [("simulated", "12")] * 2
    for cell in good:
        gain = float(cell["skill_hard"]) - float(cell["baseline_hard"])
        assert float(cell["delta_hard"]) == pytest.approx(gain)
    reasons = {(cell["model"], cell["dataset"]): cell["error"] for cell in cells}
    assert "DEEPSEEK_API_KEY is not set" in reasons["deepseek", "demo"]
    assert "model.target.name has no value yet" in reasons["vllm", "demo"]
    assert "model=nosuch names no file of conf/model" in reasons["nosuch", "demo"]
    assert "gone.jsonl does not exist" in reasons["simulated", "qa:gone.jsonl"]
    for said in (
        "SIMULATED: simulated",
        "12/12  nosuch on qa:gone.jsonl: failed",
        "deepseek on demo, deepseek on qa",
    ):
        assert said in done.stdout


def test_a_matrix_without_failures_ends_with_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        commands.run(["transfer", "skill=good.md", "datasets=[demo]", "model=simulated", "out=m", *SMALL])
        == 0
    )
    matrix = json.loads((tmp_path / "m" / "transfer.json").read_text(encoding="utf-8"))
    (cell,) = matrix["cells"]
    assert (cell["model"], cell["simulated"], cell["error"]) == ("simulated", True, "")
    summary = json.loads((tmp_path / "m" / cell["folder"] / "summary.json").read_text(encoding="utf-8"))
    assert summary["pair"]["hard"] == cell["delta_hard"]
    assert "1/1  simulated on demo: done" in capsys.readouterr().out


def test_a_matrix_says_where_its_runs_are_in_mlflow(tmp_path: Path) -> None:
    done = skillopt(
        "transfer", "skill=good.md", "datasets=[demo]", "model=simulated", "dataset.limit=40", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert f"MLflow   mlflow ui --backend-store-uri sqlite:///{tmp_path}/mlflow.db" in done.stdout
    assert "/#/experiments/1\n" in done.stdout


def test_an_entry_may_name_the_target_or_the_file() -> None:
    assert entries(MODELS, ["ollama:qwen3:8b", "deepseek", "deepseek"], []) == [
        Entry(MODELS, "ollama:qwen3:8b", ("model=ollama",), "qwen3:8b"),
        Entry(MODELS, "deepseek", ("model=deepseek",)),
    ]
    assert entries(DATASETS, None, ["dataset=qa", "model=x"]) == [Entry(DATASETS, "qa")]
    assert entries(DATASETS, None, []) == [Entry(DATASETS, "default")]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "transfer needs skill"),
        (["skill=none"], "skill=none is empty"),
        (["skill=gone.md"], "skill=gone.md"),
        (["skill=good.md", "models=[]"], r"models=\[\] is empty"),
        (["skill=good.md", "models=[simulated]", "model=simulated"], "are both given"),
        (["skill=good.md", "datasets=[demo]", "dataset=demo"], "are both given"),
        (["skill=good.md", "out=good.md", "model=simulated"], "is there already"),
    ],
)
def test_what_is_wrong_with_the_whole_is_named_before_anything_is_asked(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        commands.run(["transfer", *arguments])
    assert not (tmp_path / "outputs").exists()


def test_help_names_the_keys(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["transfer", "--help"]) == 0
    out = capsys.readouterr().out
    for name in ("models", "datasets", "skill"):
        assert f"\n  {name} " in out
