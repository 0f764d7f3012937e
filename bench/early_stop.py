"""Target calls that ending evaluations early saves on val: ``python bench/early_stop.py``.

Whole runs on the demo data with the simulated models, which take a few milliseconds a call here, once with
``gate.early_stop=none`` and then at several numbers of slots. What is asked ahead of a decision follows
from the slots; what is decided does not, which is checked here, too. Screening on the batch is measured
beside it.
"""

import asyncio
import io
import random
import sys
import tempfile
from pathlib import Path

import httpx2
from rich.console import Console

from skillopt_exp import simulation
from skillopt_exp.commands.composing import compose_raw
from skillopt_exp.commands.running import Launch, start
from skillopt_exp.records import Summary

SLOTS = (1, 8, 24, 64)
SEEDS = (1, 2, 3)
SMALL = ("model=simulated", "tracking=none", "cache.mode=none", "evaluation.test_limit=1")


SECONDS = (0.002, 0.008)
"""The shortest and the longest call."""


def slow(transport: httpx2.AsyncBaseTransport) -> httpx2.AsyncBaseTransport:
    """The same answers, each after a while: without that none is under way when a decision falls."""
    chance = random.Random(0)

    async def handle(request: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(chance.uniform(*SECONDS))
        return await transport.handle_async_request(request)

    return httpx2.MockTransport(handle)


def run(*overrides: str) -> Summary:
    """One run in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        launch = Launch(base=Path(folder), choices={}, console=Console(file=io.StringIO()))
        return start(compose_raw([*SMALL, *overrides]), Path(folder) / "run", launch)


def calls(summary: Summary, *stages: str) -> int:
    """Target calls of these stages."""
    return sum(usage.calls for key, usage in summary.usage.items() if key.split("/")[-1] in stages)


def main() -> None:
    """Prints the calls on val, one line for each seed and number of slots."""
    at_once = simulation.transport
    simulation.transport = lambda items: slow(at_once(items))
    sys.stdout.write(
        "seed  steps  rejected  slots  val calls, all asked  ended early  saved   screened too\n"
    )
    for seed in SEEDS:
        whole = run(f"train.seed={seed}", "gate.early_stop=none")
        asked = calls(whole, "selection")
        for slots in SLOTS:
            keys = (f"train.seed={seed}", f"model.target.max_concurrency={slots}")
            early = run(*keys)
            assert early.best_digest == whole.best_digest
            assert early.outcomes == whole.outcomes
            screened = calls(run(*keys, "gate.screen=batch"), "selection", "screen")
            few = calls(early, "selection")
            sys.stdout.write(
                f"{seed:>4}  {whole.total_steps:>5}  {whole.total_rejects:>8}  {slots:>5}  {asked:>9,}  "
                f"{few:>11,}  {1 - few / asked:>5.0%}  {1 - screened / asked:>12.0%}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
