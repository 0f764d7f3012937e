"""The configuration as it was used: interpolations resolved, derived values filled in."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from omegaconf import DictConfig, OmegaConf, SCMode


@dataclass(frozen=True, slots=True)
class Resolved:
    """The whole configuration as YAML, and flat: dotted key to text."""

    text: str
    flat: dict[str, str]


def resolve(composed: DictConfig, decided: Iterable[tuple[str, int]]) -> Resolved:
    """``composed`` with the ``decided`` values (dotted key, value) in place of their nulls."""
    filled = composed.copy()
    OmegaConf.set_readonly(filled, False)
    for name, value in decided:
        OmegaConf.update(filled, name, value)
    plain = _plain(filled)
    return Resolved(OmegaConf.to_yaml(OmegaConf.create(plain)), flat(filled))


def flat(config: Any) -> dict[str, str]:
    """Dotted key to text; a list is one value."""
    return dict(_leaves(_plain(config)))


def _plain(config: Any) -> Any:
    return OmegaConf.to_container(config, resolve=True, enum_to_str=True, structured_config_mode=SCMode.DICT)


def _leaves(node: Any, prefix: str = "") -> Iterable[tuple[str, str]]:
    if isinstance(node, Mapping) and node:
        for name, child in node.items():
            yield from _leaves(child, f"{prefix}.{name}" if prefix else str(name))
    else:
        yield prefix, "null" if node is None else str(node)
