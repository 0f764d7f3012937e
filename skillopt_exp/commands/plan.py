"""``plan``: what a run would ask and cost, before any paid call."""

import asyncio
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp.commands.arguments import Verb, parse, split_own
from skillopt_exp.commands.composing import compose
from skillopt_exp.config import Config
from skillopt_exp.config.key import Affects, key
from skillopt_exp.config.model import Provider
from skillopt_exp.config.optimizer import CustomConfig
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Role

if TYPE_CHECKING:
    from skillopt_exp.experiment import Experiment
    from skillopt_exp.planning.ground import AtOnce

VERB = Verb(
    "plan",
    "Say what a run would ask and cost: calls, tokens, money and time, with bounds. Asks no model and "
    "leaves nothing behind. Takes every key of training.",
    "python -m skillopt_exp plan dataset=demo budget.usd=2",
)


@dataclass(kw_only=True)
class PlanArguments:
    """Keys of the verb; all others are those of training."""

    failure_rate: float = key(0.5, affects=Affects.nothing, help="share of attempts expected to fail")
    seconds_per_call: float = key(
        5.0, affects=Affects.nothing, help="seconds that one call is expected to take"
    )
    target_reply_tokens: int = key(
        300, affects=Affects.nothing, help="expected length of a target's reply, reasoning included"
    )
    optimizer_reply_tokens: int = key(
        2000, affects=Affects.nothing, help="expected length of an optimizer's reply, reasoning included"
    )

    def __post_init__(self) -> None:
        if not 0 <= self.failure_rate <= 1:
            raise UsageError(f"failure_rate is {self.failure_rate}; give a share from 0 to 1")
        if not 0 <= self.seconds_per_call < math.inf:
            raise UsageError(f"seconds_per_call is {self.seconds_per_call}; give 0 seconds or more")
        for name in ("target_reply_tokens", "optimizer_reply_tokens"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}; give 1 token or more")


def run(arguments: Sequence[str]) -> int:
    """Print the plan.

    Raises:
        SkillOptError: as training would before its first call, but for missing keys and caps
            that cannot be held: nothing is sent.
    """
    own, overrides = split_own(PlanArguments, arguments)
    asked = parse(PlanArguments, own, VERB)
    if asked is None:
        return 0
    show(compose(overrides), asked, base=Path.cwd())
    return 0


def show(config: Config, asked: PlanArguments, *, base: Path) -> None:
    """Load what the run would load, measure its prompts, print what follows."""
    # Loads the task and its scorers: not before there is work, so that help answers at once.
    from rich.console import Console

    from skillopt_exp import experiment
    from skillopt_exp.algorithms.gepa import Gepa
    from skillopt_exp.display import announce_simulation, print_head
    from skillopt_exp.llm.connect import by_role
    from skillopt_exp.planning.case import Guesses
    from skillopt_exp.planning.ground import at_once, survey
    from skillopt_exp.planning.plan import Plan, plan, plan_gepa
    from skillopt_exp.planning.table import print_plan

    if isinstance(config.optimizer, CustomConfig):
        raise UsageError(
            f"what {config.optimizer.factory} will ask is not known before; cap it with budget.calls=..."
        )
    prepared = experiment.prepare(config, base=base, asks=())
    allowed = at_once(config.model, config.gradient.analyst_workers)
    guesses = Guesses(
        asked.failure_rate, asked.seconds_per_call, asked.target_reply_tokens, asked.optimizer_reply_tokens
    )

    async def planned() -> Plan:
        settings = prepared.decision.settings
        ground = await survey(
            prepared.task,
            prepared.splits,
            settings,
            prepared.seed_skill,
            allowed,
            control=config.evaluation.control,
        )
        match prepared.decision.algorithm:
            case Gepa(max_metric_calls):
                return await plan_gepa(ground, max_metric_calls, config.model, config.budget, guesses)
            case _:
                return await plan(ground, config.model, config.budget, guesses)

    console = Console()
    if any(endpoint.provider is Provider.simulated for endpoint in prepared.endpoints):
        announce_simulation(console)
    warnings = (*prepared.warnings, *prepared.decision.warnings, *_refused_by_training(config))
    print_head(console, _head(prepared, allowed), warnings)
    print_plan(console, asyncio.run(planned()), by_role(config.model), guesses)


def _refused_by_training(config: Config) -> Iterator[str]:
    """What keeps the models from being asked: no hindrance to a plan, but worth knowing."""
    from skillopt_exp.checks.models import check_addresses, check_budget, check_keys

    asks = tuple(Role)
    budget = check_budget(config.model, config.budget, asks)
    for found in (check_keys(config.model, asks), check_addresses(config.model, asks)[0], budget):
        yield from map(str, found.problems)
    yield from budget.warnings


def _head(prepared: "Experiment", allowed: "AtOnce") -> list[tuple[str, str, str]]:
    """What is planned, as the run itself would introduce it."""
    target, optimizer = prepared.endpoints
    sizes = " · ".join(f"{split} {size:,}" for split, size in prepared.sizes.items())
    return [
        ("data", f"{prepared.config.dataset.name}: {sizes} items", ""),
        ("target", target.name, f"{allowed.target} calls at once"),
        ("optimizer", optimizer.name, f"{allowed.optimizer} calls at once"),
        *((origin.key, origin.value, origin.source) for origin in prepared.decision.origins),
        _steps(prepared),
    ]


def _steps(prepared: "Experiment") -> tuple[str, str, str]:
    from skillopt_exp.display import steps_row

    if not prepared.trains:
        return "steps", "0", "nothing is trained: optimizer=none"
    return steps_row(prepared.decision.settings.num_epochs, prepared.decision.steps_per_epoch)
