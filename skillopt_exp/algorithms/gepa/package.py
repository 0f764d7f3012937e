"""Whether the package ``gepa`` is there, and is one that this code was written for. Imports nothing of it."""

from importlib.metadata import PackageNotFoundError, version

from packaging.specifiers import SpecifierSet

from skillopt_exp.errors import UsageError

REQUIRED = "gepa>=0.1.4,<0.2"
"""As the extra of the same name says it."""


def refuse_missing() -> None:
    """
    Raises:
        UsageError: it is not installed, or is another version; says what to type.
    """
    install = f"install it (pip install '{REQUIRED}'), or choose optimizer=skillopt"
    name = REQUIRED.partition(">")[0]
    try:
        found = version(name)
    except PackageNotFoundError as error:
        raise UsageError(
            f"optimizer=gepa needs the package {name}, which is not installed; {install}"
        ) from error
    if found not in SpecifierSet(REQUIRED.removeprefix(name)):
        raise UsageError(f"optimizer=gepa needs {REQUIRED}, and {name} {found} is installed; {install}")
