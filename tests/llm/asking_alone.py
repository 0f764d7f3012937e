"""A process of its own that asks questions of a server, keeping what it is answered: to be killed, or not.

Run as a script with one JSON object: url, store, calls, questions, at_once, settings. Prints one JSON
object: the replies in the order of the questions, and what was paid and reused.
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
from skillopt_exp.config.spending import CacheConfig
from skillopt_exp.errors import ReplyFault
from skillopt_exp.flow import ordered
from skillopt_exp.llm import connect
from skillopt_exp.llm.base import Stage
from skillopt_exp.records import Message
from skillopt_exp.runs.answers import open_answers
from skillopt_exp.runs.calls import CallLog


def start(
    url: str, store: Path, calls: Path, questions: Sequence[str], *, at_once: int = 4, **settings: Any
) -> "subprocess.Popen[str]":
    """Begin such a process."""
    spec = {"url": url, "store": str(store), "calls": str(calls), "questions": list(questions)}
    spec |= {"at_once": at_once, "settings": settings}
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


async def _ask(spec: dict[str, Any]) -> dict[str, Any]:
    endpoint = EndpointConfig(
        name="small", base_url=spec["url"], max_concurrency=spec["at_once"], **spec["settings"]
    )
    with (
        open_answers(CacheConfig(path=spec["store"]), base=Path()) as answers,
        closing(CallLog(Path(spec["calls"]))) as calls,
    ):
        async with connect(
            ModelConfig(target=endpoint, optimizer=endpoint), answers=answers, ledger=calls
        ) as models:

            async def one(question: str) -> str:
                try:
                    reply = await models.target.ask([Message("user", question)], stage=Stage.rollout)
                except ReplyFault as fault:
                    return f"fault: {fault.kind}"
                return reply.content

            replies = await ordered(one, spec["questions"])
            total = models.meter.total()
    return {"replies": replies, "calls": total.calls, "reused": total.reused, "tokens": total.input_tokens}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(_ask(json.loads(sys.argv[1])))))
