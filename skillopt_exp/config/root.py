"""The whole experiment: its groups, what holds across them, and the way from Hydra to dataclasses."""

import secrets
from collections.abc import Collection, Iterable, Iterator
from dataclasses import Field, dataclass, fields, is_dataclass
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, ListConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from skillopt_exp.config import dataset, gate, model, optimizer, rule, tracking
from skillopt_exp.config.dataset import DatasetConfig
from skillopt_exp.config.gate import GateConfig
from skillopt_exp.config.key import Affects, key
from skillopt_exp.config.locate import data_file
from skillopt_exp.config.model import ModelConfig
from skillopt_exp.config.names import nearest
from skillopt_exp.config.optimizer import OptimizerConfig
from skillopt_exp.config.roles import asks_both, target_alone
from skillopt_exp.config.rule import RuleConfig
from skillopt_exp.config.spending import BudgetConfig, CacheConfig
from skillopt_exp.config.sweep import SweepConfig
from skillopt_exp.config.tracking import TrackingConfig
from skillopt_exp.config.train import EvaluationConfig, GradientConfig, TrainConfig
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Role


@dataclass(kw_only=True)
class Config:
    """One experiment. Groups are chosen (``dataset=searchqa``), keys inside them set (``train.seed=1``)."""

    dataset: DatasetConfig = key(affects=Affects.result, help="which items, and which task scores them")
    model: ModelConfig = key(affects=Affects.result, help="the two roles and how they are reached")
    optimizer: OptimizerConfig = key(affects=Affects.result, help="the algorithm and its own keys")
    rule: RuleConfig = key(affects=Affects.result, help="the table that derives what is not given")
    gate: GateConfig = key(affects=Affects.result, help="when a candidate replaces the current skill")
    tracking: TrackingConfig = key(affects=Affects.nothing, help="where runs are compared")
    train: TrainConfig = key(factory=TrainConfig, affects=Affects.result, help="the outer loop")
    gradient: GradientConfig = key(
        factory=GradientConfig, affects=Affects.result, help="how trajectories become edits"
    )
    evaluation: EvaluationConfig = key(
        factory=EvaluationConfig, affects=Affects.result, help="how much of val and test is scored"
    )
    cache: CacheConfig = key(
        factory=CacheConfig, affects=Affects.cost, help="the store of answers that were paid for"
    )
    budget: BudgetConfig = key(
        factory=BudgetConfig, affects=Affects.cost, help="caps on what a run may spend"
    )
    sweep: SweepConfig = key(
        factory=SweepConfig, affects=Affects.nothing, help="how the jobs of a sweep (-m) belong together"
    )


_GROUPS = {
    "dataset": dataset.SCHEMAS,
    "model/target": model.SCHEMAS,
    "model/optimizer": model.SCHEMAS,
    "optimizer": optimizer.SCHEMAS,
    "rule": rule.SCHEMAS,
    "gate": gate.SCHEMAS,
    "tracking": tracking.SCHEMAS,
}

_CHOICES: dict[Any, dict[str, Any]] = {
    DatasetConfig: {"qa": dataset.QADatasetConfig},
    OptimizerConfig: {name.removeprefix("base_"): schema for name, schema in optimizer.SCHEMAS.items()},
}
"""The schemas that a file of a group may choose for a key of this declared type, by the choice's name."""

_OPTIMIZER_NAME = "model.optimizer.name"


def register() -> None:
    """Tell Hydra the schemas, and OmegaConf the resolvers that the configuration uses."""
    store = ConfigStore.instance()
    store.store(name="base_config", node=Config)
    for group, schemas in _GROUPS.items():
        for name, schema in schemas.items():
            store.store(group=group, name=name, node=schema)
    # Cached, so that every mention in one configuration reads the same suffix.
    OmegaConf.register_new_resolver(
        "skillopt_suffix", lambda: secrets.token_hex(3), use_cache=True, replace=True
    )
    OmegaConf.register_new_resolver("skillopt_data", lambda path: str(data_file(path)), replace=True)


def to_config(composed: DictConfig, *, asks: Collection[Role] = tuple(Role)) -> Config:
    """The composed configuration as checked dataclasses.

    ``asks`` are the roles that will be asked; a model that will not be needs no name, and has the other's.

    Raises:
        UsageError: an unknown key (with the nearest known one), a missing or impossible value.
    """
    try:
        refuse_unknown_keys(composed)
        if not asks_both(composed):
            composed = target_alone(composed)
        missing = sorted(OmegaConf.missing_keys(composed))
        unnamed = Role.optimizer not in asks and _OPTIMIZER_NAME in missing
        if unnamed:
            missing.remove(_OPTIMIZER_NAME)
        if missing:
            raise UsageError(f"{missing[0]} has no value yet; give one: {missing[0]}=...")
        if unnamed:
            composed = composed.copy()
            OmegaConf.update(composed, _OPTIMIZER_NAME, composed.model.target.name)
        config = OmegaConf.to_object(composed)
    except OmegaConfBaseException as error:
        where = f"{error.full_key}: " if error.full_key else ""
        raise UsageError(f"{where}{str(error).strip().splitlines()[0]}") from error
    assert isinstance(config, Config)
    return config


def refuse_unknown_keys(composed: DictConfig) -> None:
    """Compare every node with its schema: ``+key=`` lifts struct mode even where a dataclass is behind."""
    for name, known in walk(composed):
        if not known:
            raise no_such_key(name, known_keys(composed))


def no_such_key(name: str, known: Collection[str]) -> UsageError:
    """What to say of ``name``, which is no key of this configuration; of the ``known`` ones the nearest."""
    elsewhere = chosen_by(name)
    if elsewhere:
        group = name.partition(".")[0]
        readers = " and ".join(f"{group}={choice}" for choice in elsewhere)
        return UsageError(
            f"{name} is read by {readers} alone, and another {group} is chosen; leave it out, or "
            f"choose {group}={elsewhere[0]}"
        )
    holder = next((each for each in schema_keys() if name.startswith(f"{each}.")), None)
    if holder is not None:
        return UsageError(f"{holder} has no {name.removeprefix(f'{holder}.')!r} yet; add it with +{name}=...")
    return UsageError(f"there is no key {name!r}; {nearest(name, known)}")


def chosen_by(name: str) -> tuple[str, ...]:
    """The choices of its group that have the key ``name``; none where every choice has it, or nobody does."""
    group, _, inner = name.partition(".")
    choices = next((_CHOICES.get(each.type, {}) for each in fields(Config) if each.name == group), {})
    have = tuple(choice for choice, schema in choices.items() if inner in dict(_fields_of(schema)))
    return () if len(have) == len(choices) else have


def schema_fields() -> Iterator[tuple[str, Field[Any]]]:
    """Every key by its dotted name, by the declared types alone (nothing need be composed)."""
    yield from _fields_of(Config)


def _fields_of(schema: Any, prefix: str = "") -> Iterator[tuple[str, Field[Any]]]:
    """The keys of ``schema``, those of all schemas that may be chosen inside it, each once."""
    for each in fields(schema):
        name = f"{prefix}{each.name}"
        inner = [kind for kind in schemas_of(each.type) if is_dataclass(kind)]
        if inner:
            yield from {key: field for kind in inner for key, field in _fields_of(kind, f"{name}.")}.items()
        else:
            yield name, each


def schema_keys() -> frozenset[str]:
    """The dotted names of all keys."""
    return frozenset(name for name, _ in schema_fields())


def typed(plain: DictConfig) -> DictConfig:
    """A composed configuration that was read from a file, with its schema behind it again.

    Raises:
        OmegaConfBaseException: a key or a value that the schema does not have.
    """
    root = OmegaConf.structured(Config)
    for each in fields(Config):
        if each.type in _CHOICES and isinstance(plain.get(each.name), DictConfig):
            root[each.name] = OmegaConf.structured(_fitting(each.type, map(str, plain[each.name])))
    merged = OmegaConf.merge(root, plain)
    assert isinstance(merged, DictConfig)
    return merged


def schemas_of(declared: Any) -> tuple[Any, ...]:
    """The declared type of a key, or the schemas that a file of its group may choose."""
    return tuple(_CHOICES[declared].values()) if declared in _CHOICES else (declared,)


def _fitting(declared: Any, names: Iterable[str]) -> Any:
    """The schema that has all ``names`` and little else; where none does, the one that lacks the fewest."""
    named = set(names)

    def misfit(schema: Any) -> tuple[int, int]:
        has = {each.name for each in fields(schema)}
        return len(named - has), len(has - named)

    return min(schemas_of(declared), key=misfit)


def known_keys(composed: DictConfig) -> frozenset[str]:
    """The dotted names of all keys that have a place in the schema."""
    return frozenset(name for name, known in walk(composed) if known)


def walk(node: DictConfig, prefix: str = "") -> Iterator[tuple[str, bool]]:
    """Every key under ``node`` by its dotted name, and whether its node's schema knows it."""
    schema = OmegaConf.get_type(node)
    known = {each.name for each in fields(schema)} if is_dataclass(schema) else None
    for name in map(str, node):
        yield f"{prefix}{name}", known is None or name in known
        if OmegaConf.is_missing(node, name) or OmegaConf.is_interpolation(node, name):
            continue
        child = node[name]
        if isinstance(child, DictConfig):
            yield from walk(child, f"{prefix}{name}.")
        elif isinstance(child, ListConfig):
            for i, item in enumerate(child):
                if isinstance(item, DictConfig):
                    yield from walk(item, f"{prefix}{name}[{i}].")
