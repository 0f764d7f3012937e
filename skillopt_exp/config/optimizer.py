"""``optimizer``: the algorithm, with the keys that only it reads (``model.optimizer`` is what it asks)."""

from dataclasses import dataclass
from typing import Any, ClassVar

from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError
from skillopt_exp.records import PairPolicy, RateControl, UpdateMode
from skillopt_exp.schedule import Scheduler

MOST_CANDIDATES = 16
"""Of one step: more of them are scored on val for hardly any other text."""


@dataclass(kw_only=True)
class OptimizerConfig:
    """What every algorithm has. ``asks_model`` says whether it asks the model ``model.optimizer``."""

    asks_model: ClassVar[bool] = True

    name: str = key(affects=Affects.nothing, help="the algorithm's name, as shown")


@dataclass(kw_only=True)
class WritingConfig(OptimizerConfig):
    """What every algorithm has that lets a model write skills."""

    max_skill_tokens: int | None = key(
        5000,
        affects=Affects.result,
        help="a candidate over so many tokens (4 bytes each) is sent back once, then rejected; null: none",
    )
    prompts_dir: str | None = key(
        None,
        affects=Affects.result,
        help="a folder with templates of your own (reflect.md, ...) in place of the built-in ones",
    )

    def __post_init__(self) -> None:
        if self.max_skill_tokens is not None and self.max_skill_tokens < 1:
            raise UsageError(
                f"optimizer.max_skill_tokens is {self.max_skill_tokens}; give 1 or more, or null for no limit"
            )


@dataclass(kw_only=True)
class GepaConfig(WritingConfig):
    """The package ``gepa``: it rewrites skills of a Pareto frontier over val items."""

    max_metric_calls: int | None = key(
        None,
        affects=Affects.result,
        help="most attempts at train and val items; null is as many as SkillOpt expects to make",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_metric_calls is not None and self.max_metric_calls < 1:
            raise UsageError(
                f"optimizer.max_metric_calls is {self.max_metric_calls}; give 1 or more attempts, or null"
            )


@dataclass(kw_only=True)
class CustomConfig(WritingConfig):
    """An optimizer of the user's own."""

    factory: str = key(
        affects=Affects.result,
        help="what makes the optimizer, as package.module:name; called with the trainer and the options",
    )
    options: dict[str, Any] = key(
        factory=dict, affects=Affects.result, help="whatever the factory reads; add one with a plus before it"
    )


@dataclass(kw_only=True)
class NoneConfig(OptimizerConfig):
    """No training: the seed skill is scored as it is."""

    asks_model: ClassVar[bool] = False


@dataclass(kw_only=True)
class SkillOptConfig(WritingConfig):
    """SkillOpt's optimizer."""

    learning_rate: int | None = key(
        None, affects=Affects.result, help="largest number of edits a step may apply; null takes the rule's"
    )
    min_learning_rate: int | None = key(
        None, affects=Affects.result, help="where the schedule ends; null is min(2, learning_rate)"
    )
    lr_scheduler: Scheduler = key(Scheduler.cosine, affects=Affects.result, help="constant, linear or cosine")
    lr_control_mode: RateControl = key(
        RateControl.fixed,
        affects=Affects.result,
        help="who says how many edits a step applies: fixed (the schedule), autonomous (the optimizer), none",
    )
    skill_update_mode: UpdateMode = key(
        UpdateMode.patch,
        affects=Affects.result,
        help="patch (edits), rewrite_from_suggestions (one rewrite a step), full_rewrite_minibatch "
        "(each minibatch writes a whole skill)",
    )
    num_candidates: int = key(
        1,
        affects=Affects.result,
        help="candidates a step tries, of different choices among its proposals; the gate takes the best",
    )
    use_slow_update: bool = key(
        True,
        affects=Affects.result,
        help="at the end of an epoch, from the second on, write guidance into the skill",
    )
    slow_update_gate_with_selection: bool = key(
        True,
        affects=Affects.result,
        help="guidance passes the gate; false keeps it whatever it scores on val",
    )
    slow_update_samples: int = key(
        20, affects=Affects.result, help="train items on which the end of an epoch compares two skills"
    )
    longitudinal_pair_policy: PairPolicy = key(
        PairPolicy.mixed,
        affects=Affects.result,
        help="which of these items are shown: mixed (all), changed, unchanged",
    )
    use_meta_skill: bool = key(
        True, affects=Affects.result, help="at the end of an epoch the optimizer writes advice to itself"
    )
    use_skill_aware_reflection: bool = key(
        False,
        affects=Affects.result,
        help="tell lapses of the model from defects of the skill: lapses become notes in the appendix",
    )
    skill_aware_consolidate_threshold: int | None = key(
        12,
        affects=Affects.result,
        help="an appendix of more notes than that is said in fewer by one call; null: never",
    )

    @property
    def rate_control(self) -> RateControl:
        """Who says how many proposals a step applies; nobody where the update mode has no budget."""
        return self.lr_control_mode if self.skill_update_mode.budgeted else RateControl.none

    @property
    def rate_unused(self) -> str:
        """Why nobody reads the learning rate, or "" where it is read."""
        if not self.skill_update_mode.budgeted:
            return f"{self.skill_update_mode} has no edit budget"
        return "lr_control_mode is none" if self.lr_control_mode is RateControl.none else ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lr_control_mode is RateControl.autonomous and not self.skill_update_mode.budgeted:
            raise UsageError(
                f"optimizer.lr_control_mode=autonomous asks how many edits to apply, and "
                f"optimizer.skill_update_mode={self.skill_update_mode} has none: it makes one whole skill a "
                "step; use another update mode, or optimizer.lr_control_mode=none"
            )
        if self.skill_aware_consolidate_threshold is not None and self.skill_aware_consolidate_threshold < 1:
            raise UsageError(
                f"optimizer.skill_aware_consolidate_threshold is {self.skill_aware_consolidate_threshold}; "
                "give 1 or more notes, or null to keep them all"
            )
        if not 1 <= self.num_candidates <= MOST_CANDIDATES:
            raise UsageError(
                f"optimizer.num_candidates is {self.num_candidates}; give 1 to {MOST_CANDIDATES}"
            )
        if self.slow_update_samples < 1:
            raise UsageError(
                f"optimizer.slow_update_samples is {self.slow_update_samples}; give 1 or more, or switch "
                "both off: optimizer.use_slow_update=false optimizer.use_meta_skill=false"
            )
        for name, rate in (
            ("learning_rate", self.learning_rate),
            ("min_learning_rate", self.min_learning_rate),
        ):
            if rate is not None and rate < 1:
                raise UsageError(f"optimizer.{name} is {rate}; give 1 or more edits, or null for the rule's")


SCHEMAS: dict[str, Any] = {
    "base_skillopt": SkillOptConfig,
    "base_gepa": GepaConfig,
    "base_custom": CustomConfig,
    "base_none": NoneConfig,
}
