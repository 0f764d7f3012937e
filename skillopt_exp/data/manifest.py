"""The split manifest: what another person needs to rebuild the same splits and to see that they did."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from skillopt_exp.data.items import item_digest
from skillopt_exp.records import Item


@dataclass(frozen=True, slots=True)
class SourceEntry:
    """One file that was read. ``path`` is relative to the launch folder where it lies inside."""

    path: str
    sha256: str
    num_items: int


@dataclass(frozen=True, slots=True)
class SplitEntry:
    """One split: its ids in order, and a SHA-256 over ids and contents in that order."""

    num_items: int
    sha256: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reading:
    """How records became items: the fields of each role, the list in the file, the mark before golds."""

    id: str | None
    question: str
    answers: str
    context: str | None
    records: str | None
    gold_after: str | None


@dataclass(frozen=True, slots=True)
class Manifest:
    """Sources, reading, and splits of one run.

    ``ratio`` is None where files or a field say which split an item is in. ``num_source_items``
    counts records as they stand in the files; ``num_dropped`` were repeats, ``num_unused`` fell
    to ``limit`` or to the cap on test items.
    """

    format: int
    sources: tuple[SourceEntry, ...]
    reading: Reading
    num_source_items: int
    num_dropped: int
    num_unused: int
    seed: int
    ratio: tuple[float, ...] | None
    split_field: str | None
    limit: int | None
    shuffle_answers: bool
    train: SplitEntry
    val: SplitEntry
    test: SplitEntry

    def to_json(self) -> str:
        """Indented JSON with a final newline; equal manifests give equal bytes."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False) + "\n"


def split_entry(items: Sequence[Item]) -> SplitEntry:
    """The manifest's entry of one split."""
    lines = "".join(f"{json.dumps(item.id)} {item_digest(item)}\n" for item in items)
    return SplitEntry(
        len(items), hashlib.sha256(lines.encode()).hexdigest(), tuple(item.id for item in items)
    )
