"""Turns that processes share: never more than allowed, and none lost with a process."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llm.misbehaving import MisbehavingServer, says

from skillopt_exp.errors import InterruptedRun
from skillopt_exp.runs.turns import FileTurns

ROOT = Path(__file__).parents[2]
CALLER = """
import asyncio, sys
from pathlib import Path
from skillopt_exp.config.model import EndpointConfig, ModelConfig
from skillopt_exp.llm import connect
from skillopt_exp.llm.base import Message, Stage
from skillopt_exp.llm.connect import Accounts
from skillopt_exp.runs.turns import FileTurns

async def main(url, folder, mine):
    role = dict(base_url=url, api_key_env=None, max_concurrency=3)
    config = ModelConfig(target=EndpointConfig(name="m", **role), optimizer=EndpointConfig(name="m", **role))
    accounts = Accounts(turns=lambda name, at_once: FileTurns(Path(folder), name, at_once))
    async with connect(config, accounts=accounts) as models:
        asked = [[Message("user", f"{mine} {i}")] for i in range(12)]
        await asyncio.gather(*(models.target.ask(each, stage=Stage.rollout) for each in asked))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def slow_server() -> Iterator[MisbehavingServer]:
    server = MisbehavingServer()
    server.answers = [says("hello", delay=0.05)]
    yield server
    server.close()


async def test_two_that_share_turns_have_no_more_than_one_may_have(tmp_path: Path) -> None:
    one, other = (FileTurns(tmp_path, "m at host", 3) for _ in range(2))
    held = [await one.take(), await other.take(), await one.take()]
    fourth = asyncio.ensure_future(other.take())
    await asyncio.sleep(0.1)
    assert not fourth.done()
    held[0].release()
    (await fourth).release()
    for each in held[1:]:
        each.release()


async def test_another_endpoint_has_turns_of_its_own(tmp_path: Path) -> None:
    held = await FileTurns(tmp_path, "a at host", 1).take()
    (await FileTurns(tmp_path, "b at host", 1).take()).release()
    held.release()


@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(1, 4), min_size=1, max_size=12), st.integers(1, 4))
def test_no_order_of_comings_and_goings_gives_more_than_allowed(
    tmp_path_factory: pytest.TempPathFactory, yields: list[int], at_once: int
) -> None:
    folder = tmp_path_factory.mktemp("turns")

    async def all_of_them() -> int:
        turns = [FileTurns(folder, "m", at_once) for _ in range(3)]
        now = most = 0

        async def one(number: int, naps: int) -> None:
            nonlocal now, most
            held = await turns[number % 3].take()
            now += 1
            most = max(most, now)
            for _ in range(naps):
                await asyncio.sleep(0)
            now -= 1
            held.release()

        await asyncio.gather(*(one(number, naps) for number, naps in enumerate(yields)))
        return most

    assert asyncio.run(all_of_them()) <= at_once


async def test_a_folder_that_takes_no_files_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InterruptedRun, match=r"cache\.path"):
        await FileTurns(tmp_path / "file", "m", 1).take()


def test_a_killed_process_gives_its_turn_back(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [
            sys.executable, "-c",
            "import asyncio, sys; from pathlib import Path; from skillopt_exp.runs.turns import FileTurns\n"
            "held = asyncio.run(FileTurns(Path(sys.argv[1]), 'm', 1).take())\n"
            "sys.stdout.write('held\\n'); sys.stdout.flush(); sys.stdin.read()",
            str(tmp_path),
        ],
        env=os.environ | {"PYTHONPATH": str(ROOT)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"

    async def wait_for_it() -> None:
        waiting = asyncio.ensure_future(FileTurns(tmp_path, "m", 1).take())
        await asyncio.sleep(0.1)
        assert not waiting.done()
        holder.send_signal(signal.SIGKILL)
        (await waiting).release()

    asyncio.run(wait_for_it())
    holder.communicate()


def test_four_processes_together_stay_within_the_limit_of_one(
    slow_server: MisbehavingServer, tmp_path: Path
) -> None:
    callers = [
        subprocess.Popen(
            [sys.executable, "-c", CALLER, slow_server.url, str(tmp_path), str(number)],
            env=os.environ | {"PYTHONPATH": str(ROOT)}, stderr=subprocess.PIPE, text=True,
        )
        for number in range(4)
    ]  # fmt: skip
    for caller in callers:
        _, err = caller.communicate(timeout=100)
        assert caller.returncode == 0, err
    assert len(slow_server.asked) == 48
    assert slow_server.most_at_once == 3
