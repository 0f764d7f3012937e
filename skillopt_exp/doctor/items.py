"""The data and what is made of it: loads, sizes, everything that a run would warn of."""

from dataclasses import dataclass
from pathlib import Path

from skillopt_exp import data, tasks
from skillopt_exp.config import Config
from skillopt_exp.decide import decide
from skillopt_exp.doctor.finding import Finding, fine, raised, warned
from skillopt_exp.errors import SkillOptError
from skillopt_exp.experiment import limited, read_skill, sizes_of
from skillopt_exp.records import Item


@dataclass(frozen=True, slots=True)
class Examined:
    """What was found, and the items that the embedded models must know."""

    findings: tuple[Finding, ...]
    knowledge: tuple[Item, ...] = ()


def examine_items(config: Config, *, base: Path) -> Examined:
    """Load, split, check; relative paths start from ``base``."""
    try:
        loaded = data.load(config.dataset, base=base)
        splits = limited(loaded.splits, val=config.evaluation.val_limit, test=config.evaluation.test_limit)
        remarks = tasks.build(config.dataset).validate(splits)
    except SkillOptError as error:
        return Examined((raised("data", error),))
    sizes = sizes_of(splits)
    said = f"{config.dataset.name}: " + ", ".join(f"{split} {size:,}" for split, size in sizes.items())
    findings = [fine("data", f"{said} items")]
    findings += [warned("data", remark) for remark in (*loaded.warnings, *remarks)]
    try:
        findings += [warned("settings", warning) for warning in decide(config, sizes, base=base).warnings]
        read_skill(config.train.skill_init, base=base)
    except SkillOptError as error:
        findings.append(raised("settings", error))
    return Examined(tuple(findings), loaded.knowledge)
