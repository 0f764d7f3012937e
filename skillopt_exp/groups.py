"""Results by groups of items, where a data set has groups. Pure."""

from collections.abc import Mapping, Sequence

from skillopt_exp.records import GroupResult, Item
from skillopt_exp.rules import FEW_TEST_ITEMS
from skillopt_exp.stats.standing import Attempt, averaged, gain, standing


def by_group(
    items: Sequence[Item], attempts: Mapping[str, Sequence[Attempt]], pair: tuple[str, str] | None
) -> dict[str, GroupResult]:
    """Each group of ``items`` by its name, the largest first; empty where they are all of one group.

    ``attempts`` holds those of each skill, in the order of ``items``; ``pair`` names the
    two of them to compare, first minus second. Items without a group are together under the empty name.
    """
    places: dict[str, list[int]] = {}
    for place, item in enumerate(items):
        places.setdefault(item.group, []).append(place)
    if len(places) < 2:
        return {}
    largest_first = sorted(places, key=lambda name: (-len(places[name]), name))
    by_item = {name: averaged(made) for name, made in attempts.items()}
    return {name: _result(places[name], by_item, pair) for name in largest_first}


def _result(
    places: Sequence[int], attempts: Mapping[str, Sequence[Attempt]], pair: tuple[str, str] | None
) -> GroupResult:
    of_group = {name: [made[place] for place in places] for name, made in attempts.items()}
    return GroupResult(
        num_items=len(places),
        small=len(places) < FEW_TEST_ITEMS,
        standings={name: standing(made) for name, made in of_group.items()},
        gain=None if pair is None else gain(*pair, of_group[pair[0]], of_group[pair[1]]),
    )
