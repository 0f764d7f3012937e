import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.flow import both, ordered, reduced


async def test_results_keep_their_place_whatever_ends_first() -> None:
    async def unit(rank: int) -> int:
        for _ in range(10 - rank):
            await asyncio.sleep(0)
        return rank

    assert await ordered(unit, range(10)) == tuple(range(10))


async def test_the_first_failure_cancels_the_others_and_waits_for_them() -> None:
    ended: list[str] = []

    async def unit(name: str) -> None:
        if name == "bad":
            raise ValueError(name)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(name)

    with pytest.raises(ValueError, match="bad"):
        await ordered(unit, ["a", "bad", "b"])
    assert sorted(ended) == ["a", "b"]


async def test_both_results_or_the_first_failure() -> None:
    async def value(number: int) -> int:
        return number

    async def failure() -> int:
        raise ValueError("no")

    assert await both(value(1), value(2)) == (1, 2)
    with pytest.raises(ValueError, match="no"):
        await both(failure(), value(2))


@given(st.integers(0, 40), st.integers(2, 6))
def test_merging_keeps_the_order_and_calls_only_for_groups(count: int, size: int) -> None:
    calls: list[int] = []

    async def merge(group: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
        calls.append(len(group))
        return tuple(number for part in group for number in part)

    merged = asyncio.run(reduced([(i,) for i in range(count)], size, merge))
    assert merged == ((tuple(range(count)),) if count else ())
    assert all(2 <= length <= size for length in calls)


async def test_groups_that_never_shrink_are_refused() -> None:
    async def merge(group: Sequence[int]) -> int:
        return group[0]

    with pytest.raises(ValueError, match="at least 2"):
        await reduced([1, 2], 1, merge)
