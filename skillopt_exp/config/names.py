"""Finding what a user meant."""

from collections.abc import Collection
from difflib import get_close_matches


def meant(name: str, known: Collection[str]) -> tuple[str, ...]:
    """The known names closest to ``name``, at most three; none where nothing is close.

    The last part counts as well as the whole: ``batch_size`` finds ``train.batch_size``.
    """
    last = name.rsplit(".", 1)[-1]
    same_last = sorted(key for key in known if key.rsplit(".", 1)[-1] == last)
    by_last = {key.rsplit(".", 1)[-1]: key for key in sorted(known)}
    close = get_close_matches(name, sorted(known), n=1, cutoff=0.75)
    close += [by_last[part] for part in get_close_matches(last, by_last, n=1, cutoff=0.7)]
    return tuple(dict.fromkeys(same_last[:3] + close))[:3]


def nearest(name: str, known: Collection[str]) -> str:
    """A phrase that names the known keys closest to ``name``."""
    found = meant(name, known)
    return did_you_mean(found) if found else "see all keys with: python -m skillopt_exp --cfg job"


def did_you_mean(found: Collection[str]) -> str:
    """The question that offers ``found``."""
    return f"did you mean {' or '.join(found)}?"
