"""Running whole experiments inside a test, with the simulated models."""

import io
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from skillopt_exp.commands.composing import compose_raw
from skillopt_exp.commands.running import Launch, start
from skillopt_exp.records import Summary

SMALL = ("model=simulated", "tracking=none", "dataset.limit=80", "train.num_epochs=1")


def run(folder: Path, *overrides: str, base: Path | None = None) -> Summary:
    """A small experiment in ``folder``."""
    launch = Launch(base=folder if base is None else base, choices={}, console=Console(file=io.StringIO()))
    return start(compose_raw([*SMALL, *overrides]), folder, launch)


def history(folder: Path) -> list[dict[str, Any]]:
    """The rows of ``history.jsonl``."""
    return [json.loads(line) for line in (folder / "history.jsonl").read_text(encoding="utf-8").splitlines()]


def all_files(folder: Path) -> dict[str, bytes]:
    """Everything that a run left in its folder, by relative path (the store of answers is not the run's)."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".skillopt" not in path.parts
    }
