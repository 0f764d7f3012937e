"""``compare``: two skills on the same items, and what the difference proves."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.commands.arguments import Verb, parse, split_own
from skillopt_exp.commands.eval import answer, bench_of
from skillopt_exp.config.key import Affects, key
from skillopt_exp.records import Split

VERB = Verb(
    "compare",
    "Score two skills on the same items and tell how they differ, b minus a: paired difference with interval "
    "and p, items won and lost, tokens a call. Takes every key of training.",
    "python -m skillopt_exp compare a=none b=best_skill.md dataset=demo model=simulated",
)


@dataclass(kw_only=True)
class CompareArguments:
    """Keys of the verb; all others are those of training."""

    a: str = key(affects=Affects.nothing, help="a Markdown file, a run's folder, or none")
    b: str = key(affects=Affects.nothing, help="the same; an item is won where b solves it and a does not")
    split: Split = key(Split.test, affects=Affects.nothing, help="train, val or test")
    control: bool = key(False, affects=Affects.nothing, help="score no skill on the same items, too")
    reuse: bool = key(
        True, affects=Affects.nothing, help="take the attempts at test that a run has made of the same items"
    )
    out: str | None = key(
        None,
        affects=Affects.nothing,
        help="a new folder for the results; null makes one under outputs/compare",
    )


def run(arguments: Sequence[str]) -> int:
    """Compare and print.

    Raises:
        SkillOptError: as training would before its first call, or while the target is asked.
    """
    own, overrides = split_own(CompareArguments, arguments)
    asked = parse(CompareArguments, own, VERB)
    if asked is None:
        return 0
    from skillopt_exp.evaluation.evaluate import Question
    from skillopt_exp.evaluation.source import NO_SKILL, find_skill

    base = Path.cwd()
    skills = {
        name: find_skill(given, key=name, base=base) for name, given in (("a", asked.a), ("b", asked.b))
    }
    if asked.control:
        skills["control"] = NO_SKILL
    question = Question(VERB.name, skills, ("b", "a"), asked.reuse)
    answer(question, bench_of(overrides, split=asked.split, base=base), out=asked.out)
    return 0
