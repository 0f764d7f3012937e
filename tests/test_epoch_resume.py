"""Real kills at the end of an epoch: the run goes on to the same files."""

import json
import signal
from dataclasses import dataclass
from pathlib import Path

import pytest
from running import all_files
from serving import killed_after, requests, roles_at, served, skillopt

TWO_EPOCHS = (
    "dataset=demo",
    "dataset.limit=60",
    "train.num_epochs=2",
    "train.batch_size=12",
    "train.seed=2",
    "gradient.analyst_workers=2",
    "optimizer.learning_rate=2",
    "optimizer.lr_scheduler=constant",
    "tracking=none",
    "model.target.max_concurrency=2",
    "model.optimizer.max_concurrency=2",
)
ABOUT_THE_PROCESS = (
    ".hydra/",
    "run.json",
    "run.lock",
    "summary.json",
    "calls.jsonl",
    "report.html",
    "skillopt_exp.log",
)


def only_run(cwd: Path) -> Path:
    (folder,) = (cwd / "outputs").glob("*/*")
    return folder


def made_by_answers(folder: Path) -> dict[str, bytes]:
    return {
        name: content for name, content in all_files(folder).items() if not name.startswith(ABOUT_THE_PROCESS)
    }


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> object:
    with served(tmp_path_factory.mktemp("provider")) as (address, log):
        yield address, log


@dataclass(frozen=True)
class Undisturbed:
    """A whole run, and after how many requests it wrote the guidance: the last call of the optimizer."""

    files: dict[str, bytes]
    guidance_at: int


@pytest.fixture(scope="module")
def undisturbed(provider: tuple[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    cwd = tmp_path_factory.mktemp("undisturbed")
    done = skillopt(*roles_at(provider[0]), *TWO_EPOCHS, cwd=cwd)
    assert done.returncode == 0, done.stderr
    asked = [request["model"] for request in requests(provider[1])]
    guidance_at = len(asked) - asked[::-1].index("simulated-optimizer")
    return Undisturbed(made_by_answers(only_run(cwd)), guidance_at)


@pytest.mark.parametrize(
    "later", [-15, pytest.param(0, marks=pytest.mark.slow), pytest.param(8, marks=pytest.mark.slow)]
)
def test_a_run_killed_at_the_end_of_an_epoch_goes_on_to_the_same_files(
    later: int, provider: tuple[str, Path], undisturbed: Undisturbed, tmp_path: Path
) -> None:
    address, log = provider
    end = json.loads(undisturbed.files["epochs/epoch_0002/epoch.json"])
    assert end["verdict"]["outcome"] == "rejected", "guidance was written and judged"
    kill_after = undisturbed.guidance_at + later
    killed = killed_after(kill_after, log, *roles_at(address), *TWO_EPOCHS, cwd=tmp_path)
    assert killed.returncode == -signal.SIGKILL
    folder = only_run(tmp_path)
    state = json.loads((folder / "runtime_state.json").read_text(encoding="utf-8"))
    assert state["last_completed_step"] == 3, "the last step of the epoch is completed with its end"
    resumed = skillopt("resume", f"run={folder}", cwd=tmp_path)
    assert resumed.returncode == 0, resumed.stderr
    files = made_by_answers(folder)
    assert files.keys() == undisturbed.files.keys()
    for name, content in files.items():
        assert content == undisturbed.files[name], name
