"""``export-calls``: every conversation of a run as JSON lines in OpenAI's chat format."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.commands.arguments import Verb, parse
from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import InterruptedRun, UsageError
from skillopt_exp.reading import named_path
from skillopt_exp.records import Message, Role
from skillopt_exp.runs.codec import to_json
from skillopt_exp.runs.exchanges import read_exchanges
from skillopt_exp.runs.files import write_atomic
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.rollouts import read_rollouts

VERB = Verb(
    "export-calls",
    "Write the conversations of a run, one a line, as OpenAI's chat format has them: a list `messages`, "
    "the reply last, and `metadata` that says where it belongs.",
    "python -m skillopt_exp export-calls run=outputs/demo/2026-12-01_15-01-52-11dc58 out=calls.jsonl",
)


@dataclass(kw_only=True)
class ExportArguments:
    """Keys of the verb."""

    run: str = key(affects=Affects.nothing, help="the run's folder")
    out: str = key(affects=Affects.nothing, help="the file to write; an existing one is refused")


@dataclass(frozen=True, slots=True)
class Spoken:
    """One message under the names of the wire."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class Where:
    """Which call it was: the file of the run folder, the item (of a target's attempt), the score."""

    role: Role
    file: str
    stage: str | None = None
    item: str | None = None
    hard: float | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One conversation."""

    messages: tuple[Spoken, ...]
    metadata: Where


def run(arguments: Sequence[str]) -> int:
    """Write the file and say how many conversations it has."""
    asked = parse(ExportArguments, arguments, VERB)
    if asked is None:
        return 0
    folder = RunFolder.open(named_path(asked.run, base=Path.cwd(), key="run").resolve())
    out = named_path(asked.out, base=Path.cwd(), key="out")
    if out.exists():
        raise UsageError(f"{out} exists already; name another file with out=...")
    if not out.parent.is_dir():
        raise UsageError(f"{out.parent} is not a folder; make it first, or name another place with out=...")
    lines = [to_json(line) for line in conversations(folder)]
    try:
        write_atomic(out, "".join(f"{line}\n" for line in lines))
    except InterruptedRun as error:
        raise UsageError(
            f"{out} cannot be written ({error.__cause__}); name another file: out=..."
        ) from error
    sys.stdout.write(f"{len(lines):,} conversations in {out}\n")
    return 0


def conversations(folder: RunFolder) -> Iterator[Line]:
    """The target's attempts and the optimizer's calls, file by file in the order of their names."""
    exchanges = set(folder.exchange_files())
    for file in sorted((*exchanges, *folder.rollout_files())):
        name = file.relative_to(folder.path).as_posix()
        if file in exchanges:
            for exchange in read_exchanges(file):
                yield Line(_spoken(exchange.messages), Where(Role.optimizer, name, stage=exchange.stage))
        else:
            for attempt in read_rollouts(file):
                where = Where(Role.target, name, item=attempt.id, hard=attempt.hard)
                yield Line(_spoken(attempt.messages), where)


def _spoken(messages: Sequence[Message]) -> tuple[Spoken, ...]:
    return tuple(Spoken(message.role, message.content) for message in messages)
