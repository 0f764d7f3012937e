"""Receipts and backups of a root, in a folder of their own inside of it.

A receipt is written before what it tells of is done: whatever ends the process, nothing was replaced
without a backup and a line that names it.
"""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from filelock import FileLock, Timeout

from skillopt_exp import __version__
from skillopt_exp.deploy.package import SKILL_FILE
from skillopt_exp.deploy.place import Place
from skillopt_exp.deploy.tree import Tree, packed, read_tree, told, unpacked, write_tree
from skillopt_exp.errors import UsageError
from skillopt_exp.runs.codec import from_json, to_json
from skillopt_exp.runs.files import append_line, read_jsonl, write_atomic, write_bytes

FORMAT = 1


class Action(StrEnum):
    """What was done to a skill's folder."""

    deploy = "deploy"
    undeploy = "undeploy"
    rollback = "rollback"


@dataclass(frozen=True, slots=True)
class Receipt:
    """One line of ``receipts.jsonl``. ``at`` is ISO 8601 in UTC; digests are SHA-256, 64 hex digits.

    ``file_sha256`` is that of the SKILL.md that stands there afterwards and ``replaced_sha256`` of the one
    before, None where there is none. ``backup`` names the archive of all files before, None where
    nothing stood there. ``confirmed`` are the findings that the user agreed to.
    """

    format: int
    number: int
    action: Action
    name: str
    at: str
    skillopt_exp: str
    agent: str | None
    source: str
    skill_sha256: str | None
    file_sha256: str | None
    replaced_sha256: str | None
    backup: str | None
    confirmed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Origin:
    """What a deployment is of. ``skill_sha256`` is that of the trained text."""

    source: str
    skill_sha256: str | None = None
    confirmed: tuple[str, ...] = ()


class Journal:
    """Changes ``place``, and keeps what it replaced. Use inside of ``locked``."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._file = place.kept / "receipts.jsonl"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the root: two commands at once would mix up their receipts.

        Raises:
            UsageError: another command is at work there, or nothing can be written there.
        """
        with told(self._place.kept):
            self._place.kept.mkdir(parents=True, exist_ok=True)
            # Backups of one machine's folder are no matter of a repository.
            write_atomic(self._place.kept / ".gitignore", "*\n")
            lock = FileLock(self._place.kept / "lock")
            try:
                lock.acquire(timeout=0)
            except Timeout as error:
                raise UsageError(f"another command is at work in {self._place.root}; try again") from error
        try:
            yield
        finally:
            lock.release()

    def receipts(self) -> tuple[Receipt, ...]:
        """All receipts of the root, the oldest first.

        Raises:
            DataError: damaged.
        """
        if not self._file.exists():
            return ()
        return read_jsonl(self._file, lambda line, where: from_json(Receipt, line, where))

    def deployments(self) -> tuple[Receipt, ...]:
        """The deployments of this skill that stand, the last one on top: undone ones are gone."""
        return standing(self.receipts(), self._place.name)

    def current(self) -> Tree:
        """What stands in the skill's folder.

        Raises:
            UsageError: it holds what cannot be kept.
        """
        return read_tree(self._place.folder)

    def changed_since(self, deployment: Receipt) -> bool:
        """Whether somebody has changed the skill since it was deployed."""
        now = self.current()
        return set(now) != {SKILL_FILE} or digest(now) != deployment.file_sha256

    def change(self, action: Action, tree: Tree, origin: Origin) -> Receipt:
        """Keep what stands there, write the receipt, then make the folder hold ``tree``.

        Raises:
            UsageError: the disk does not take it, or it holds what cannot be kept.
        """
        before, number = self.current(), len(self.receipts()) + 1
        agent = self._place.agent_name
        receipt = Receipt(
            format=FORMAT,
            number=number,
            action=action,
            name=self._place.name,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
            skillopt_exp=__version__,
            agent=None if agent is None else agent.value,
            source=origin.source,
            skill_sha256=origin.skill_sha256,
            file_sha256=digest(tree),
            replaced_sha256=digest(before),
            backup=f"backups/{self._place.name}-{number:04d}.zip" if before else None,
            confirmed=origin.confirmed,
        )
        with told(self._place.kept):
            if receipt.backup is not None:
                write_bytes(self._place.kept / receipt.backup, packed(before))
            append_line(self._file, to_json(receipt))
        write_tree(self._place.folder, tree)
        return receipt

    def backup_of(self, receipt: Receipt) -> Tree:
        """What stood there before ``receipt``.

        Raises:
            UsageError: the backup is missing or damaged.
        """
        return {} if receipt.backup is None else unpacked(self._place.kept / receipt.backup)

    def path_of(self, receipt: Receipt) -> Path | None:
        """Where the backup of ``receipt`` is."""
        return None if receipt.backup is None else self._place.kept / receipt.backup


def standing(receipts: Sequence[Receipt], name: str) -> tuple[Receipt, ...]:
    """The deployments of ``name`` that nothing has undone, in order."""
    stack: list[Receipt] = []
    for receipt in receipts:
        if receipt.name != name:
            continue
        match receipt.action:
            case Action.deploy:
                stack.append(receipt)
            case Action.rollback:
                del stack[-1:]
            case Action.undeploy:
                stack.clear()
    return tuple(stack)


def digest(tree: Tree) -> str | None:
    """SHA-256 of the SKILL.md, None where there is none."""
    return hashlib.sha256(tree[SKILL_FILE].content).hexdigest() if SKILL_FILE in tree else None
