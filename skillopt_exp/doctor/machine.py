"""The Python side: versions, the folder that the command was given in, room on its disk."""

import platform
import shutil
import tempfile
import tomllib
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from skillopt_exp import __version__
from skillopt_exp.config.locate import PACKAGE
from skillopt_exp.doctor.finding import Finding, fine, problem, warned
from skillopt_exp.errors import UsageError

DISTRIBUTION = "skillopt-exp"

LEAST_ROOM = 100 * 10**6
"""Bytes of free disk below which a run is likely to end on a full disk."""

ENOUGH_ROOM = 10**9
"""Bytes of free disk that some runs, their store of answers and MLflow fit in."""


def examine_machine(base: Path) -> list[Finding]:
    """Nothing is left in ``base``, the launch folder."""
    return [_python(), _packages(), _launch_folder(base), _disk(base)]


def _python() -> Finding:
    return fine("python", f"Python {platform.python_version()}, skillopt_exp {__version__}")


def _packages() -> Finding:
    wanted = _requirements()
    bad = [wrong for line in wanted if (wrong := _unmet(line)) is not None]
    if bad:
        return problem(
            "packages", "; ".join(bad), UsageError, f"python -m pip install --upgrade {DISTRIBUTION}"
        )
    return fine("packages", f"all {len(wanted)} requirements are met")


def _requirements() -> list[str]:
    """Those of the installed package, else of the source folder that it runs from."""
    project = PACKAGE.parent / "pyproject.toml"
    if project.is_file():
        declared: list[str] = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["dependencies"]
        return declared
    try:
        return [line for line in requires(DISTRIBUTION) or [] if "extra ==" not in line]
    except PackageNotFoundError:
        return []


def _unmet(line: str) -> str | None:
    """What is wrong with one requirement, if anything is."""
    from packaging.requirements import Requirement

    wanted = Requirement(line)
    if wanted.marker is not None and not wanted.marker.evaluate():
        return None
    try:
        found = version(wanted.name)
    except PackageNotFoundError:
        return f"{wanted.name} is not installed"
    if not wanted.specifier.contains(found, prereleases=True):
        return f"{wanted.name} is {found}, but {wanted.specifier} is needed"
    return None


def _launch_folder(base: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=base) as file:
            file.write(b"x")
    except OSError as error:
        return problem(
            "launch folder",
            f"{base} cannot be written in ({error.strerror})",
            UsageError,
            "change into a folder of your own; runs go into outputs/ there",
        )
    return fine("launch folder", f"{base} can be written in")


def _disk(base: Path) -> Finding:
    free = shutil.disk_usage(base).free
    said = f"{_size(free)} free at {base}"
    if free < LEAST_ROOM:
        return problem(
            "disk", said, UsageError, f"make room: a run needs up to {_size(LEAST_ROOM)}, sweeps more"
        )
    if free < ENOUGH_ROOM:
        return warned("disk", said, "enough for a run or two; sweeps need more")
    return fine("disk", said)


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 1e9:,.1f} GB" if num_bytes >= 10**9 else f"{num_bytes / 1e6:,.0f} MB"
