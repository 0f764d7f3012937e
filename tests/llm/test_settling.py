import asyncio

import pytest

from skillopt_exp.llm.failure import CallFailed, Failure
from skillopt_exp.llm.settling import Settling


async def tried(settling: Settling, failure: Failure | None) -> list[str]:
    """One tries and meets ``failure``; what becomes of three others who wait meanwhile."""
    began = asyncio.Event()

    async def first() -> None:
        with settling.turn():
            began.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            if failure is not None:
                raise CallFailed(failure)

    async def other() -> str:
        await began.wait()
        assert settling.taken
        try:
            await settling.other()
        except CallFailed as error:
            return str(error)
        return "goes on"

    results = await asyncio.gather(first(), *(other() for _ in range(3)), return_exceptions=True)
    assert not settling.taken
    return [str(each) for each in results[1:]]


@pytest.mark.parametrize(
    ("failure", "others"),
    [
        (None, "goes on"),
        (Failure("down", status=503), "HTTP 503: down"),
        (Failure("no answer within 300 s"), "no answer within 300 s"),
        (Failure("this prompt is not allowed", status=400), "goes on"),
    ],
)
async def test_others_share_a_silence_and_no_refusal(failure: Failure | None, others: str) -> None:
    assert await tried(Settling(), failure) == [others] * 3


async def test_one_who_waits_and_is_cancelled_takes_nothing_from_the_others() -> None:
    settling = Settling()
    with settling.turn():
        waiting = [asyncio.create_task(settling.other()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        await asyncio.gather(waiting[0], return_exceptions=True)
        assert not waiting[1].done()
    await waiting[1]
