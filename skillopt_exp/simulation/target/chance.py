"""Chance that is the same in every process: a number from a hash of what is decided on."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")

_BYTES = 6  # as many as a float holds exactly


def fraction(*subject: str) -> float:
    """A number in [0, 1), evenly spread over subjects and fixed for each."""
    digest = hashlib.sha256("\x1f".join(subject).encode(errors="surrogatepass")).digest()
    return int.from_bytes(digest[:_BYTES], "big") / float(256**_BYTES)


def pick(options: Sequence[T], *subject: str) -> T:
    """One of ``options`` (at least one)."""
    return options[int(fraction(*subject) * len(options))]


def pick_by_weight(weights: Mapping[T, float], *subject: str) -> T:
    """One key of ``weights`` (at least one), each as often as its weight among all."""
    rest = fraction(*subject) * sum(weights.values())
    for key, weight in weights.items():
        rest -= weight
        if rest < 0:
            return key
    return next(reversed(tuple(weights)))
