"""A data set's configuration to its splits: locate, read, make items, split, keep a manifest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.config.dataset import DatasetConfig, QADatasetConfig
from skillopt_exp.data.items import (
    ItemReader,
    Sourced,
    optional,
    require_chosen_fields,
)
from skillopt_exp.data.locate import Located, locate
from skillopt_exp.data.manifest import Manifest, Reading, SourceEntry, split_entry
from skillopt_exp.data.read import Record, Source, read
from skillopt_exp.data.repeats import MOST_NAMED, without_repeats
from skillopt_exp.data.splits import apportion, deal_answers, partition, sample
from skillopt_exp.errors import DataError
from skillopt_exp.records import Item, Split, Splits
from skillopt_exp.rules import default_split


@dataclass(frozen=True, slots=True)
class Loaded:
    """The items of a run.

    ``knowledge`` holds the items of all splits with their true answers; ``splits`` differs from it
    only under ``dataset.shuffle_answers``.
    """

    splits: Splits
    knowledge: tuple[Item, ...]
    manifest: Manifest
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Assigned:
    """Which item is in which split, and by which ratio, if by any."""

    parts: Mapping[Split, Sequence[Sourced]]
    ratio: tuple[float, ...] | None
    warnings: tuple[str, ...] = ()


def load(config: DatasetConfig, *, base: Path) -> Loaded:
    """Read, split and, for the control, shuffle the items. ``base`` is the launch folder.

    Raises:
        DataError: the source is missing or says something that cannot be used; names file and line.
        UsageError: a key is set that has no effect on this kind of source.
    """
    located = locate(config, base=base)
    sources = [read(each.path, label=each.label, list_at=config.records) for each in located]
    found = _items(config, located, sources)
    kept, warnings = without_repeats(found)
    chosen = kept if config.limit is None else sample(kept, limit=config.limit, seed=config.split_seed)
    is_labelled = config.split_dir is not None or config.split_field is not None
    assigned = _by_label(chosen, config) if is_labelled else _by_ratio(chosen, config)

    true = Splits(**{split: tuple(each.item for each in part) for split, part in assigned.parts.items()})
    splits = _dealt(true, seed=config.split_seed) if config.shuffle_answers else true
    manifest = _manifest(config, sources, splits, num_kept=len(kept), ratio=assigned.ratio)
    warnings += assigned.warnings + _source_warnings(config, len(found))
    return Loaded(splits, knowledge=tuple(true), manifest=manifest, warnings=warnings)


def _items(config: DatasetConfig, located: Sequence[Located], sources: Sequence[Source]) -> list[Sourced]:
    records = [record for source in sources for record in source.records]
    require_chosen_fields(records, config.fields)
    labels = None if config.split_field is None else _labels(records, config.split_field)
    reader = ItemReader(config.fields, gold_after=_gold_after(config))
    if labels is not None:
        return [reader.read(record, split=label) for record, label in zip(records, labels, strict=True)]
    return [
        reader.read(record, split=place.split)
        for place, source in zip(located, sources, strict=True)
        for record in source.records
    ]


def _labels(records: Sequence[Record], name: str) -> list[Split]:
    """The split that each record names in its field ``name``."""
    values = [optional(record, name) for record in records]
    bare = [record.where for record, value in zip(records, values, strict=True) if value in (None, "")]
    if bare:
        raise DataError(
            f"{len(bare)} of {len(records)} records have nothing in dataset.split_field={name}: "
            f"{', '.join(bare[:MOST_NAMED])}. Label all of them, or set dataset.split_field=null to split "
            "by ratio"
        )
    names = [split.value for split in Split]
    labels = []
    for record, value in zip(records, values, strict=True):
        if not isinstance(value, str) or value not in names:
            raise DataError(
                f"{record.where}: dataset.split_field={name} says {value!r}; a split is {', '.join(names)}"
            )
        labels.append(Split(value))
    return labels


def _by_label(items: Sequence[Sourced], config: DatasetConfig) -> _Assigned:
    parts = {split: [each for each in items if each.split is split] for split in Split}
    for split, part in parts.items():
        if not part:
            raise DataError(
                f"dataset {config.name!r}: the {split} split is empty; each of train, val and test needs "
                "at least one item, and none is borrowed from another"
            )
    return _Assigned(parts, ratio=None)


def _by_ratio(items: Sequence[Sourced], config: DatasetConfig) -> _Assigned:
    if len(items) < len(Split):
        raise DataError(
            f"dataset {config.name!r} has {len(items)} items; at least {len(Split)} are needed, one a split"
        )
    rule = default_split(len(items))
    ratio = tuple(config.split) if config.split is not None else rule.ratio
    cap = None if config.split is not None else rule.test_cap
    num_train, num_val, num_test = apportion(len(items), ratio)
    capped = num_test if cap is None else min(num_test, cap)
    sizes = (num_train, num_val, capped)
    parts = dict(zip(Split, partition(items, sizes, seed=config.split_seed), strict=True))
    shares = ",".join(f"{part:g}" for part in ratio)
    warning = (
        f"{num_test - capped} of {len(items)} items are unused: the rule caps test at {cap}; "
        f"dataset.split=[{shares}] uses all"
    )
    return _Assigned(parts, ratio, (warning,) if capped < num_test else ())


def _dealt(splits: Splits, *, seed: int) -> Splits:
    return Splits(**{split: deal_answers(getattr(splits, split), seed=seed, split=split) for split in Split})


def _gold_after(config: DatasetConfig) -> str | None:
    return config.gold_after if isinstance(config, QADatasetConfig) else None


def _manifest(
    config: DatasetConfig,
    sources: Sequence[Source],
    splits: Splits,
    *,
    num_kept: int,
    ratio: tuple[float, ...] | None,
) -> Manifest:
    entries = tuple(SourceEntry(each.label, each.sha256, len(each.records)) for each in sources)
    num_source_items = sum(entry.num_items for entry in entries)
    fields = config.fields
    return Manifest(
        format=1,
        sources=entries,
        reading=Reading(
            id=fields.id,
            question=fields.question,
            answers=fields.answers,
            context=fields.context,
            records=config.records,
            gold_after=_gold_after(config),
        ),
        num_source_items=num_source_items,
        num_dropped=num_source_items - num_kept,
        num_unused=num_kept - len(tuple(splits)),
        seed=config.split_seed,
        ratio=ratio,
        split_field=config.split_field,
        limit=config.limit,
        shuffle_answers=config.shuffle_answers,
        train=split_entry(splits.train),
        val=split_entry(splits.val),
        test=split_entry(splits.test),
    )


def _source_warnings(config: DatasetConfig, num_source_items: int) -> tuple[str, ...]:
    if num_source_items >= config.min_source_items:
        return ()
    return (
        f"the source has {num_source_items} items; dataset {config.name!r} is meant to have at least "
        f"{config.min_source_items}",
    )
