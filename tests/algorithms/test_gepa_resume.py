"""``optimizer=gepa`` against a provider over HTTP: it gains there, and it survives kills and stops."""

import json
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from running import all_files
from serving import killed_after, requests, roles_at, served, skillopt

from skillopt_exp.commands.resume import recompose
from skillopt_exp.config import register
from skillopt_exp.config.changes import allowed_changes
from skillopt_exp.errors import UsageError
from skillopt_exp.runs.folder import RunFolder

pytestmark = pytest.mark.slow  # a served run, searched, killed and stopped

SLOTS = 4
SMALL = (
    "dataset=demo",
    "dataset.limit=90",
    "optimizer=gepa",
    "optimizer.max_metric_calls=330",
    "tracking=none",
    f"model.target.max_concurrency={SLOTS}",
    f"model.optimizer.max_concurrency={SLOTS}",
)


def only_run(cwd: Path) -> Path:
    (folder,) = (cwd / "outputs").glob("*/*")
    return folder


@dataclass(frozen=True)
class Undisturbed:
    """A whole run, and the provider that answered it."""

    folder: Path
    log: Path
    arguments: tuple[str, ...]
    files: dict[str, bytes]
    calls: int


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Undisturbed]:
    folder = tmp_path_factory.mktemp("undisturbed")
    with served(folder) as (address, log):
        arguments = (*roles_at(address), *SMALL)
        done = skillopt(*arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
        yield Undisturbed(only_run(folder), log, arguments, all_files(only_run(folder)), len(requests(log)))


def test_a_served_target_gets_better(undisturbed: Undisturbed) -> None:
    summary = json.loads(undisturbed.files["summary.json"])
    assert summary["status"] == "finished"
    assert summary["best_selection_hard"] - summary["baseline_selection_hard"] > 0.2
    assert summary["test_delta_hard"] > 0.2
    paid = sum(usage["calls"] for usage in summary["usage"].values())
    assert paid == undisturbed.calls


@pytest.mark.parametrize(
    "share", [0.5, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.15, 0.3, 0.7, 0.9))]
)
def test_a_killed_search_goes_on_to_the_same_bytes_and_asks_only_what_was_in_flight(
    share: float, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    before = len(requests(undisturbed.log))
    killed = killed_after(
        int(share * undisturbed.calls), undisturbed.log, *undisturbed.arguments, cwd=tmp_path
    )
    assert killed.returncode == -signal.SIGKILL
    resumed = skillopt("resume", f"run={only_run(tmp_path)}", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    files = all_files(only_run(tmp_path))
    same = set(files) - {"run.json", "calls.jsonl", "report.html", "summary.json", ".hydra/hydra.yaml"}
    assert {name for name in same if files[name] != undisturbed.files.get(name)} == set()
    assert len(files) == len(undisturbed.files)
    asked = len(requests(undisturbed.log)) - before
    assert undisturbed.calls <= asked <= undisturbed.calls + 2 * SLOTS


def test_a_stopped_search_says_how_to_go_on(undisturbed: Undisturbed, tmp_path: Path) -> None:
    half = undisturbed.calls // 2
    stopped = killed_after(half, undisturbed.log, *undisturbed.arguments, cwd=tmp_path, how=signal.SIGINT)
    assert stopped.returncode == 75, stopped.stderr
    assert stopped.stderr == "error: stopped by SIGINT\n"
    folder = only_run(tmp_path)
    assert f"python -m skillopt_exp resume run={folder}" in stopped.stdout
    assert json.loads((folder / "summary.json").read_text())["status"] == "stopped(user)"


def test_a_search_goes_on_with_its_own_keys_and_no_others(undisturbed: Undisturbed) -> None:
    register()
    folder = RunFolder.open(undisturbed.folder)
    assert recompose(folder, ["optimizer.max_metric_calls=600"]).optimizer.max_metric_calls == 600
    with pytest.raises(UsageError, match=r"optimizer\.learning_rate is read by optimizer=skillopt alone"):
        recompose(folder, ["optimizer.learning_rate=2"])
    before = undisturbed.files["config.yaml"].decode()
    with pytest.raises(UsageError, match=r"optimizer\.max_metric_calls: 330 -> 600"):
        allowed_changes(
            before, before.replace("max_metric_calls: 330", "max_metric_calls: 600"), where="config.yaml"
        )
