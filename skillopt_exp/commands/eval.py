"""``eval``: score a skill, any skill, on one split of a data set."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import DictConfig

from skillopt_exp.commands.arguments import Verb, parse, split_own
from skillopt_exp.commands.composing import compose_raw
from skillopt_exp.config.key import Affects, key
from skillopt_exp.records import Role, Split

if TYPE_CHECKING:
    from skillopt_exp.evaluation.bench import Bench
    from skillopt_exp.evaluation.evaluate import Question

VERB = Verb(
    "eval",
    "Score a skill on every item of a split: what it solves, how sure that is, what it takes. Trains "
    "nothing and asks the target alone. Takes every key of training.",
    "python -m skillopt_exp eval skill=best_skill.md dataset=demo model=simulated",
)


@dataclass(kw_only=True)
class EvalArguments:
    """Keys of the verb; all others are those of training."""

    skill: str = key(affects=Affects.nothing, help="a Markdown file, a run's folder, or none")
    split: Split = key(Split.test, affects=Affects.nothing, help="train, val or test")
    control: bool = key(
        True, affects=Affects.nothing, help="score no skill on the same items, too: says what the skill adds"
    )
    reuse: bool = key(
        True, affects=Affects.nothing, help="take the attempts at test that a run has made of the same items"
    )
    out: str | None = key(
        None, affects=Affects.nothing, help="a new folder for the results; null makes one under outputs/eval"
    )


def run(arguments: Sequence[str]) -> int:
    """Evaluate and print.

    Raises:
        SkillOptError: as training would before its first call, or while the target is asked.
    """
    own, overrides = split_own(EvalArguments, arguments)
    asked = parse(EvalArguments, own, VERB)
    if asked is None:
        return 0
    # Loads the tasks and the model client: not before there is work, so that help answers at once.
    from skillopt_exp.evaluation.evaluate import Question
    from skillopt_exp.evaluation.source import NO_SKILL, find_skill

    base = Path.cwd()
    skills = {"skill": find_skill(asked.skill, key="skill", base=base)}
    # Without a skill there is nothing to compare: it would be its own control.
    controlled = asked.control and bool(skills["skill"].skill.text)
    if controlled:
        skills["control"] = NO_SKILL
    question = Question(VERB.name, skills, ("skill", "control") if controlled else None, asked.reuse)
    answer(question, bench_of(overrides, split=asked.split, base=base), out=asked.out)
    return 0


def answer(question: "Question", bench: "Bench", *, out: str | None) -> None:
    """Conduct the evaluation and print what comes out.

    Raises:
        SkillOptError: see ``conduct``.
    """
    from rich.console import Console

    from skillopt_exp.evaluation.conduct import conduct
    from skillopt_exp.evaluation.folder import choose_folder
    from skillopt_exp.evaluation.table import print_evaluation, print_question, progress_on
    from skillopt_exp.terminal import warnings_on

    console = Console()
    folder = choose_folder(out, verb=question.verb, dataset=bench.dataset, base=bench.base)
    print_question(console, question, bench)
    with warnings_on(console), progress_on(console, bench) as progress:
        evaluation, tracked = conduct(question, bench, folder, progress)
    print_evaluation(console, evaluation, folder, tracked)


def bench_of(overrides: Sequence[str], *, split: Split, base: Path) -> "Bench":
    """What ``overrides`` (keys of training) say to score on, loaded and checked.

    Relative paths start from ``base``.

    Raises:
        UsageError: a key or a value is wrong, or the target's API key is missing.
        DataError: items are missing or wrong.
    """
    return loaded_bench(compose_raw(overrides), split=split, base=base)


def loaded_bench(composed: DictConfig, *, split: Split, base: Path) -> "Bench":
    """The same, of what was composed.

    Raises:
        UsageError: see ``bench_of``.
        DataError: see ``bench_of``.
    """
    from skillopt_exp import experiment
    from skillopt_exp.config import to_config
    from skillopt_exp.config.resolved import resolve
    from skillopt_exp.evaluation.bench import Bench

    asks = (Role.target,)
    prepared = experiment.prepare(to_config(composed, asks=asks), base=base, asks=asks)
    return Bench(prepared, resolve(composed, ()), split, base)
