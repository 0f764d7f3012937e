"""One evaluation: some skills on one bench, and how two of them differ."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.evaluation.figures import Difference, difference
from skillopt_exp.evaluation.kept import Attempts, kept_by, seen_by
from skillopt_exp.evaluation.scoring import Progress, Scored, score_skills
from skillopt_exp.evaluation.source import NamedSkill
from skillopt_exp.groups import by_group
from skillopt_exp.llm.meter import added
from skillopt_exp.records import NO_CALLS, ACall, GroupResult, Split, Standing, Usage
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.stats import standing


@dataclass(frozen=True, slots=True)
class Question:
    """The skills to score, by a short name each; ``pair`` names the two to compare: first minus second.

    ``reuse`` allows attempts that a run has kept in place of new ones.
    """

    verb: str
    skills: Mapping[str, NamedSkill]
    pair: tuple[str, str] | None
    reuse: bool = True


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What came out, by the names of the question. ``groups`` is by groups of items, where there are
    several; ``notes`` are what to keep in mind."""

    question: Question
    bench: Bench
    scored: Mapping[str, Scored]
    standings: Mapping[str, Standing]
    groups: Mapping[str, GroupResult]
    difference: Difference | None
    notes: tuple[str, ...]

    @property
    def usage(self) -> Usage:
        """What was paid, in all."""
        return added(each.usage for each in self.scored.values())

    @property
    def extra_a_call(self) -> ACall | None:
        """What a call with the first skill of the pair takes more than one with the second."""
        if self.question.pair is None:
            return None
        first, second = self.question.pair
        return self.scored[first].a_call.minus(self.scored[second].a_call)


def evaluate(question: Question, bench: Bench, progress: Progress) -> Evaluation:
    """Score the skills, compare the pair.

    Raises:
        SkillOptError: see ``score_skills``; DataError also where a run's folder is damaged.
    """
    runs = {each.run.path: each.run for each in question.skills.values() if each.run is not None}
    kept, remarks = _kept(runs.values(), bench) if question.reuse else ({}, ())
    cautions = tuple(note for run in runs.values() for note in _seen(run, bench))
    scored = score_skills(bench, question.skills, kept, progress)
    standings = {name: standing(each.attempts) for name, each in scored.items()}
    found = None
    if question.pair is not None:
        first, second = question.pair
        found = difference((first, second), scored[first].attempts, scored[second].attempts)
    return Evaluation(
        question=question,
        bench=bench,
        scored=scored,
        standings=standings,
        groups=by_group(bench.items, {name: each.attempts for name, each in scored.items()}, question.pair),
        difference=found,
        notes=(
            *_about_split(bench),
            *cautions,
            *remarks,
            *_about_faults(question, standings),
            *_about_reuse(scored),
        ),
    )


def _kept(runs: Iterable[RunFolder], bench: Bench) -> tuple[dict[str, Attempts], tuple[str, ...]]:
    """Attempts that need not be made again, and why there are none where a user might expect them."""
    attempts: dict[str, Attempts] = {}
    remarks = []
    for run in runs:
        kept = kept_by(run, bench)
        attempts |= kept.by_digest
        if kept.why_not:
            remarks.append(f"the test results of {run.path} are not reused: {kept.why_not}")
    return attempts, tuple(remarks)


def _seen(run: RunFolder, bench: Bench) -> Iterator[str]:
    count = seen_by(run, bench)
    if count:
        yield (
            f"{count} of these {len(bench.items)} items were in the train or val split of {run.path}: "
            "its score on them is optimistic"
        )


def _about_split(bench: Bench) -> Iterator[str]:
    if bench.prepared.simulated:
        yield "simulated models: the numbers say nothing about real ones"
    if bench.split is not Split.test:
        done = "trained" if bench.split is Split.train else "chosen"
        yield f"{bench.split} is not held out: the score of a skill that was {done} on it is optimistic"


def _about_faults(question: Question, standings: Mapping[str, Standing]) -> Iterator[str]:
    for name, each in standings.items():
        if each.num_faults:
            reasons = ", ".join(f"{count} {reason}" for reason, count in each.faults.items())
            yield f"{each.num_faults} replies under {name} could not be used and scored 0: {reasons}"
    if question.pair is not None:
        first, second = question.pair
        if standings[first].num_faults > standings[second].num_faults:
            yield f"replies that cannot be used are more frequent under {first} than under {second}"


def _about_reuse(scored: Mapping[str, Scored]) -> Iterator[str]:
    for name, each in scored.items():
        if each.origin:
            yield f"{name} was not asked again: {each.origin}"
    if any(each.origin and each.a_call is NO_CALLS for each in scored.values()):
        yield "what a call of reused attempts took is unknown; reuse=false asks again"
