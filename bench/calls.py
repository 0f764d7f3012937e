"""What one call costs in the client, beside the plain openai client: ``python bench/calls.py``.

Both send the same conversation to the same in-process transport, which answers with fixed bytes, so that
the network plays no part. Rounds of both alternate; the median round counts. The plain client validates
the reply into its own objects, which ours does not; ours reads it, counts tokens and keeps the limits.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable

import httpx2
import openai

from skillopt_exp import llm
from skillopt_exp.commands.composing import compose
from skillopt_exp.llm.base import Stage
from skillopt_exp.records import Message

CALLS = 500
ROUNDS = 9
AT_ONCE = (1, 64)
PROMPT = "Which river flows through Cairo? " * 60

REPLY = json.dumps(
    {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": "simulated-target",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "<answer>the Nile</answer>"},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 500, "completion_tokens": 8, "total_tokens": 508},
    }
).encode()

Call = Callable[[int], Awaitable[object]]
"""One call; its number makes the question another one each time, so that nothing can be answered twice."""


def transport() -> httpx2.MockTransport:
    """Answers everything with the same bytes."""
    return httpx2.MockTransport(
        lambda request: httpx2.Response(200, headers={"content-type": "application/json"}, content=REPLY)
    )


async def round_of(call: Call, at_once: int, first: int) -> float:
    """Microseconds a call, over one round with ``at_once`` under way."""
    slots = asyncio.Semaphore(at_once)

    async def one(number: int) -> None:
        async with slots:
            await call(number)

    start = time.perf_counter()
    await asyncio.gather(*(one(first + offset) for offset in range(CALLS)))
    return (time.perf_counter() - start) / CALLS * 1e6


async def compare(ours: Call, plain: Call, at_once: int) -> tuple[float, float]:
    """Median microseconds a call of both."""
    times: tuple[list[float], list[float]] = ([], [])
    first = 0
    for _ in range(ROUNDS):
        for call, kept in zip((ours, plain), times, strict=True):
            kept.append(await round_of(call, at_once, first))
            first += CALLS
    return statistics.median(times[0]), statistics.median(times[1])


async def measure() -> list[str]:
    """The lines of the table."""
    lines = [f"{'calls at once':>13}{'ours':>11}{'plain openai':>15}{'ratio':>8}"]
    http = httpx2.AsyncClient(transport=transport())
    plain = openai.AsyncOpenAI(
        api_key="none", base_url="http://localhost/v1", http_client=http, max_retries=0
    )
    async with llm.connect(compose(["model=simulated"]).model, transport=transport()) as models, plain:

        async def ask_ours(number: int) -> object:
            return await models.target.ask([Message("user", f"{number}. {PROMPT}")], stage=Stage.rollout)

        async def ask_plain(number: int) -> object:
            return await plain.chat.completions.create(
                model="simulated-target",
                messages=[{"role": "user", "content": f"{number}. {PROMPT}"}],
                seed=1,
            )

        for at_once in AT_ONCE:
            ours, bare = await compare(ask_ours, ask_plain, at_once)
            lines.append(f"{at_once:>13}{ours:>8.0f} µs{bare:>12.0f} µs{ours / bare:>8.2f}")
    return lines


if __name__ == "__main__":
    sys.stdout.write("\n".join(asyncio.run(measure())) + "\n")
