"""``dataset``: which items, and which task scores them."""

import math
import re
from dataclasses import dataclass
from enum import Enum
from typing import Any

from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError

LONGEST_NAME = 100
"""Bytes of a data set's name."""

_FOLDER_NAME = re.compile(r"[^\s./\\\x00-\x1f\x7f][^/\\\x00-\x1f\x7f]*(?<!\s)")


class Scorer(Enum):
    """How a reply is compared with the gold answers."""

    exact = "exact"
    f1 = "f1"
    numeric = "numeric"
    choice = "choice"
    contains = "contains"
    regex = "regex"


@dataclass(kw_only=True)
class FieldsConfig:
    """Which field of a source record plays which role; a dot goes into nested records."""

    id: str | None = key("id", affects=Affects.result, help="the item's id; made from content where absent")
    question: str = key("question", affects=Affects.result, help="what the target is asked")
    answers: str = key("answers", affects=Affects.result, help="the accepted answers: text, number or list")
    context: str | None = key(
        "context", affects=Affects.result, help="passages to read; may be absent or null"
    )
    group: str | None = key(
        "group",
        affects=Affects.nothing,
        help="the kind of task, by which results are broken down; may be absent or null",
    )


@dataclass(kw_only=True)
class DatasetConfig:
    """Keys that every task shares. A task with keys of its own adds them in a subclass."""

    name: str = key(affects=Affects.nothing, help="names the run's folder and its MLflow experiment")
    task: str = key(affects=Affects.result, help="the task that prompts and scores: searchqa or qa")
    path: str | None = key(
        None, affects=Affects.result, help="one .json, .jsonl or .csv file of items, maybe with .gz"
    )
    split_dir: str | None = key(
        None,
        affects=Affects.result,
        help="a folder of train, val and test, each with items.json (or .jsonl, .csv)",
    )
    records: str | None = key(
        None, affects=Affects.result, help="where the list of items is in a JSON file, by dots"
    )
    fields: FieldsConfig = key(
        factory=FieldsConfig, affects=Affects.result, help="which field plays which role"
    )
    split: list[float] | None = key(
        None,
        affects=Affects.result,
        help="ratio of train, val, test for `path`; null derives it from the size",
    )
    split_field: str | None = key(
        None,
        affects=Affects.result,
        help="a field of each record that says train, val or test, instead of a ratio",
    )
    split_seed: int = key(42, affects=Affects.result, help="seed of the split and of `limit`")
    limit: int | None = key(None, affects=Affects.result, help="take this many items of `path`, by seed")
    min_source_items: int = key(
        0, affects=Affects.nothing, help="warn when the source has fewer items than this"
    )
    shuffle_answers: bool = key(
        False,
        affects=Affects.result,
        help="control: deal the answers of each split to other items; only their form can still be learned",
    )

    def __post_init__(self) -> None:
        if not _FOLDER_NAME.fullmatch(self.name) or len(self.name.encode()) > LONGEST_NAME:
            raise UsageError(
                f"dataset.name is {self.name[:LONGEST_NAME]!r}; it names a folder: give one line of at most "
                f"{LONGEST_NAME} bytes without slashes that does not begin with a dot or a blank"
            )
        if self.split is not None and (
            len(self.split) != 3 or not all(0 < part < math.inf for part in self.split)
        ):
            raise UsageError(
                f"dataset.split is {self.split}; give three numbers above zero for train, val and test: "
                "'dataset.split=[2,1,7]'"
            )
        if self.limit is not None and self.limit < 3:
            raise UsageError(f"dataset.limit is {self.limit}; at least 3 are needed, one item a split")
        if self.path is not None and self.split_dir is not None:
            raise UsageError(
                "dataset.path and dataset.split_dir are both given; keep one and set the other to null"
            )
        if self.split is not None and self.split_field is not None:
            raise UsageError(
                "dataset.split and dataset.split_field are both given; keep one and set the other to null"
            )


@dataclass(kw_only=True)
class QADatasetConfig(DatasetConfig):
    """Single-turn question answering: ``task=searchqa`` and ``task=qa``."""

    scorer: Scorer = key(
        Scorer.exact, affects=Affects.result, help="how a reply is compared with the gold answers"
    )
    gold_after: str | None = key(
        None,
        affects=Affects.result,
        help="the gold answer is what follows the last of these marks, as '####'",
    )
    context_chars: int = key(
        24000, affects=Affects.result, help="longest context in characters; cut at the borders of documents"
    )
    instruction: str | None = key(
        None,
        affects=Affects.result,
        help="what the target is told to do; null takes the task's own words. The sentence about answer "
        "tags is added unless the text names <answer>",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.context_chars < 0:
            raise UsageError(f"dataset.context_chars is {self.context_chars}; give 0 or more")


SCHEMAS: dict[str, Any] = {"base_dataset": DatasetConfig, "base_qa": QADatasetConfig}
