"""What may change between the processes of one run: what affects the cost or nothing, never the result."""

from collections.abc import Mapping

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from skillopt_exp.config.key import Affects
from skillopt_exp.config.resolved import flat
from skillopt_exp.config.root import schema_fields
from skillopt_exp.errors import DataError, UsageError


def allowed_changes(before: str, after: str, *, where: str) -> tuple[str, ...]:
    """The changes from one resolved configuration (YAML) to another, in words; ``where`` names the first.

    Raises:
        DataError: the first is damaged.
        UsageError: a key that affects the result has changed; all such keys are named.
    """
    affects = {name: each.metadata["affects"] for name, each in schema_fields()}
    old, new = _recorded(before, where), flat(OmegaConf.create(after))
    # A key that the schema does not know any more may have affected anything.
    decisive = {
        name for name in old.keys() | new.keys() if affects.get(name, Affects.result) is Affects.result
    }
    lost = sorted(decisive & new.keys() - old.keys())
    if lost:
        raise DataError(
            f"{where} does not say what {lost[0]} was (of {len(lost)} such keys): it "
            "was cut, or a version of skillopt_exp without that key wrote it. Restore it from a copy of the "
            "folder, resume with that version, or start a new run"
        )
    changed = [name for name in old.keys() | new.keys() if old.get(name) != new.get(name)]
    words = {name: f"{name}: {old.get(name)} -> {new.get(name)}" for name in sorted(changed)}
    refused = [text for name, text in words.items() if name in decisive]
    if refused:
        raise UsageError(
            f"a run goes on with the configuration that it began with; changed: {'; '.join(refused)}. "
            "Leave these as they were, or start a new run"
        )
    return tuple(f"changed since the run began: {text}" for text in words.values())


def _recorded(text: str, where: str) -> Mapping[str, str]:
    """The configuration that a run wrote down."""
    try:
        tree = OmegaConf.create(text)
        whole = isinstance(tree, DictConfig) and bool(tree) and text.endswith("\n")
    except (ValueError, YAMLError, OmegaConfBaseException):
        whole = False
    if not whole:
        raise DataError(
            f"{where} is damaged: it is not the configuration that the run wrote down. Restore it from a "
            "copy of the folder, or start a new run"
        )
    return flat(tree)
