"""Secrets in a user's own configuration files: found before Hydra writes anything.

Hydra saves what it composes before the first line of a job runs, for each job of a sweep anew. So
the files are looked at, not what was composed of them: every one on Hydra's search path, whether or
not this run uses it.
"""

import os
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from skillopt_exp.config.locate import conf_dir
from skillopt_exp.errors import UsageError
from skillopt_exp.guard import guard_process
from skillopt_exp.reading import read_text, why
from skillopt_exp.redaction import guard_variables, refusal, secret_keys

_SEARCH_PATH = "hydra.searchpath"


def refuse_secret_files(options: Namespace) -> None:
    """Look through the configuration files that come along, and those of the folders that ``options`` name.

    Raises:
        UsageError: a file holds what looks like a key; names the file and the place in it. Or it is none
            that can be read through.
    """
    added = (options.config_dir, options.config_path)
    waiting = [conf_dir(), *(_folder(given) for given in added if given is not None)]
    for override in options.overrides:
        name, _, value = override.lstrip("+").partition("=")
        if name == _SEARCH_PATH:
            waiting += [_folder(entry.strip(" \"'")) for entry in value.strip("\"'[] ").split(",")]
    seen: set[Path] = set()
    while waiting:
        folder = waiting.pop()
        if folder not in seen:
            seen.add(folder)
            for file in _files(folder):
                waiting += _further_folders(file)


def check_composed(composed: DictConfig) -> None:
    """The last barrier, for files that no folder shows; also tells the redactor where keys are.

    Raises:
        UsageError: a value looks like a key; names it.
    """
    guard_process()  # a launcher may have started this process, and not the command line
    plain = OmegaConf.to_container(composed, resolve=False, throw_on_missing=False, enum_to_str=True)
    guard_variables(_key_variables(plain))
    for where in secret_keys(plain):
        raise refusal(where)


def _files(folder: Path) -> Iterator[Path]:
    """The configuration files under ``folder``; hidden folders (environments, past runs) hold none."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(parent, name) for name in sorted(files) if name.endswith(".yaml"))


def _further_folders(file: Path) -> list[Path]:
    """The folders that ``file`` itself adds to Hydra's search path, if it holds no secret."""
    try:
        tree: Any = OmegaConf.to_container(OmegaConf.create(read_text(file)), resolve=False)
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read ({why(error)}); remove it, or name another folder"
        ) from error
    except (ValueError, YAMLError, OmegaConfBaseException):
        return []  # Hydra says what is wrong with it, should it be used
    for where in secret_keys(tree):
        raise refusal(f"{where} in {file}")
    hydra = tree.get("hydra") if isinstance(tree, dict) else None
    entries = hydra.get("searchpath") if isinstance(hydra, dict) else None
    return [_folder(str(entry)) for entry in entries] if isinstance(entries, list) else []


def _folder(given: str) -> Path:
    return Path(given.removeprefix("file://")).absolute()


def _key_variables(tree: object) -> Iterator[str]:
    """The values of all keys that name a variable with a key in it."""
    if isinstance(tree, dict):
        for name, child in tree.items():
            if isinstance(child, str) and str(name).endswith("api_key_env"):
                yield child
            yield from _key_variables(child)
    elif isinstance(tree, list):
        for child in tree:
            yield from _key_variables(child)
