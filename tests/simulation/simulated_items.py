"""Items for tests of the simulation, and one way to ask it."""

import json
from pathlib import Path

import pytest

from skillopt_exp.records import Item
from skillopt_exp.simulation.wire import TARGET, Simulation

SHARED = Path(__file__).parents[2].parent / "shared" / "data"

GOOD_SKILL = """# How to answer

- Answer with the bare name, phrase, letter or number only, never in a whole sentence.
- Commit to exactly one answer.
- Add no explanation in parentheses after the answer.
- Check the candidate against every detail of the question.
- Give full names and complete titles.
- Never phrase the answer as a question.
- Keep the unit with a number.
- For multiple choice, answer with the letter of the option, not with its text.
- Give exact numbers; do not round.
- Carry calculations through to the last step.
"""


def quiz_items(count: int) -> list[Item]:
    """Made-up clues about made-up people, with passages that name others too."""
    firsts = ("Ada", "Bruno", "Clara", "Dario", "Edith", "Felix", "Greta", "Hugo", "Iris", "Jonas", "Karla")
    lasts = ("Amsel", "Birke", "Conrad", "Dohle", "Esche", "Falke", "Ginster", "Hasel", "Igel", "Kiebitz")
    items = []
    for number in range(count):
        name = f"{firsts[number % len(firsts)]} {lasts[number // len(firsts) % len(lasts)]}"
        other = f"{firsts[(number + 4) % len(firsts)]} {lasts[(number + 3) % len(lasts)]}"
        items.append(
            Item(
                id=f"quiz-{number}",
                question=f"In the year {1000 + number}, this traveller was the first to map the river",
                answers=(name,),
                context=f"[DOC] [TLE] {other} - Lives [PAR] {other} stayed at home. "
                f"[DOC] [TLE] {name} - Lives [PAR] {name} mapped the river in {1000 + number}.",
            )
        )
    return items


def bbh_items(name: str) -> list[Item]:
    examples = json.loads(_shared(f"bbh/{name}.json"))["examples"]
    return [Item(f"{name}-{number}", e["input"], (e["target"],)) for number, e in enumerate(examples)]


def gsm8k_items() -> list[Item]:
    records = [json.loads(line) for line in _shared("gsm8k/test.jsonl").splitlines()]
    golds = [record["answer"].rpartition("####")[2].strip() for record in records]
    return [
        Item(f"gsm8k-{number}", record["question"], (gold,))
        for number, (record, gold) in enumerate(zip(records, golds, strict=True))
    ]


def answer_of(served: Simulation, item: Item, skill: str = "", seed: int | None = None) -> str:
    """What stands between the answer tags of the target's reply."""
    system = [{"role": "system", "content": skill}] if skill else []
    user = {"role": "user", "content": f"Answer the question.\n\n{item.context}\n\nQuestion: {item.question}"}
    reply = served.complete({"model": TARGET, "messages": [*system, user], "seed": seed})
    content: str = json.loads(reply.body)["choices"][0]["message"]["content"]
    return content.rpartition("<answer>")[2].partition("</answer>")[0]


def _shared(path: str) -> str:
    file = SHARED / path
    if not file.exists():
        pytest.skip(f"needs ../shared/data/{path} beside the repository")
    return file.read_text(encoding="utf-8")
