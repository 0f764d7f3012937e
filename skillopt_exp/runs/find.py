"""The run that a user names: by its folder, or as the latest one."""

from pathlib import Path

from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.reading import named_path
from skillopt_exp.runs.folder import RunFolder

LATEST = "latest"

_WHERE = ("outputs/*/*/run.json", "multirun/*/*/*/run.json")
"""Where runs and jobs of sweeps leave their folders unless they are told otherwise."""


def find_run(given: str, *, base: Path, key: str = "run") -> RunFolder:
    """The run whose folder ``key=given`` names, or the one that began last below ``base``.

    Raises:
        UsageError: no run is there.
        DataError: its marker is damaged.
    """
    if given != LATEST:
        return RunFolder.open(named_path(given, base=base, key=key).resolve())
    runs = list(filter(None, map(_opened, (file for each in _WHERE for file in base.glob(each)))))
    if not runs:
        raise UsageError(
            f"{key}=latest: no run is below {base / 'outputs'} or {base / 'multirun'}; give a run's folder"
        )
    return max(runs, key=_began)


def _opened(marker: Path) -> RunFolder | None:
    """Somebody else's damaged run, or one of another version, does not hide the latest."""
    try:
        return RunFolder.open(marker.parent)
    except (DataError, UsageError):
        return None


def _began(run: RunFolder) -> tuple[str, int, str]:
    return run.marker.created, (run.path / "run.json").stat().st_mtime_ns, run.path.name
