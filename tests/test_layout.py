"""Imports point inwards; a test, since nothing else would notice."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "skillopt_exp"

# What a room may import of the package, besides itself. A name covers everything below it.
ROOMS: dict[str, set[str]] = {
    "records": set(),
    "errors": {"records"},
    "redaction": {"errors"},
    "reading": {"errors"},
    "guard": {"redaction"},
    "schedule": set(),
    "signals": {"errors"},
    "flow": set(),
    "batching": {"records"},
    "skill": {"errors", "records"},
    "stats": {"records"},
    "rules": {"records"},
    "watch": {"records"},
    "prompts": {"errors", "reading"},
    "config": {"errors", "records", "rules", "schedule", "stats.criterion"},
    "llm": {"config.model", "config.spending", "errors", "records", "redaction"},
    "tasks": {"config.dataset", "config.names", "errors", "records"},
    "data": {"config.dataset", "config.names", "errors", "reading", "records", "rules"},
    "simulation": {"errors", "records"},
    "stages": {"errors", "llm.base", "llm.json_reply", "prompts", "records", "skill", "stats", "tasks.base"},
    "outlook": {"errors", "records", "rules", "stages.gate", "stats"},
    "leak": {"records"},
    "scoring": {"flow", "llm.base", "records", "stages.gate"},
    "contest": {"records", "stages.update"},
    "unreadable": {"errors", "records"},
    "judging": {"flow", "leak", "llm.base", "prompts", "records", "scoring", "skill", "stages"},
    "epoch": {"flow", "llm.base", "prompts", "records", "skill", "stages"},
    "transitions": {"records", "stages.gate"},
    "loop": {
        "batching",
        "contest",
        "epoch",
        "errors",
        "flow",
        "judging",
        "leak",
        "llm.base",
        "prompts",
        "records",
        "schedule",
        "scoring",
        "skill",
        "stages",
        "tasks.base",
        "transitions",
        "unreadable",
        "watch",
    },
    "algorithms": {
        "errors",
        "llm.base",
        "loop",
        "records",
        "skill",
        "stages",
        "transitions",
        "unreadable",
    },
    "groups": {"records", "rules", "stats"},
    "held_out": {"groups", "records", "stats"},
    "final": {
        "flow",
        "llm.base",
        "llm.ledger",
        "llm.listening",
        "records",
        "stages.rollout",
        "tasks.base",
        "watch",
    },
    "runs": {
        "config.spending",
        "errors",
        "llm.ledger",
        "llm.limits",
        "reading",
        "records",
        "redaction",
        "watch",
    },
    "items": {"records", "runs", "watch"},
    "sweeps": {"config", "display", "errors", "reading", "records", "runs"},
    "report": {"data.manifest", "display", "errors", "llm.meter", "records", "redaction", "runs", "watch"},
    "deploy": {"errors", "reading", "records", "redaction", "runs", "skill"},
    "tracking": {"config.tracking", "errors", "records", "redaction", "runs", "sweeps", "watch"},
    "planning": {
        "algorithms.gepa.cost",
        "batching",
        "config.model",
        "config.spending",
        "display",
        "epoch",
        "errors",
        "llm.base",
        "llm.bill",
        "llm.conversation",
        "llm.price",
        "loop",
        "prompts",
        "records",
        "schedule",
        "stages",
        "stats",
        "tasks.base",
    },
    "summary": {"errors", "held_out", "records", "rules", "watch"},
    "decide": {
        "algorithms",
        "config",
        "epoch",
        "errors",
        "loop",
        "outlook",
        "planning.equal",
        "prompts",
        "records",
        "rules",
        "scoring",
        "stages.gate",
        "watch",
    },
    "evaluation": {
        "config",
        "data.manifest",
        "display",
        "errors",
        "experiment",
        "flow",
        "groups",
        "llm",
        "reading",
        "records",
        "redaction",
        "rules",
        "runs",
        "signals",
        "simulation",
        "stages.rollout",
        "stats",
        "tracking",
    },
    "selftest": {"display", "records", "stages.gate", "stats", "summary"},
    "display": {"llm.meter", "records", "stats"},
    "closing": {"display", "records", "summary"},
    "checks": {
        "config",
        "data",
        "decide",
        "errors",
        "llm",
        "reading",
        "records",
        "runs.answers",
        "skill",
        "tasks",
        "tracking.store",
    },
    "doctor": {
        "checks",
        "config",
        "errors",
        "llm",
        "records",
        "redaction",
        "runs.answers",
        "simulation",
        "tracking.store",
    },
}
ABOVE_ALL = {"__main__", "__init__", "commands", "experiment", "terminal"}

# Libraries that a room must not know.
STRANGERS: dict[str, set[str]] = {
    "stages": {"hydra", "mlflow", "omegaconf", "openai", "os", "pathlib"},
    "loop": {"hydra", "mlflow", "omegaconf", "openai", "os", "pathlib"},
    "tasks": {"hydra", "mlflow", "openai", "os"},
    "records": {"hydra", "mlflow", "omegaconf", "openai", "os", "pathlib"},
    "runs": {"hydra", "mlflow", "openai", "pickle"},
    "planning": {"hydra", "mlflow", "omegaconf", "openai", "os", "pathlib"},
    "simulation": {"hydra", "mlflow", "openai"},
}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            # `from package import module` names the module; `from module import name` the module, too
            for alias in node.names:
                yield f"{node.module}.{alias.name}"


def violations(path: Path, source_imports: Iterator[str]) -> list[str]:
    room, found = room_of(path), []
    for name in source_imports:
        top, _, inner = name.partition(".")
        if top != "skillopt_exp":
            if top in STRANGERS.get(room, set()):
                found.append(f"{path.relative_to(PACKAGE)} imports {name}")
            continue
        if room in ABOVE_ALL or inner.split(".")[0] in (room, "__version__"):
            continue
        if not any(inner == allowed or inner.startswith(f"{allowed}.") for allowed in ROOMS[room]):
            found.append(f"{path.relative_to(PACKAGE)} imports {name}")
    return found


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_imports_point_inwards(path: Path) -> None:
    assert room_of(path) in ROOMS.keys() | ABOVE_ALL, "a new room: say what it may import"
    assert violations(path, imports(path)) == []


def test_an_import_that_points_outwards_would_be_found() -> None:
    stage = PACKAGE / "stages" / "gate.py"
    for planted in ("skillopt_exp.loop.Trainer", "skillopt_exp.llm.client.ChatClient", "pathlib.Path"):
        assert violations(stage, iter([planted]))
