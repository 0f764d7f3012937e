"""``transfer``: does a skill help other models, and on other data? A matrix of it against no skill."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from omegaconf import OmegaConf

from skillopt_exp.commands.arguments import Verb, parse, split_own
from skillopt_exp.commands.composing import compose_raw
from skillopt_exp.commands.eval import loaded_bench
from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Split

if TYPE_CHECKING:
    from skillopt_exp.evaluation.bench import Bench
    from skillopt_exp.evaluation.matrix import Place

VERB = Verb(
    "transfer",
    "Score a skill against no skill for each of some models on each of some data sets. An entry is a file of "
    "conf/model or conf/dataset; what follows its first colon is the target's name or the data set's path. "
    "Takes every other key of training.",
    "python -m skillopt_exp transfer skill=best_skill.md 'models=[deepseek,ollama:qwen3:8b]' "
    "'datasets=[demo,searchqa:searchqa.jsonl]'",
)


@dataclass(kw_only=True)
class TransferArguments:
    """Keys of the verb; all others are those of training."""

    skill: str = key(affects=Affects.nothing, help="a Markdown file or a run's folder")
    models: list[str] | None = key(
        None, affects=Affects.nothing, help="[a,b]: files of conf/model, maybe with a name; null is model=..."
    )
    datasets: list[str] | None = key(
        None,
        affects=Affects.nothing,
        help="[x,y]: files of conf/dataset, maybe with a path; null is dataset=...",
    )
    split: Split = key(Split.test, affects=Affects.nothing, help="train, val or test")
    out: str | None = key(
        None,
        affects=Affects.nothing,
        help="a new folder for the results; null makes one under outputs/transfer",
    )


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis of the matrix: the group that its entries are files of, and the key that their details set."""

    group: str
    detail: str


MODELS = Axis("model", "model.target.name")
DATASETS = Axis("dataset", "dataset.path")
_EXAMPLES = {MODELS: "deepseek", DATASETS: "demo"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One place on an axis. ``choice`` is an override of Hydra's, or none; ``detail`` its key's value."""

    axis: Axis
    shown: str
    choice: tuple[str, ...] = ()
    detail: str | None = None


def run(arguments: Sequence[str]) -> int:
    """Fill the matrix and print it; not 0 if a cell failed.

    Raises:
        UsageError: the skill or the command line is wrong. What is wrong with one cell is told with it.
        InterruptedRun: stopped; the cells that had ended are written.
    """
    own, overrides = split_own(TransferArguments, arguments)
    asked = parse(TransferArguments, own, VERB)
    if asked is None:
        return 0
    from rich.console import Console

    from skillopt_exp.evaluation.evaluate import Question
    from skillopt_exp.evaluation.folder import choose_folder, claimed
    from skillopt_exp.evaluation.grid import Follower, print_beginning, print_matrix
    from skillopt_exp.evaluation.matrix import fill
    from skillopt_exp.evaluation.source import NO_SKILL, find_skill
    from skillopt_exp.terminal import warnings_on

    base = Path.cwd()
    named = find_skill(asked.skill, key="skill", base=base)
    if named.skill.digest == NO_SKILL.skill.digest:
        raise UsageError(
            f"skill={asked.skill} is empty; a matrix compares a skill with none: give one with text"
        )
    places = _places(asked, overrides, base)
    folder = choose_folder(asked.out, verb=VERB.name, dataset=None, base=base)
    # A matrix wants the tokens of every call; attempts that a run has kept do not have them.
    question = Question(VERB.name, {"skill": named, "control": NO_SKILL}, ("skill", "control"), reuse=False)
    console = Console()
    print_beginning(console, question, asked.split, len(places))
    follower = Follower(console, len(places))
    with warnings_on(console), claimed(folder):
        matrix = fill(question, places, asked.split, folder, follower)
    print_matrix(console, matrix, folder, follower.tracked)
    return matrix.exit_code


def entries(axis: Axis, given: Sequence[str] | None, overrides: Sequence[str]) -> list[Entry]:
    """What stands on ``axis``; where nothing was given, the one thing that ``overrides`` compose.

    Raises:
        UsageError: nothing stands on it, or the group is chosen beside it.
    """
    chosen = [each.partition("=")[2] for each in overrides if each.partition("=")[0] == axis.group]
    if given is None:
        return [Entry(axis, chosen[-1] if chosen else "default")]
    if chosen:
        raise UsageError(
            f"{axis.group}={chosen[-1]} and {axis.group}s=[...] are both given; put all of them into the list"
        )
    if not given:
        raise UsageError(
            f"{axis.group}s=[] is empty; name at least one, as {axis.group}s=[{_EXAMPLES[axis]}]"
        )
    found = []
    for each in dict.fromkeys(given):
        name, _, detail = each.partition(":")
        found.append(Entry(axis, each, (f"{axis.group}={name}",), detail or None))
    return found


def _places(asked: TransferArguments, overrides: Sequence[str], base: Path) -> "list[Place]":
    """The cells, data set by data set."""
    from skillopt_exp.evaluation.matrix import Place

    models = entries(MODELS, asked.models, overrides)
    datasets = entries(DATASETS, asked.datasets, overrides)
    return [
        Place(model.shown, dataset.shown, partial(_bench, (model, dataset), overrides, asked.split, base))
        for dataset in datasets
        for model in models
    ]


def _bench(cell: Sequence[Entry], overrides: Sequence[str], split: Split, base: Path) -> "Bench":
    composed = compose_raw([*(choice for entry in cell for choice in entry.choice), *overrides])
    for entry in cell:
        if entry.detail is not None:
            # Not as an override: a name or a path need not follow Hydra's grammar.
            OmegaConf.update(composed, entry.axis.detail, entry.detail)
    return loaded_bench(composed, split=split, base=base)
