"""Records that say the same: ids must be unique, repeated content is dropped or warned about."""

from collections.abc import Iterator, Sequence

from skillopt_exp.data.items import Sourced, item_digest
from skillopt_exp.errors import DataError

MOST_NAMED = 5
"""How many offenders a message lists."""


def without_repeats(found: Sequence[Sourced]) -> tuple[tuple[Sourced, ...], tuple[str, ...]]:
    """The items to keep, ids unique among them, and warnings about repeated content.

    Records that repeat another letter by letter and have no id of their own are dropped. The same
    content under two ids may be meant, and stays.

    Raises:
        DataError: an id stands at two records.
    """
    first: dict[str, Sourced] = {}
    repeats: list[Sourced] = []
    clashes: list[tuple[Sourced, Sourced]] = []
    for each in found:
        known = first.setdefault(each.item.id, each)
        if known is each:
            continue
        if known.has_own_id or each.has_own_id:
            clashes.append((known, each))
        else:
            repeats.append(each)
    if clashes:
        listed = "; ".join(
            f"{later.item.id!r} at {known.where} and {later.where}" for known, later in clashes[:MOST_NAMED]
        )
        raise DataError(
            f"ids that stand at more than one record ({len(clashes)}): {listed}. Make them unique, or set "
            "dataset.fields.id=null to make ids from content"
        )
    warnings = []
    if repeats:
        warnings.append(
            f"{_count(len(repeats), 'record')} dropped that repeat another letter by letter, the first at "
            f"{repeats[0].where}"
        )
    kept = tuple(first.values())
    warnings.extend(_same_content(kept))
    return kept, tuple(warnings)


def _same_content(items: Sequence[Sourced]) -> Iterator[str]:
    first: dict[str, Sourced] = {}
    twins: list[tuple[Sourced, Sourced]] = []
    for each in items:
        known = first.setdefault(item_digest(each.item), each)
        if known is not each:
            twins.append((known, each))
    if twins:
        listed = "; ".join(f"{one.item.id!r} and {other.item.id!r}" for one, other in twins[:MOST_NAMED])
        yield (
            f"{_count(len(twins), 'item')} with the same content as another under another id: {listed}; "
            "the same question may be both trained on and scored"
        )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
