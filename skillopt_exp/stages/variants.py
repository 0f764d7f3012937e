"""Between select and update: other subsets of the same pool, where a step tries several candidates. Pure."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from skillopt_exp.records import Edit, Patch


def variants(selected: Patch, pool: Patch, count: int) -> tuple[Patch, ...]:
    """``selected``, and other choices of proposals up to ``count`` in all; fewer where there are no more.

    Each gives up one selected proposal, the last ones first, for the next of the ``pool`` that was not
    selected, as long as there is one; after that it goes without.
    """
    chosen = islice(_choices(selected.edits, pool.edits), count - 1)
    return (selected, *(replace(selected, edits=edits) for edits in chosen))


def _choices(selected: tuple[Edit, ...], pool: tuple[Edit, ...]) -> Iterator[tuple[Edit, ...]]:
    spare = [edit for edit in pool if edit not in selected]
    kept = [selected[:place] + selected[place + 1 :] for place in reversed(range(len(selected)))]
    for number, other in enumerate(spare):
        if kept:
            yield (*kept[number % len(kept)], other)
    yield from (edits for edits in kept if edits)
