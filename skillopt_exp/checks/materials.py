"""What a run is made of: its items, its task, the numbers that follow, the skill that it starts from."""

from dataclasses import dataclass
from pathlib import Path

from skillopt_exp import data, tasks
from skillopt_exp.checks.check import Check, Subject
from skillopt_exp.config import Config
from skillopt_exp.config.optimizer import WritingConfig
from skillopt_exp.data import Loaded
from skillopt_exp.decide import Decision, decide
from skillopt_exp.errors import SkillOptError, UsageError
from skillopt_exp.reading import named_path, read_text, why
from skillopt_exp.records import Skill, Split, Splits
from skillopt_exp.skill import parse
from skillopt_exp.tasks.base import Task


@dataclass(frozen=True, slots=True)
class Items:
    """What was loaded, the splits as they will be used, and the task that scores them."""

    loaded: Loaded
    splits: Splits
    task: Task

    @property
    def sizes(self) -> dict[Split, int]:
        """Items of each split as they will be used."""
        return sizes_of(self.splits)


@dataclass(frozen=True, slots=True)
class Setup:
    """The decisions of a run, and the skill that it starts from."""

    decision: Decision
    seed_skill: Skill


def check_items(config: Config, *, base: Path) -> tuple[Check, Items | None]:
    """Load and split the items, and let the task look at them; relative paths start from ``base``."""
    limits = config.evaluation
    try:
        loaded = data.load(config.dataset, base=base)
        splits = limited(loaded.splits, val=limits.val_limit, test=limits.test_limit)
        task = tasks.build(config.dataset)
        remarks = task.validate(splits)
    except SkillOptError as error:
        return Check(Subject.data, (error,)), None
    return Check(Subject.data, warnings=loaded.warnings + remarks), Items(loaded, splits, task)


def check_settings(config: Config, items: Items, *, base: Path) -> tuple[Check, Setup | None]:
    """What is decided on the sizes of the splits, and the files that the settings name."""
    try:
        optimizer = config.optimizer
        if isinstance(optimizer, WritingConfig) and optimizer.prompts_dir is not None:
            named_path(optimizer.prompts_dir, base=base, key="optimizer.prompts_dir")
        decision = decide(config, items.sizes, base=base)
        seed_skill = read_skill(config.train.skill_init, base=base)
    except SkillOptError as error:
        return Check(Subject.settings, (error,)), None
    return Check(Subject.settings, warnings=decision.warnings), Setup(decision, seed_skill)


def limited(splits: Splits, *, val: int | None, test: int | None) -> Splits:
    """The splits with val and test cut to their first items; None is all."""
    return Splits(splits.train, splits.val[:val], splits.test[:test])


def sizes_of(splits: Splits) -> dict[Split, int]:
    """Items of each split."""
    return {Split.train: len(splits.train), Split.val: len(splits.val), Split.test: len(splits.test)}


def read_skill(path: str | None, *, base: Path) -> Skill:
    """The Markdown file to start from, by its parts; no file is the empty skill.

    Raises:
        UsageError: the file cannot be read, or it does not say where one part ends.
    """
    if path is None:
        return Skill()
    file = named_path(path, base=base, key="train.skill_init")
    try:
        return parse(read_text(file), f"train.skill_init={path}")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"train.skill_init={path}: {file} cannot be read ({why(error)}); give a Markdown file, or null"
        ) from error
