"""From a configuration and the sizes of the splits to the numbers of one run, each with its origin. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from skillopt_exp import outlook, prompts, rules
from skillopt_exp.algorithms import Algorithm, SkillOpt
from skillopt_exp.algorithms.custom import Custom, load
from skillopt_exp.algorithms.gepa import Gepa, MinibatchCost, refuse_missing
from skillopt_exp.config import Config
from skillopt_exp.config.gate import GateConfig, Screen
from skillopt_exp.config.optimizer import CustomConfig, GepaConfig, NoneConfig, SkillOptConfig, WritingConfig
from skillopt_exp.config.spending import CacheMode
from skillopt_exp.config.train import GradientConfig, TrainConfig
from skillopt_exp.epoch import EpochSettings
from skillopt_exp.errors import UsageError
from skillopt_exp.loop import Settings
from skillopt_exp.planning.equal import expected_attempts
from skillopt_exp.records import Role, Split
from skillopt_exp.scoring import Scoring
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.watch import Origin


@dataclass(frozen=True, slots=True)
class Decision:
    """The settings of a run, where its derived values come from, and what to be warned of.

    ``settings`` are those of SkillOpt; another ``algorithm`` reads some of them. ``steps_per_epoch`` is None
    where steps are taken as long as a budget lasts.
    """

    settings: Settings
    origins: tuple[Origin, ...]
    warnings: tuple[str, ...]
    algorithm: Algorithm
    steps_per_epoch: int | None

    @property
    def decided(self) -> tuple[tuple[str, int], ...]:
        """The derived keys of the configuration with their values."""
        return tuple((origin.key, int(origin.value)) for origin in self.origins)


def decide(config: Config, sizes: Mapping[Split, int], *, base: Path | None = None) -> Decision:
    """Fill what the configuration leaves to the rule; a value that the user gives always wins.

    Relative paths start from ``base``, or from the working directory.

    Raises:
        UsageError: values that cannot go together, or prompt templates that cannot be used.
    """
    match config.optimizer:
        case NoneConfig():
            return _untrained(config, sizes)
        case GepaConfig() as optimizer:
            return _gepa(config, optimizer, sizes, base)
        case CustomConfig() as optimizer:
            custom = Custom(load(optimizer.factory), optimizer.options)
            like = _skillopt(config, _like(optimizer), sizes, base)
            return replace(like, origins=(), algorithm=custom, steps_per_epoch=None)
        case SkillOptConfig() as optimizer:
            return _skillopt(config, optimizer, sizes, base)
    raise AssertionError(f"no algorithm has the schema {type(config.optimizer).__name__}")


def _untrained(config: Config, sizes: Mapping[Split, int]) -> Decision:
    """No step: what concerns training alone is neither decided nor warned of."""
    nothing = replace(config, train=replace(config.train, num_epochs=0, batch_size=None, accumulation=1))
    decision = _skillopt(nothing, SkillOptConfig(name="none"), sizes, None)
    few_test = rules.size_warnings(
        {**sizes, Split.train: rules.FEW_TRAIN_ITEMS, Split.val: rules.FEW_VAL_ITEMS}
    )
    names = {Role.target: config.model.target.name}
    return replace(decision, origins=(), warnings=(*few_test, *rules.model_warnings(names)))


def _gepa(config: Config, optimizer: GepaConfig, sizes: Mapping[Split, int], base: Path | None) -> Decision:
    """The same settings as SkillOpt's, as far as both read them, and as many attempts."""
    refuse_missing()
    if config.evaluation.repeats > 1:
        raise UsageError(
            f"evaluation.repeats is {config.evaluation.repeats}, but optimizer=gepa takes one attempt "
            "an item; leave it at 1, or choose optimizer=skillopt"
        )
    skillopt = _skillopt(config, _like(optimizer), sizes, base)
    equal = expected_attempts(skillopt.settings, num_train=sizes[Split.train], num_val=sizes[Split.val])
    budget = _chosen(optimizer.max_metric_calls, equal)
    cost = MinibatchCost(config.gradient.minibatch_size, sizes[Split.val])
    if budget < cost.least:
        raise UsageError(
            f"optimizer.max_metric_calls is {budget}; the seed skill and one proposal need {cost.least}: "
            f"give {cost.least} or more, fewer val items (evaluation.val_limit), or null"
        )
    gate = GateSettings(
        config.gate.metric, config.gate.criterion(cost.most_candidates(budget)), config.train.seed
    )
    outlook.refuse_hopeless(gate, sizes[Split.val])
    origin = _origin(
        "optimizer.max_metric_calls",
        optimizer.max_metric_calls,
        equal,
        "the attempts that SkillOpt expects to make on train and val",
        says="SkillOpt expects",
    )
    warnings = (
        *rules.size_warnings(sizes),
        *outlook.gate_warnings(gate, sizes[Split.val]),
        *_unread_by_gepa(config, optimizer),
        *rules.model_warnings(_names(config)),
    )
    return Decision(replace(skillopt.settings, gate=gate), (origin,), warnings, Gepa(budget), None)


def _like(optimizer: WritingConfig) -> SkillOptConfig:
    """SkillOpt on the same terms, with its own keys as they are by default."""
    return SkillOptConfig(
        name="skillopt", max_skill_tokens=optimizer.max_skill_tokens, prompts_dir=optimizer.prompts_dir
    )


def _unread_by_gepa(config: Config, optimizer: GepaConfig) -> tuple[str, ...]:
    """Keys outside of ``optimizer`` that were set, and that only SkillOpt reads."""
    groups: list[tuple[str, object, object, tuple[str, ...]]] = [
        ("gradient", config.gradient, GradientConfig(), ("merge_batch_size", "failure_only")),
        ("gate", config.gate, GateConfig(), ("early_stop", "block", "screen")),
        ("train", config.train, TrainConfig(), ("patience",)),
    ]
    if optimizer.max_metric_calls is not None:
        only_for_equal_calls = ("num_epochs", "batch_size", "accumulation")
        groups.append(("train", config.train, TrainConfig(), only_for_equal_calls))
    unread = [
        f"{group}.{name}"
        for group, chosen, default, names in groups
        for name in names
        if getattr(chosen, name) != getattr(default, name)
    ]
    kept = config.cache.mode is CacheMode.readwrite
    told = [f"optimizer=gepa does not read {', '.join(unread)}"] if unread else []
    if not kept:
        told.append(
            f"cache.mode={config.cache.mode.value}: a run of optimizer=gepa goes on from stored answers, and "
            "without them what it has attempted has to be paid for again"
        )
    return tuple(told)


def _names(config: Config) -> dict[Role, str]:
    return {Role.target: config.model.target.name, Role.optimizer: config.model.optimizer.name}


@dataclass(frozen=True, slots=True)
class _Numbers:
    """What the rule derives, or the user gives instead; ``derived`` is what the rule says in any case."""

    batch_size: int
    learning_rate: int
    min_learning_rate: int
    derived: rules.Derived
    origins: tuple[Origin, ...]


def _numbers(config: Config, optimizer: SkillOptConfig, num_train: int) -> _Numbers:
    """
    Raises:
        UsageError: values that cannot go together.
    """
    derived = rules.derive(config.rule.table(), num_train)
    batch_size = _chosen(config.train.batch_size, derived.batch_size)
    learning_rate = _chosen(optimizer.learning_rate, derived.learning_rate)
    default_min = rules.default_min_learning_rate(learning_rate)
    min_learning_rate = _chosen(optimizer.min_learning_rate, default_min)
    if batch_size > num_train:
        raise UsageError(
            f"train.batch_size is {batch_size}, but the train split has {num_train} items; "
            f"use 1..{num_train}, or null for the rule's {derived.batch_size}"
        )
    if min_learning_rate > learning_rate:
        raise UsageError(
            f"optimizer.min_learning_rate is {min_learning_rate}, above the learning rate {learning_rate}; "
            f"give at most {learning_rate}, or null for {default_min}"
        )
    unused = optimizer.rate_unused
    rate_reason = derived.learning_rate_reason
    origins = (
        _origin("train.batch_size", config.train.batch_size, derived.batch_size, derived.batch_size_reason),
        _origin(
            "optimizer.learning_rate", optimizer.learning_rate, derived.learning_rate, rate_reason, unused
        ),
        _origin(
            "optimizer.min_learning_rate",
            optimizer.min_learning_rate,
            default_min,
            "min(2, learning_rate)",
            unused,
        ),
    )
    return _Numbers(batch_size, learning_rate, min_learning_rate, derived, origins)


def _skillopt(
    config: Config, optimizer: SkillOptConfig, sizes: Mapping[Split, int], base: Path | None
) -> Decision:
    numbers = _numbers(config, optimizer, sizes[Split.train])
    step_items = numbers.batch_size * config.train.accumulation
    an_epoch = rules.steps_per_epoch(sizes[Split.train], step_items)
    gate = _gate(config, optimizer, an_epoch, sizes[Split.val])
    settings = Settings(
        num_epochs=config.train.num_epochs,
        batch_size=numbers.batch_size,
        seed=config.train.seed,
        learning_rate=numbers.learning_rate,
        min_learning_rate=numbers.min_learning_rate,
        scheduler=optimizer.lr_scheduler,
        minibatch_size=config.gradient.minibatch_size,
        merge_batch_size=config.gradient.merge_batch_size,
        failure_only=config.gradient.failure_only,
        trajectory_chars=config.gradient.trajectory_chars,
        accumulation=config.train.accumulation,
        rate_control=optimizer.rate_control,
        update_mode=optimizer.skill_update_mode,
        skill_aware=optimizer.use_skill_aware_reflection,
        max_notes=optimizer.skill_aware_consolidate_threshold,
        num_candidates=optimizer.num_candidates,
        epoch_end=EpochSettings(
            slow_update=optimizer.use_slow_update,
            meta_skill=optimizer.use_meta_skill,
            samples=optimizer.slow_update_samples,
            pair_policy=optimizer.longitudinal_pair_policy,
            gated=optimizer.slow_update_gate_with_selection,
        ),
        scoring=Scoring(
            repeats=config.evaluation.repeats,
            block=config.gate.block_of(sizes[Split.val]),
            screened=config.gate.screen is Screen.batch,
            at_once=config.model.target.max_concurrency,
        ),
        patience=config.train.patience,
        max_skill_tokens=optimizer.max_skill_tokens,
        prompts=prompts.load(
            _folder(optimizer.prompts_dir, base),
            needed={"lapses"} if optimizer.use_skill_aware_reflection else (),
        ),
        gate=gate,
    )
    warnings = (
        *rules.size_warnings(sizes),
        *outlook.gate_warnings(
            gate,
            sizes[Split.val],
            repeats=settings.scoring.repeats,
            block=settings.scoring.block,
        ),
        *_one_candidate(settings),
        *rules.choice_warnings(
            numbers.derived,
            steps=an_epoch,
            batch_size=numbers.batch_size,
            num_epochs=config.train.num_epochs,
        ),
        *rules.model_warnings(_names(config)),
    )
    return Decision(settings, numbers.origins, warnings, SkillOpt(), an_epoch)


def _folder(path: str | None, base: Path | None) -> Path | None:
    return None if path is None else (base or Path()) / Path(path).expanduser()


def _gate(config: Config, optimizer: SkillOptConfig, steps_per_epoch: int, num_val: int) -> GateSettings:
    """The gate, which is asked about each step, and about guidance when an epoch but the first ends."""
    num_epochs = config.train.num_epochs
    num_comparisons = num_epochs * steps_per_epoch
    if optimizer.use_slow_update and optimizer.slow_update_gate_with_selection:
        num_comparisons += max(0, num_epochs - 1)
    criterion = config.gate.criterion(num_comparisons, optimizer.num_candidates)
    settings = GateSettings(config.gate.metric, criterion, config.train.seed)
    if num_comparisons > 0:
        outlook.refuse_hopeless(settings, num_val)
    return settings


def _one_candidate(settings: Settings) -> tuple[str, ...]:
    if settings.candidates == settings.num_candidates:
        return ()
    return (
        f"optimizer.num_candidates is {settings.num_candidates}, but optimizer.skill_update_mode="
        f"{settings.update_mode} makes one whole skill a step: one is tried",
    )


def _chosen(given: int | None, derived: int) -> int:
    return derived if given is None else given


def _origin(
    key: str, given: int | None, derived: int, reason: str, unused: str = "", *, says: str = "the rule says"
) -> Origin:
    if unused:
        return Origin(key, str(_chosen(given, derived)), f"not used: {unused}")
    if given is None:
        return Origin(key, str(derived), f"from {reason}")
    return Origin(key, str(given), f"yours; {says} {derived}")
