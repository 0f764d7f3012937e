"""One experiment: everything known before the first call, and running it.

``prepare`` checks all that can be checked for free; ``run`` spends.
"""

import asyncio
import hashlib
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillopt_exp import llm, simulation
from skillopt_exp.checks import Subject, check
from skillopt_exp.checks.materials import sizes_of
from skillopt_exp.config import Config
from skillopt_exp.config.model import EndpointConfig, Provider
from skillopt_exp.config.optimizer import NoneConfig
from skillopt_exp.config.resolved import Resolved
from skillopt_exp.data import Loaded
from skillopt_exp.decide import Decision
from skillopt_exp.errors import ProviderError
from skillopt_exp.final import score_on_test
from skillopt_exp.llm.activity import A_RUN
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.connect import NOTHING_KEPT, Accounts, Models, by_role
from skillopt_exp.llm.listening import Listening
from skillopt_exp.llm.overheard import Overheard
from skillopt_exp.loop import Trainer
from skillopt_exp.records import (
    TRAINED,
    Exchange,
    Progress,
    Role,
    Skill,
    Spent,
    Split,
    Splits,
    Summary,
    TrainState,
)
from skillopt_exp.signals import stop_in_good_order
from skillopt_exp.summary import Tally, status_of
from skillopt_exp.tasks.base import Task
from skillopt_exp.watch import Broadcast, Opening, Watcher


@dataclass(frozen=True, slots=True)
class Experiment:
    """A checked configuration with its items, its task, its decisions and the skill to start from."""

    config: Config
    loaded: Loaded
    splits: Splits
    task: Task
    decision: Decision
    warnings: tuple[str, ...]
    seed_skill: Skill
    asks: tuple[Role, ...] = tuple(Role)
    """The roles that will be asked."""

    @property
    def sizes(self) -> dict[Split, int]:
        """Items of each split as they will be used."""
        return sizes_of(self.splits)

    @property
    def trains(self) -> bool:
        """Whether the chosen algorithm does anything but evaluate the seed skill."""
        return not isinstance(self.config.optimizer, NoneConfig)

    @property
    def simulated(self) -> bool:
        """Whether any role that will be asked is."""
        roles = by_role(self.config.model)
        return any(roles[role].provider is Provider.simulated for role in self.asks)

    @property
    def endpoints(self) -> tuple[EndpointConfig, EndpointConfig]:
        return self.config.model.target, self.config.model.optimizer


def prepare(config: Config, *, base: Path, asks: Collection[Role] = tuple(Role)) -> Experiment:
    """Load and check everything that costs nothing; relative paths start from ``base``.

    ``asks`` are the roles that will be asked: keys, addresses and caps are those of these alone.

    Raises:
        UsageError: a key that is missing from the environment, or values that cannot go together.
        DataError: items that are missing or wrong. Where keys are missing too, one message says all.
        BudgetError: a cap on money that cannot be held with these models.
    """
    checked = check(config, base=base, asks=asks)
    refusal = checked.refusal
    if refusal is not None:
        raise refusal
    items, setup = checked.items, checked.setup
    assert items is not None, "without items there is a refusal"
    assert setup is not None, "without a setup there is a refusal"
    return Experiment(
        config=config,
        loaded=items.loaded,
        splits=items.splits,
        task=items.task,
        decision=setup.decision,
        warnings=checked.of(Subject.data).warnings + checked.of(Subject.budget).warnings,
        seed_skill=setup.seed_skill,
        asks=tuple(asks),
    )


def opening_of(
    experiment: Experiment, *, folder: Path, choices: Mapping[str, str], resolved: Resolved
) -> Opening:
    """What those who watch are told first."""
    target, optimizer = experiment.endpoints
    settings = experiment.decision.settings
    return Opening(
        folder=folder,
        choices=choices,
        dataset=experiment.config.dataset.name,
        target=target.name,
        optimizer=optimizer.name,
        simulated=experiment.simulated,
        sizes=experiment.sizes,
        num_epochs=settings.num_epochs,
        steps_per_epoch=experiment.decision.steps_per_epoch,
        config_yaml=resolved.text,
        params=resolved.flat,
        manifest_json=experiment.loaded.manifest.to_json(),
        origins=experiment.decision.origins,
        warnings=experiment.warnings + experiment.decision.warnings,
        gate=str(settings.gate) if experiment.trains else "",
        evaluates_only=not experiment.trains,
    )


Exchanges = Callable[[], tuple[Exchange, ...]]
"""What the optimizer was asked and said since the last time."""

Watching = Callable[[Models, Exchanges], Sequence[Watcher]]
"""Makes those who watch, once the models can be asked what was spent and said."""


def run(
    experiment: Experiment,
    opening: Opening,
    watching: Watching,
    progress: Progress | None = None,
    *,
    accounts: Accounts = NOTHING_KEPT,
    tests: bool = True,
) -> Summary:
    """Train, test (unless ``tests`` is false), summarise.

    Whatever ends the run early, its watchers are told with what is known.

    Raises:
        ProviderError: the provider refused, or not one optimizer reply of the whole run could be read.
        OutageError: the provider did not answer.
        InterruptedRun: Ctrl-C or SIGTERM.
    """
    return asyncio.run(_run(experiment, opening, watching, progress, accounts, tests))


async def _run(
    experiment: Experiment,
    opening: Opening,
    watching: Watching,
    progress: Progress | None,
    accounts: Accounts,
    tests: bool,
) -> Summary:
    transport = simulation.transport(experiment.loaded.knowledge) if experiment.simulated else None
    analysts = asyncio.Semaphore(experiment.config.gradient.analyst_workers)
    caps = {stage: analysts for stage in Stage if stage.role is Role.optimizer}
    heard = Listening(accounts.ledger, stage=Stage.test)
    tally = Tally(opening, experiment.decision.settings.seed)
    watcher: Watcher = Broadcast([tally])
    spent: Callable[[], Spent] = Spent
    try:
        with stop_in_good_order():
            async with llm.connect(
                experiment.config.model,
                transport=transport,
                caps=caps,
                revisions=_revisions(experiment),
                accounts=replace(accounts, ledger=heard),
                activity=replace(
                    A_RUN, command=f"python -m skillopt_exp resume run={shlex.quote(str(opening.folder))}"
                ),
            ) as models:
                optimizer = Overheard(models.optimizer)
                watcher = Broadcast([tally, *watching(models, optimizer.take)])
                spent = models.meter.spent
                watcher.opened(opening)
                asked = replace(models, optimizer=optimizer)
                state = await _train(experiment, asked, watcher, progress)
                if tests:
                    await _test(experiment, asked, watcher, state, heard)
            if tally.optimizer_unusable():
                raise ProviderError(
                    f"not one reply of the optimizer model {opening.optimizer!r} could be read as JSON; "
                    "try another model for the role: model.optimizer.name=..."
                )
        summary = tally.summary(tally.status if tests else TRAINED, spent())
        assert summary is not None
        assert tally.best is not None
        watcher.finished(summary, tally.best)
    except BaseException as error:
        # After the models are closed: what was still under way has been counted.
        watcher.failed(error, tally.summary(status_of(error), spent()))
        raise
    return summary


def _revisions(experiment: Experiment) -> dict[Provider, str]:
    """What the answers of the embedded models follow from besides the request: their source, the golds."""
    if not experiment.simulated:
        return {}
    known = f"{simulation.revision()} {experiment.loaded.knowledge!r}"
    return {Provider.simulated: hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()}


async def _train(
    experiment: Experiment, models: Models, watcher: Watcher, progress: Progress | None
) -> TrainState:
    trainer = Trainer(
        task=experiment.task,
        splits=experiment.splits,
        target=models.target,
        optimizer=models.optimizer,
        settings=experiment.decision.settings,
        watcher=watcher,
    )
    return await experiment.decision.algorithm.optimizer(trainer).train(experiment.seed_skill, progress)


async def _test(
    experiment: Experiment, models: Models, watcher: Watcher, state: TrainState, heard: Listening
) -> None:
    await score_on_test(
        experiment.task,
        models.target,
        experiment.splits.test,
        seed_skill=experiment.seed_skill,
        state=state,
        watcher=watcher,
        repeats=experiment.config.evaluation.repeats,
        control=experiment.config.evaluation.control,
        heard=heard.take,
    )
