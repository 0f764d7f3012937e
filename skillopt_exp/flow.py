"""Running awaitables at once while results keep their place. The only module that knows about order
of completion: what comes out depends on what went in, never on what was ready first.

How many requests are under way is not decided here but where they are made (``llm/limits.py``).
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def ordered(unit: Callable[[T], Coroutine[Any, Any, R]], values: Iterable[T]) -> tuple[R, ...]:
    """``unit`` of every value, all at once; results in the order of ``values``.

    The first failure cancels the others, waits until they have ended, and is raised.
    """
    tasks = [asyncio.ensure_future(unit(value)) for value in values]
    try:
        return tuple(await asyncio.gather(*tasks))
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


async def reduced(
    values: Sequence[T], group_size: int, merge: Callable[[Sequence[T]], Coroutine[Any, Any, T]]
) -> tuple[T, ...]:
    """One value (or none of none), merged ``group_size`` (at least 2) neighbours at a time, level by level.

    A group of one goes up as it is, without a call of ``merge``.
    """
    if group_size < 2:
        raise ValueError(f"groups of {group_size} never shrink; group_size must be at least 2")

    async def one(group: Sequence[T]) -> T:
        return group[0] if len(group) == 1 else await merge(group)

    level = tuple(values)
    while len(level) > 1:
        level = await ordered(one, [level[i : i + group_size] for i in range(0, len(level), group_size)])
    return level


async def both(first: Awaitable[T], second: Awaitable[R]) -> tuple[T, R]:
    """Two things at once, both results."""
    tasks = (asyncio.ensure_future(first), asyncio.ensure_future(second))
    try:
        one, other = await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise
    return one, other


async def in_blocks(
    unit: Callable[[T], Coroutine[Any, Any, R]],
    blocks: Sequence[Sequence[T]],
    enough: Callable[[Mapping[T, R]], bool],
    *,
    at_once: int,
) -> dict[T, R]:
    """``unit`` of the values of whole blocks, one block after the other, until ``enough`` of them.

    It is asked after each block with the results of this and all earlier ones, and what it says does not
    depend on what else is ready. Later blocks are begun while fewer than ``at_once`` values are under way;
    what they came to is left out.
    """
    done: dict[T, R] = {}
    running: deque[tuple[Sequence[T], asyncio.Future[tuple[R, ...]]]] = deque()
    waiting = deque(blocks)
    try:
        while running or waiting:
            while waiting and (not running or sum(len(block) for block, _ in running) < at_once):
                block = waiting.popleft()
                running.append((block, asyncio.ensure_future(ordered(unit, block))))
            block, results = running[0]  # stays there while it is waited for, to be cancelled with the rest
            done.update(zip(block, await results, strict=True))
            running.popleft()
            if (running or waiting) and enough(done):
                break
    finally:
        for _, ahead in running:
            ahead.cancel()
        await asyncio.gather(*(ahead for _, ahead in running), return_exceptions=True)
    return done
