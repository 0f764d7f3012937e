"""What may change between the processes of one run: what affects the cost or nothing, never the result."""

from omegaconf import OmegaConf

from skillopt_exp.config.key import Affects
from skillopt_exp.config.resolved import flat
from skillopt_exp.config.root import schema_fields
from skillopt_exp.errors import UsageError


def allowed_changes(before: str, after: str) -> tuple[str, ...]:
    """The changes from one resolved configuration (YAML) to another, in words.

    Raises:
        UsageError: a key that affects the result has changed; all such keys are named.
    """
    affects = {name: each.metadata["affects"] for name, each in schema_fields()}
    old, new = flat(OmegaConf.create(before)), flat(OmegaConf.create(after))
    changed = [name for name in old.keys() | new.keys() if old.get(name) != new.get(name)]
    words = {name: f"{name}: {old.get(name)} -> {new.get(name)}" for name in sorted(changed)}
    # A key that the schema does not know any more may have affected anything.
    refused = [text for name, text in words.items() if affects.get(name, Affects.result) is Affects.result]
    if refused:
        raise UsageError(
            f"a run goes on with the configuration that it began with; changed: {'; '.join(refused)}. "
            "Leave these as they were, or start a new run"
        )
    return tuple(f"changed since the run began: {text}" for text in words.values())
