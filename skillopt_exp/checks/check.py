"""The finding of one check."""

from dataclasses import dataclass
from enum import StrEnum

from skillopt_exp.errors import SkillOptError


class Subject(StrEnum):
    """What is looked at, in the order in which a run is refused."""

    keys = "keys"
    data = "data"
    addresses = "addresses"
    budget = "budget"
    settings = "settings"
    answers = "answers"
    tracking = "tracking"


@dataclass(frozen=True, slots=True)
class Check:
    """What keeps a run from beginning, and what it would warn of; of neither, all is well."""

    subject: Subject
    problems: tuple[SkillOptError, ...] = ()
    warnings: tuple[str, ...] = ()
