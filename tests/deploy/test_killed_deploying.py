"""A kill at any moment of a deployment leaves a whole skill, and what it replaced can be had back."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skillopt_exp.deploy.deploying import deploy, plan, rollback
from skillopt_exp.deploy.journal import Journal
from skillopt_exp.deploy.place import Place, find_place
from skillopt_exp.deploy.source import of_file


def place_in(folder: Path) -> Place:
    return find_place("mine", agent=None, scope=None, directory="skills", base=folder, home=folder)


def existing(folder: Path) -> dict[str, bytes]:
    mine = folder / "skills" / "mine"
    (mine / "references").mkdir(parents=True)
    (mine / "SKILL.md").write_text("---\nname: mine\ndescription: d\n---\n\nold\n")
    (mine / "references" / "notes.md").write_text("notes\n")
    (folder / "new.md").write_text("- New.\n")
    return files(mine)


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".SKILL.md.tmp"
    }


def killed_at(folder: Path, number: int) -> bool:
    """Deploy in a process that is killed before its ``number``-th change of the disk; whether it was."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)
    left = number

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def instead(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*arguments, **named)

        return instead

    for name in ("fsync", "replace", "unlink", "rmdir", "mkdir"):  # in the child alone
        setattr(os, name, dying(getattr(os, name)))
    try:
        deploy(plan(of_file("new.md", base=folder), place_in(folder), "d"), confirmed=False)
        os._exit(0)
    finally:
        os._exit(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_deployment_killed_at_any_moment_can_be_taken_back_or_made_again(tmp_path: Path) -> None:
    number, seen = 1, set()
    while True:
        folder = tmp_path / str(number)
        folder.mkdir()
        original = existing(folder)
        killed = killed_at(folder, number)
        mine = folder / "skills" / "mine"
        text = (mine / "SKILL.md").read_text()
        assert text.endswith(("\n\nold\n", "\n\n- New.\n"))
        known = bool(Journal(place_in(folder)).deployments())
        seen.add((known, text.endswith("New.\n")))
        if known:
            rollback(place_in(folder), confirmed=True)
        assert files(mine) == original
        deploy(plan(of_file("new.md", base=folder), place_in(folder), "d"), confirmed=False)
        assert list(files(mine)) == ["SKILL.md"]
        if not killed:
            break
        number += 1
    assert seen == {(False, False), (True, False), (True, True)}
    assert number > 10
