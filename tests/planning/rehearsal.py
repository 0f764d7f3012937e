"""Training with scripted models that decide by chance or by malice, and the plan of the same run."""

import asyncio
from collections import Counter
from dataclasses import dataclass, replace

from scripted import Answer, ScriptedChat, items

from skillopt_exp.config.model import EndpointConfig, ModelConfig
from skillopt_exp.config.spending import BudgetConfig
from skillopt_exp.errors import ProviderError
from skillopt_exp.final import score_on_test
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Settings, Trainer
from skillopt_exp.planning.case import Guesses
from skillopt_exp.planning.ground import AtOnce, survey
from skillopt_exp.planning.plan import Plan, plan
from skillopt_exp.records import Item, Message, Metric, Rollout, Score, Skill, Splits
from skillopt_exp.schedule import Scheduler
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.tasks.base import Ask
from skillopt_exp.watch import Watcher


class GradedTask:
    """As ``EchoTask``, but a reply that is a number is that much partial credit, and solves nothing."""

    name = "graded"

    async def rollout(self, item: Item, skill: str, ask: Ask, *, attempt: int) -> Rollout:
        messages = (Message("system", skill), Message("user", item.question))
        reply = await ask(messages)
        hard = float(reply.content in item.answers)
        soft = float(reply.content) if reply.content[:1].isdigit() else hard
        return Rollout(item, attempt, (*messages, reply), reply.content, Score(hard, soft))


SEED = Skill(body="- Be brief.")
SETTINGS = Settings(
    num_epochs=2,
    batch_size=5,
    seed=1,
    learning_rate=3,
    min_learning_rate=1,
    scheduler=Scheduler.linear,
    minibatch_size=2,
    merge_batch_size=2,
    failure_only=False,
    trajectory_chars=1000,
    gate=GateSettings(Metric.soft),
)


@dataclass(frozen=True)
class Rehearsed:
    """How often each stage asked; ``whole`` is False where the run gave up on an unusable optimizer."""

    asked: Counter[Stage]
    whole: bool


def splits(train: int = 12, val: int = 4, test: int = 3) -> Splits:
    return Splits(items("a", train), items("b", val), items("c", test))


def train(
    target: Answer,
    optimizer: Answer,
    settings: Settings = SETTINGS,
    data: Splits | None = None,
    *,
    control: bool = False,
) -> Rehearsed:
    """A run with its test."""
    data = splits() if data is None else data
    chats = ScriptedChat(target), ScriptedChat(optimizer)
    trainer = Trainer(GradedTask(), data, *chats, settings, Watcher())

    async def run() -> bool:
        try:
            state = await trainer.train(SEED)
            await score_on_test(
                trainer.task,
                trainer.target,
                data.test,
                seed_skill=SEED,
                state=state,
                watcher=Watcher(),
                repeats=settings.scoring.repeats,
                control=control,
            )
        except ProviderError:
            return False
        return True

    whole = asyncio.run(run())
    return Rehearsed(Counter(stage for chat in chats for stage, _ in chat.asked), whole)


def planned(
    settings: Settings = SETTINGS,
    data: Splits | None = None,
    *,
    failure_rate: float = 0.5,
    budget: BudgetConfig | None = None,
    model: ModelConfig | None = None,
    control: bool = False,
) -> Plan:
    """The plan of the run that ``train`` makes."""
    data = splits() if data is None else data
    model = models() if model is None else model
    guesses = Guesses(failure_rate, 5.0, 300, 2000)

    async def whole() -> Plan:
        ground = await survey(GradedTask(), data, settings, SEED, AtOnce(4, 4), control=control)
        return await plan(ground, model, BudgetConfig() if budget is None else budget, guesses)

    return asyncio.run(whole())


def models(**changes: object) -> ModelConfig:
    """Both roles with an output limit, unpriced but for ``changes``."""
    endpoint = replace(EndpointConfig(name="m", max_tokens=100), **changes)  # type: ignore[arg-type]
    return ModelConfig(target=endpoint, optimizer=endpoint)
