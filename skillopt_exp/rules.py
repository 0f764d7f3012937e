"""Sizes in, defaults and warnings out: batch size, learning rate, split. Pure.

The table itself is data (``conf/rule/seed.yaml``); this module only reads it. Batch sizes count
items a step, learning rates count edits a step. Halves round up everywhere.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from skillopt_exp.records import Role, Split

FEW_TRAIN_ITEMS = 200
FEW_VAL_ITEMS = 30
FEW_TEST_ITEMS = 20
SOME_EPOCHS = 4
RETIRED_MODELS = frozenset({"deepseek-chat", "deepseek-reasoner"})


@dataclass(frozen=True, slots=True)
class Band:
    """One row: train splits from ``at_least`` items on. ``batch_size`` None is a tenth of the split."""

    at_least: int
    batch_size: tuple[int, int] | None
    learning_rate: tuple[int, int]
    steps: tuple[int, int]

    @property
    def middle_steps(self) -> float:
        return (self.steps[0] + self.steps[1]) / 2


@dataclass(frozen=True, slots=True)
class RuleTable:
    """The rows by rising size; the last one is open and reaches its top at ``open_until`` items."""

    name: str
    bands: tuple[Band, ...]
    open_until: int

    def row(self, num_train: int) -> tuple[Band, int]:
        """The row of a train split of ``num_train`` items, and the size at which the row ends (excluded)."""
        index = max(i for i, band in enumerate(self.bands) if i == 0 or band.at_least <= num_train)
        is_last = index == len(self.bands) - 1
        return self.bands[index], self.open_until if is_last else self.bands[index + 1].at_least


@dataclass(frozen=True, slots=True)
class Derived:
    """What the rule says of one train split, and why, in words."""

    batch_size: int
    learning_rate: int
    batch_size_reason: str
    learning_rate_reason: str
    steps: tuple[int, int]


@dataclass(frozen=True, slots=True)
class DefaultSplit:
    """Ratio of train, val and test where the user gave none; ``test_cap`` limits the test items."""

    ratio: tuple[int, int, int]
    test_cap: int | None


def derive(table: RuleTable, num_train: int) -> Derived:
    """Batch size (1..num_train) and learning rate (edits a step) for ``num_train`` >= 1 items."""
    if num_train < 1:
        raise ValueError(f"num_train must be at least 1, not {num_train}")
    band, end = table.row(num_train)
    span = f"{band.at_least}-{end - 1}" if band is not table.bands[-1] else f"{band.at_least} and more"
    if band.batch_size is None:
        batch_size = max(1, round_half_up(num_train / 10))
        batch_reason = f"rule {table.name}: a tenth of the train split under {end} items"
    else:
        low, high = band.batch_size
        fitting = round_half_up(num_train / band.middle_steps)
        batch_size = min(max(fitting, low), high)
        batch_reason = f"rule {table.name}: {span} items in about {band.middle_steps:g} steps an epoch"
        if fitting != batch_size:
            bound = "least" if fitting < low else "most"
            batch_reason = f"rule {table.name}: {span} items, at {bound} {batch_size}"
    first, last = band.learning_rate
    position = min(1.0, (num_train - band.at_least) / (end - band.at_least))
    learning_rate = round_half_up(first + (last - first) * position)
    rate_reason = f"rule {table.name}: {first} to {last} edits a step for {span} items"
    return Derived(min(batch_size, num_train), learning_rate, batch_reason, rate_reason, band.steps)


def default_min_learning_rate(learning_rate: int) -> int:
    """Where the schedule ends unless the user says otherwise."""
    return min(2, learning_rate)


def default_split(num_items: int) -> DefaultSplit:
    """The ratio for a source of ``num_items``: small ones give val and test a larger share."""
    if num_items < 1000:
        return DefaultSplit((4, 3, 3), test_cap=None)
    return DefaultSplit((2, 1, 7), test_cap=1000)


def steps_per_epoch(num_train: int, batch_size: int) -> int:
    """Batches that cover the train split once."""
    return math.ceil(num_train / batch_size)


def size_warnings(sizes: Mapping[Split, int]) -> tuple[str, ...]:
    """What is too small to be trusted."""
    warnings = []
    if sizes[Split.train] < FEW_TRAIN_ITEMS:
        warnings.append(few_train_items(sizes[Split.train]))
    if sizes[Split.val] < FEW_VAL_ITEMS:
        warnings.append(
            f"val has {sizes[Split.val]} items, under {FEW_VAL_ITEMS}: the gate cannot be trusted; "
            f"one item is {100 / sizes[Split.val]:.1f} points"
        )
    if sizes[Split.test] < FEW_TEST_ITEMS:
        warnings.append(
            f"test has {sizes[Split.test]} items, under {FEW_TEST_ITEMS}: only a very large gain "
            f"can be told from luck; one item is {100 / sizes[Split.test]:.1f} points"
        )
    return tuple(warnings)


def few_train_items(num_train: int) -> str:
    """The warning that a small train split deserves."""
    return (
        f"train has {num_train} items, under {FEW_TRAIN_ITEMS}: too few failures to generalise from; "
        "more data beats more tuning"
    )


def choice_warnings(derived: Derived, *, steps: int, batch_size: int, num_epochs: int) -> tuple[str, ...]:
    """What the user's own choices make unlikely to pay off. ``steps`` counts those of an epoch."""
    warnings = []
    if num_epochs > SOME_EPOCHS:
        warnings.append(f"{num_epochs} epochs: gains flatten after epoch 3")
    low, high = derived.steps
    if batch_size != derived.batch_size and not low <= steps <= high:
        warnings.append(
            f"batch size {batch_size} makes {steps} steps an epoch; the rule aims at {low} to {high} "
            f"(batch size {derived.batch_size})"
        )
    return tuple(warnings)


def model_warnings(names: Mapping[Role, str]) -> tuple[str, ...]:
    """Retired model names; ``names`` maps a role to the name it is asked for by."""
    return tuple(
        f"model {name!r} ({role}) was retired by its provider; use deepseek-v4-flash or deepseek-v4-pro"
        for role, name in names.items()
        if name in RETIRED_MODELS
    )


def round_half_up(value: float) -> int:
    """Nearest integer, halves upwards (Python's ``round`` sends them to even)."""
    return math.floor(value + 0.5)
