"""What Hydra composed for a run, kept in ``.hydra`` of its folder: what ``resume`` composes again from.

Hydra itself would write it before anything is checked, over that of a run that the folder may hold already.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.errors import DataError
from skillopt_exp.runs.files import read_text, write_atomic

CONFIG, HYDRA, OVERRIDES = "config.yaml", "hydra.yaml", "overrides.yaml"

_FOLDER = ".hydra"


@dataclass(frozen=True, slots=True)
class Composed:
    """YAML texts: the configuration as it was composed, Hydra's own part, the overrides that were given."""

    config: str
    hydra: str
    overrides: str

    @property
    def digests(self) -> dict[str, str]:
        """SHA-256 of what a resume reads, 64 hex digits, by the name of its file."""
        return {CONFIG: _digest(self.config), HYDRA: _digest(self.hydra)}


def write_composed(folder: Path, composed: Composed) -> None:
    """Write the three files into ``folder``, a run's.

    Raises:
        InterruptedRun: the disk does not take it.
    """
    for name, text in ((CONFIG, composed.config), (HYDRA, composed.hydra), (OVERRIDES, composed.overrides)):
        write_atomic(folder / _FOLDER / name, text)


def read_composed(folder: Path, name: str, digests: Mapping[str, str]) -> str:
    """The text of ``name`` (``CONFIG`` or ``HYDRA``), just as it was written.

    Raises:
        DataError: missing, unreadable, or not the text that has the digest of its name in ``digests``.
    """
    file = folder / _FOLDER / name
    text = read_text(file)
    if name in digests and _digest(text) != digests[name]:
        raise DataError(
            f"{file} is damaged: it does not hold what the run began with. Restore it from a copy of the "
            "folder, or start a new run"
        )
    return text


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
