"""Benches for tests: small data, the simulated target or a server that misbehaves, attempts by hand."""

import json
from collections.abc import Sequence
from pathlib import Path

from llm.misbehaving import Answer, Asked, MisbehavingServer, says

from skillopt_exp.commands.eval import bench_of
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.evaluate import Question
from skillopt_exp.evaluation.source import NO_SKILL, NamedSkill
from skillopt_exp.records import Fault, Skill, Split
from skillopt_exp.runs.rollouts import RolloutLine

SIMULATED = ("dataset=demo", "dataset.limit=80", "model=simulated", "tracking=none")
RED, BLUE = NamedSkill("red.md", Skill("Say red.")), NamedSkill("blue.md", Skill("Say blue."))


def simulated(base: Path, *overrides: str, split: Split = Split.test) -> Bench:
    """The simulated target on a part of the demo."""
    return bench_of([*SIMULATED, *overrides], split=split, base=base)


def colours(base: Path, server: MisbehavingServer, *overrides: str, split: Split = Split.test) -> Bench:
    """Sixty balls, every second one red and the others blue; the model at ``server`` is asked for colours."""
    rows = [
        {
            "id": f"ball{i}",
            "question": f"Which colour has ball {i}?",
            "answers": ("red", "blue")[i // 3 % 2],
            "split": ("train", "val", "test")[i % 3],
        }
        for i in range(60)
    ]
    (base / "balls.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    keys = (
        "dataset=qa",
        "dataset.path=balls.jsonl",
        "dataset.split_field=split",
        "model=openai_compatible",
        f"model.target.base_url={server.url}",
        "model.target.name=small",
        "model.target.api_key_env=null",
        "tracking=none",
    )
    return bench_of([*keys, *overrides], split=split, base=base)


def obeys(asked: Asked) -> Answer:
    """Says the colour that the skill tells it to say, and green without one; a token a word."""
    text = "\n".join(message["content"] for message in asked.body["messages"])
    colour = next((each for each in ("red", "blue") if f"Say {each}." in text), "green")
    usage = {"prompt_tokens": len(text.split()), "completion_tokens": 3, "total_tokens": 0}
    return says(f"<answer>{colour}</answer>", usage=usage)


def asks(skill: NamedSkill, *, reuse: bool = True) -> Question:
    """A skill against none."""
    return Question("eval", {"skill": skill, "control": NO_SKILL}, ("skill", "control"), reuse)


def silent(name: str, ended: int) -> None:
    """Progress that nobody follows."""


def attempts(hards: Sequence[float], softs: Sequence[float] | None = None) -> tuple[RolloutLine, ...]:
    """One attempt an item."""
    chosen = hards if softs is None else softs
    return tuple(
        RolloutLine(f"i{number}", 1, hard, soft, "", "", None, ())
        for number, (hard, soft) in enumerate(zip(hards, chosen, strict=True))
    )


def faulty(number: int, fault: Fault) -> RolloutLine:
    """An attempt whose reply could not be used."""
    return RolloutLine(f"i{number}", 1, 0.0, 0.0, "", "", fault, ())
