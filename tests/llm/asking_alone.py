"""A process of its own that asks questions of a server, keeping what it is answered: to be killed, or not.

Run as a script with one JSON object: url, store, calls, questions, at_once, calls_at_most, settings. Prints
one JSON object: the replies in the order of the questions ("at the cap" alone where there is no more to be
had), and what was paid, lost and reused.
"""

import asyncio
import json
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from skillopt_exp.config.model import EndpointConfig, ModelConfig
from skillopt_exp.config.spending import BudgetConfig, CacheConfig
from skillopt_exp.errors import BudgetError, ReplyFault
from skillopt_exp.flow import ordered
from skillopt_exp.llm import connect
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.connect import Accounts
from skillopt_exp.llm.ledger import SettledCall
from skillopt_exp.records import Message
from skillopt_exp.runs.answers import open_answers
from skillopt_exp.runs.calls import CallLog


def start(
    url: str,
    store: Path,
    calls: Path,
    questions: Sequence[str],
    *,
    at_once: int = 4,
    calls_at_most: int | None = None,
    **settings: Any,
) -> "subprocess.Popen[str]":
    """Begin such a process."""
    spec = {"url": url, "store": str(store), "calls": str(calls), "questions": list(questions)}
    spec |= {"at_once": at_once, "calls_at_most": calls_at_most, "settings": settings}
    return subprocess.Popen(
        [sys.executable, __file__, json.dumps(spec)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def result(process: "subprocess.Popen[str]") -> dict[str, Any]:
    """What it printed, once it has ended well."""
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    printed: dict[str, Any] = json.loads(out)
    return printed


def answered(log: CallLog) -> list[SettledCall]:
    """What ``log`` holds of answered calls, reused ones included."""
    return [entry for entry in log.earlier() if isinstance(entry, SettledCall)]


async def _ask(spec: dict[str, Any]) -> dict[str, Any]:
    endpoint = EndpointConfig(
        name="small", base_url=spec["url"], max_concurrency=spec["at_once"], **spec["settings"]
    )
    with (
        open_answers(CacheConfig(path=spec["store"]), base=Path()) as answers,
        closing(CallLog(Path(spec["calls"]))) as calls,
    ):
        async with connect(
            ModelConfig(target=endpoint, optimizer=endpoint),
            accounts=Accounts(answers, calls, BudgetConfig(calls=spec["calls_at_most"])),
        ) as models:

            async def one(question: str) -> str:
                try:
                    reply = await models.target.ask([Message("user", question)], stage=Stage.rollout)
                except ReplyFault as fault:
                    return f"fault: {fault.kind}"
                return reply.content

            try:
                replies = list(await ordered(one, spec["questions"]))
            except BudgetError:
                replies = ["at the cap"]
        # After the models are closed: what was still under way has been counted.
        total = models.meter.total()
    paid = {"calls": total.calls, "lost": total.lost, "tokens": total.input_tokens}
    return {"replies": replies, "reused": total.reused, **paid}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_ask(json.loads(sys.argv[1])))))
