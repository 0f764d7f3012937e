"""All checks, one after the other, and what they made on the way."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.checks.check import Check, Subject
from skillopt_exp.checks.materials import Items, Setup, check_items, check_settings
from skillopt_exp.checks.models import check_addresses, check_budget, check_keys
from skillopt_exp.checks.stores import check_answers, check_tracking
from skillopt_exp.config import Config
from skillopt_exp.errors import SkillOptError, UsageError
from skillopt_exp.llm.endpoint import Endpoint
from skillopt_exp.records import Role


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings in the order of ``Subject``, and what could be made in spite of them.

    A check that had nothing to look at, because of an earlier problem, found nothing.
    """

    checks: tuple[Check, ...]
    items: Items | None
    setup: Setup | None
    endpoints: Mapping[Role, Endpoint]

    def of(self, subject: Subject) -> Check:
        """The finding about ``subject``."""
        return next(each for each in self.checks if each.subject is subject)

    @property
    def refusal(self) -> SkillOptError | None:
        """What a run would end with before its first call; where keys are missing, one message says all
        of them, and what is wrong with the data, too."""
        keys, data = self.of(Subject.keys).problems, self.of(Subject.data).problems
        if keys:
            return UsageError("\n       ".join(map(str, (*keys, *data))))
        for each in self.checks:
            if each.problems:
                return type(each.problems[0])("\n       ".join(map(str, each.problems)))
        return None


def check(config: Config, *, base: Path, asks: Collection[Role] = tuple(Role)) -> Checked:
    """Look at everything that costs nothing; relative paths start from ``base``, the launch folder.

    ``asks`` are the roles that will be asked. What one that will not be asked would need is not looked
    at; where nobody is asked, neither are the stores.
    """
    data, items = check_items(config, base=base)
    addresses, endpoints = check_addresses(config.model, asks)
    settings, setup = (
        check_settings(config, items, base=base) if items is not None else (Check(Subject.settings), None)
    )
    checks = (
        check_keys(config.model, asks),
        data,
        addresses,
        check_budget(config.model, config.budget, asks),
        settings,
        check_answers(config.cache, base=base) if asks else Check(Subject.answers),
        check_tracking(config.tracking, base=base) if asks else Check(Subject.tracking),
    )
    return Checked(checks, items, setup, endpoints)
