"""Runs that end early and go on: real processes, real kills, a provider that counts."""

import json
import random
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
from running import all_files
from serving import killed_after, requests, roles_at, served, skillopt

SLOTS = 4
SMALL = (
    "dataset=demo",
    "dataset.limit=60",
    "train.num_epochs=1",
    "tracking=none",
    "gradient.analyst_workers=4",
    f"model.target.max_concurrency={SLOTS}",
    f"model.optimizer.max_concurrency={SLOTS}",
)
IN_FLIGHT = 2 * SLOTS
COMPARED = ("best_skill.md", "history.jsonl", "items.csv", "items.png")


def only_run(cwd: Path) -> Path:
    (folder,) = (cwd / "outputs").glob("*/*")
    return folder


class Reference:
    """An undisturbed run, and the provider that answered it."""

    def __init__(self, address: str, log: Path, folder: Path) -> None:
        self.address, self.log = address, log
        self.arguments = [*roles_at(address), *SMALL]
        done = skillopt(*self.arguments, cwd=folder)
        assert done.returncode == 0, done.stderr
        self.files = all_files(only_run(folder))
        self.calls = len(requests(log))
        self.summary = json.loads(self.files["summary.json"])


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> object:
    folder = tmp_path_factory.mktemp("reference")
    with served(folder) as (address, log):
        yield Reference(address, log, folder)


def timeless(summary: dict[str, Any]) -> dict[str, Any]:
    """The summary without how long calls took, which no two runs share."""
    without = json.loads(json.dumps(summary))
    for took in (*without["test_a_call"].values(), without["skill_cost_a_call"]):
        del took["seconds"]
    return without  # type: ignore[no-any-return]


def check_killed_and_resumed(reference: Reference, cwd: Path, kill_after: int) -> None:
    before = len(requests(reference.log))
    killed = killed_after(kill_after, reference.log, *reference.arguments, cwd=cwd)
    assert killed.returncode == -signal.SIGKILL
    folder = only_run(cwd)
    resumed = skillopt("resume", f"run={folder}", cwd=cwd)
    assert resumed.returncode == 0, resumed.stderr
    files = all_files(folder)
    for name in COMPARED:
        assert files[name] == reference.files[name], name
    asked = len(requests(reference.log)) - before
    assert reference.calls <= asked <= reference.calls + IN_FLIGHT
    summary = json.loads(files["summary.json"])
    paid, lost = (sum(usage[what] for usage in summary["usage"].values()) for what in ("calls", "lost"))
    told = [note for note in summary["notes"] if "lost, when a process was stopped" not in note]
    assert (len(told) < len(summary["notes"])) is (lost > 0)
    for name, value in timeless(reference.summary).items():
        if name != "usage":
            assert (told if name == "notes" else timeless(summary)[name]) == value, name
    assert reference.calls <= paid <= asked, "the totals are those of all processes"
    assert asked <= paid + lost <= paid + IN_FLIGHT, "and whatever was sent is on paper"


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_killed_run_goes_on_to_the_same_end_and_asks_only_what_was_in_flight(
    share: float, reference: Reference, tmp_path: Path
) -> None:
    check_killed_and_resumed(reference, tmp_path, int(share * reference.calls))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(25))
def test_a_run_killed_anywhere_goes_on_to_the_same_end(
    number: int, reference: Reference, tmp_path: Path
) -> None:
    kill_after = random.Random(f"kill {number}").randrange(1, reference.calls - IN_FLIGHT)
    check_killed_and_resumed(reference, tmp_path, kill_after)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_how_to_go_on(how: signal.Signals, reference: Reference, tmp_path: Path) -> None:
    stopped = killed_after(reference.calls // 3, reference.log, *reference.arguments, cwd=tmp_path, how=how)
    assert stopped.returncode == 75, stopped.stderr
    folder = only_run(tmp_path)
    assert f"python -m skillopt_exp resume run={folder}" in stopped.stdout
    assert stopped.stderr == f"error: stopped by {how.name}\n"
    assert json.loads((folder / "summary.json").read_text())["status"] == "stopped(user)"
    assert skillopt("resume", f"run={folder}", cwd=tmp_path).returncode == 0
    assert all_files(folder)["history.jsonl"] == reference.files["history.jsonl"]


@pytest.fixture(scope="module")
def half_done(reference: Reference, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a run was killed half way."""
    cwd = tmp_path_factory.mktemp("half")
    killed_after(reference.calls // 2, reference.log, *reference.arguments, cwd=cwd)
    return cwd


@pytest.fixture
def cwd(half_done: Path, tmp_path: Path) -> Path:
    """A copy of it, the store of answers included."""
    copy = tmp_path / "copy"
    shutil.copytree(half_done, copy)
    return copy


def test_a_run_that_was_moved_goes_on_where_it_is(reference: Reference, cwd: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    shutil.move(only_run(cwd), elsewhere)
    assert skillopt("resume", f"run={elsewhere}", cwd=cwd).returncode == 0
    assert all_files(elsewhere)["history.jsonl"] == reference.files["history.jsonl"]


def test_a_torn_last_line_is_forgiven(reference: Reference, cwd: Path) -> None:
    history = only_run(cwd) / "history.jsonl"
    with history.open("a", encoding="utf-8") as file:
        file.write('{"step": 99, "epo')
    assert skillopt("resume", f"run={only_run(cwd)}", cwd=cwd).returncode == 0
    assert history.read_bytes() == reference.files["history.jsonl"]


def test_a_damaged_line_in_the_middle_is_refused_by_its_number(cwd: Path) -> None:
    history = only_run(cwd) / "history.jsonl"
    lines = history.read_text(encoding="utf-8").splitlines()
    history.write_text("\n".join([lines[0][:40], *lines[1:]]) + "\n", encoding="utf-8")
    refused = skillopt("resume", f"run={only_run(cwd)}", cwd=cwd)
    assert refused.returncode == 3
    assert "history.jsonl:1" in refused.stderr


def only_calls(cwd: Path) -> Path:
    return only_run(cwd) / "calls.jsonl"


@pytest.mark.parametrize("left", [None, b"", b'{"event": "sent", "id"'])
def test_a_run_whose_calls_are_gone_is_refused_and_nothing_is_touched(left: bytes | None, cwd: Path) -> None:
    calls = only_calls(cwd)
    if left is None:
        calls.unlink()
    else:
        calls.write_bytes(left)
    before = all_files(only_run(cwd))
    refused = skillopt("resume", f"run={only_run(cwd)}", cwd=cwd)
    assert refused.returncode == 3, refused.stderr
    assert f"{calls} {'is missing' if left is None else 'holds no calls'}, but the run has made" in (
        refused.stderr
    )
    assert "Restore the file from a copy" in refused.stderr
    assert refused.stderr.count("error:") == 1
    after = all_files(only_run(cwd))
    assert {name for name in after if after[name] != before.get(name)} <= ABOUT_THE_STOP


ABOUT_THE_STOP = {"summary.json", "skillopt_exp.log", "run.lock"}


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ({"input_tokens": -5}, "input_tokens is -5"),
        ({"input_tokens": 3, "cached_tokens": 4}, "cached_tokens is 4"),
        ({"role": "nobody"}, "must be one of target, optimizer"),
        ({"output_tokens": 1.5}, "must be of type int"),
        ({"id": "0" * 16}, "was never sent"),
    ],
)
def test_a_call_that_cannot_be_is_refused_by_its_line(
    damage: dict[str, object], said: str, cwd: Path
) -> None:
    calls = only_calls(cwd)
    lines = calls.read_text(encoding="utf-8").splitlines()
    number = next(n for n, line in enumerate(lines) if json.loads(line)["event"] == "answered")
    lines[number] = json.dumps(json.loads(lines[number]) | damage)
    calls.write_text("\n".join(lines) + "\n", encoding="utf-8")
    refused = skillopt("resume", f"run={only_run(cwd)}", cwd=cwd)
    assert refused.returncode == 3, refused.stderr
    assert f"calls.jsonl:{number + 1}" in refused.stderr
    assert said in refused.stderr


def test_a_half_written_skill_file_is_refused(cwd: Path) -> None:
    state = json.loads((only_run(cwd) / "runtime_state.json").read_text(encoding="utf-8"))
    skill = only_run(cwd) / state["current"]["file"]
    skill.write_text(skill.read_text(encoding="utf-8") + "cut", encoding="utf-8")
    refused = skillopt("resume", f"run={only_run(cwd)}", cwd=cwd)
    assert refused.returncode == 3
    assert "does not hold the skill that was scored" in refused.stderr


@pytest.mark.parametrize("override", ["train.seed=7", "gate.metric=soft", "optimizer.learning_rate=2"])
def test_a_key_that_affects_the_result_cannot_change(override: str, cwd: Path) -> None:
    refused = skillopt("resume", f"run={only_run(cwd)}", override, cwd=cwd)
    assert refused.returncode == 2
    assert override.partition("=")[0] in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_key_that_affects_only_cost_or_nothing_may_change_and_is_named(
    reference: Reference, cwd: Path
) -> None:
    changes = ("model.target.max_concurrency=2", "budget.calls=100000", "tracking.experiment=other")
    resumed = skillopt("resume", f"run={only_run(cwd)}", *changes, cwd=cwd)
    assert resumed.returncode == 0, resumed.stderr
    assert "model.target.max_concurrency: 4 -> 2" in resumed.stdout
    assert "budget.calls: null -> 100000" in resumed.stdout
    assert all_files(only_run(cwd))["history.jsonl"] == reference.files["history.jsonl"]


def test_other_prompts_are_refused_unless_told(cwd: Path) -> None:
    marker = only_run(cwd) / "run.json"
    changed = json.loads(marker.read_text(encoding="utf-8")) | {"prompts": "0" * 64}
    marker.write_text(json.dumps(changed), encoding="utf-8")
    refused = skillopt("resume", f"run={only_run(cwd)}", cwd=cwd)
    assert refused.returncode == 2
    assert "other_prompts=true" in refused.stderr
    assert skillopt("resume", f"run={only_run(cwd)}", "other_prompts=true", cwd=cwd).returncode == 0


def test_another_format_is_refused(cwd: Path) -> None:
    marker = only_run(cwd) / "run.json"
    changed = json.loads(marker.read_text(encoding="utf-8")) | {"format": 99}
    marker.write_text(json.dumps(changed), encoding="utf-8")
    refused = skillopt("resume", f"run={only_run(cwd)}", cwd=cwd)
    assert refused.returncode == 2
    assert "format 99" in refused.stderr


def test_a_complete_run_has_nothing_to_go_on_with(reference: Reference, cwd: Path) -> None:
    assert skillopt("resume", f"run={only_run(cwd)}", cwd=cwd).returncode == 0
    calls = len(requests(reference.log))
    again = skillopt("resume", f"run={only_run(cwd)}", cwd=cwd)
    assert again.returncode == 0
    assert "is complete" in again.stdout
    assert len(requests(reference.log)) == calls


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "resume needs run"),
        (["run=nowhere"], "is not a run's folder"),
        (["run=.", "train.seeed=1"], "is not a run's folder"),
    ],
)
def test_what_is_no_run_is_refused(arguments: list[str], said: str, tmp_path: Path) -> None:
    refused = skillopt("resume", *arguments, cwd=tmp_path)
    assert refused.returncode == 2
    assert said in refused.stderr


def test_an_unknown_key_is_refused_with_the_nearest(cwd: Path) -> None:
    refused = skillopt("resume", f"run={only_run(cwd)}", "train.seeed=1", cwd=cwd)
    assert refused.returncode == 2
    assert "did you mean train.seed?" in refused.stderr


def test_a_run_that_was_killed_while_its_end_was_told_is_told_again(tmp_path: Path) -> None:
    """As a kill between the summary and the last watcher leaves it."""
    small = ("dataset=demo", "dataset.limit=40", "model=simulated", "train.num_epochs=1")
    done = skillopt(*small, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = only_run(tmp_path)
    whole = all_files(folder)
    for name in ("done", "items.csv", "items.png", "report.html"):
        (folder / name).unlink()
    again = skillopt("resume", f"run={folder}", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "clear gain" in again.stdout or "no clear gain" in again.stdout
    left = all_files(folder)
    assert left.keys() == whole.keys()
    for name in ("items.csv", "items.png", "best_skill.md", "history.jsonl"):
        assert left[name] == whole[name]
    complete = skillopt("resume", f"run={folder}", cwd=tmp_path)
    assert "is complete" in complete.stdout
