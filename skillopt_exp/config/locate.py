"""Where the package's own files are: beside the package in a checkout, inside it in a wheel."""

from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


def conf_dir() -> Path:
    """The folder of Hydra's config groups.

    Raises:
        FileNotFoundError: neither place has it, so the installation is broken.
    """
    for folder in (PACKAGE / "conf", PACKAGE.parent / "conf"):
        if (folder / "config.yaml").is_file():
            return folder
    raise FileNotFoundError(f"no conf/config.yaml in {PACKAGE} or beside it; install skillopt-exp again")


def data_file(relative: str) -> Path:
    """A data file that ships with the package."""
    return PACKAGE / "data" / relative
