"""The data and what is made of it: loads, sizes, everything that a run would warn of."""

from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.checks.materials import check_items, check_settings
from skillopt_exp.config import Config
from skillopt_exp.doctor.finding import Finding, fine, told
from skillopt_exp.records import Item


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found, and the items that the embedded models must know."""

    findings: tuple[Finding, ...]
    knowledge: tuple[Item, ...] = ()


def examine_items(config: Config, *, base: Path) -> Examined:
    """Load, split, check; relative paths start from ``base``."""
    check, items = check_items(config, base=base)
    if items is None:
        return Examined(tuple(told("data", check)))
    said = f"{config.dataset.name}: " + ", ".join(f"{split} {size:,}" for split, size in items.sizes.items())
    findings = [fine("data", f"{said} items"), *told("data", check)]
    settings, _ = check_settings(config, items, base=base)
    return Examined((*findings, *told("settings", settings)), items.loaded.knowledge)
