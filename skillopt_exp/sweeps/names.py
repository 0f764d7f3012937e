"""What a sweep and its jobs are called: by the keys that are swept, and their values."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

_LONGEST = 80


def short_names(keys: Sequence[str]) -> dict[str, str]:
    """The last part of each dotted key or group, the whole where that would not tell two apart."""
    last = {key: re.split(r"[./]", key.lstrip("+"))[-1] for key in keys}
    shared = Counter(last.values())
    return {key: name if shared[name] == 1 else key.lstrip("+") for key, name in last.items()}


def job_name(swept: Mapping[str, str]) -> str:
    """The values of a job's swept keys in words: ``learning_rate=3 batch_size=20``; never empty."""
    names = short_names(tuple(swept))
    return " ".join(f"{names[key]}={value}" for key, value in swept.items()) or "the only job"


def sweep_name(dataset: str, keys: Sequence[str]) -> str:
    """The folder of a sweep over ``keys`` whose user gave no name: one that a wider grid finds again."""
    named = "-".join([dataset, *short_names(keys).values()])
    return re.sub(r"[^\w.-]", "_", named)[:_LONGEST].rstrip(".") or "sweep"
