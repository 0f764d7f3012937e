"""All checks in the order in which they are told."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from skillopt_exp import simulation
from skillopt_exp.config import Config
from skillopt_exp.config.model import Provider
from skillopt_exp.doctor.budget import examine_budget
from skillopt_exp.doctor.finding import Finding, fine, raised
from skillopt_exp.doctor.items import examine_items
from skillopt_exp.doctor.keys import examine_keys
from skillopt_exp.doctor.machine import examine_machine
from skillopt_exp.doctor.role import examine_role
from skillopt_exp.doctor.store import examine_answers, examine_store
from skillopt_exp.errors import UsageError
from skillopt_exp.llm.connect import by_role
from skillopt_exp.records import Role
from skillopt_exp.redaction import guard_variables


def examine(config: Config, *, base: Path) -> Iterator[Finding]:
    """Every finding as soon as it is known. ``base`` is the launch folder; nothing is left in it.

    What cannot be asked because of an earlier problem is left out.
    """
    roles = by_role(config.model)
    guard_variables(settings.api_key_env for settings in roles.values() if settings.api_key_env is not None)
    yield from examine_machine(base)
    items = examine_items(config, base=base)
    yield from items.findings
    yield from examine_budget(config)
    yield examine_answers(config.cache, base=base)
    yield examine_store(config.tracking, base=base)
    findings, endpoints = examine_keys(config.model)
    yield from findings
    try:
        embedded = any(settings.provider is Provider.simulated for settings in roles.values())
        transport = simulation.transport(items.knowledge) if embedded else None
    except UsageError as error:
        yield raised("data", error)
        return
    for role, endpoint in endpoints.items():
        if role is Role.optimizer and not config.optimizer.asks_model:
            yield fine(role, f"not asked: optimizer={config.optimizer.name} needs none")
            continue
        yield from asyncio.run(examine_role(role, config.model, endpoint, transport))
