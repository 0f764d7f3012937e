"""A run whose process was killed is not left RUNNING for ever."""

import multiprocessing
import os
import signal
from pathlib import Path

from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.tracking.stale import mark_stale
from skillopt_exp.tracking.store import connect, resolve


def hold(folder: Path, held: "multiprocessing.synchronize.Event") -> None:
    with RunFolder.open(folder).lock():
        held.set()
        signal.pause()


def test_only_a_run_that_nobody_holds_is_marked(tmp_path: Path) -> None:
    client = connect(resolve(None, tmp_path))
    experiment_id = client.create_experiment("e")
    for name in ("killed", "alive"):
        RunFolder.create(tmp_path / name, prompts="p")
    runs = {
        name: client.create_run(experiment_id, tags={"run_folder": name}).info.run_id
        for name in ("killed", "alive", "elsewhere")
    }
    context = multiprocessing.get_context("spawn")
    held = context.Event()
    holder = context.Process(target=hold, args=(tmp_path / "alive", held))
    holder.start()
    try:
        assert held.wait(30)
        assert mark_stale(client, experiment_id, tmp_path) == (runs["killed"],)
        statuses = {name: client.get_run(run_id).info.status for name, run_id in runs.items()}
        assert statuses == {"killed": "KILLED", "alive": "RUNNING", "elsewhere": "RUNNING"}
        assert "resume" in client.get_run(runs["killed"]).data.tags["cause"]
    finally:
        assert holder.pid is not None
        os.kill(holder.pid, signal.SIGKILL)
        holder.join()
    assert mark_stale(client, experiment_id, tmp_path) == (runs["alive"],)
