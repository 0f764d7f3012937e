"""``gate-selftest``: what a gate lets through by luck and what it misses, by simulation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from skillopt_exp.commands.arguments import Verb, parse, split_own
from skillopt_exp.config.key import Affects, key
from skillopt_exp.config.names import nearest
from skillopt_exp.config.root import schema_keys
from skillopt_exp.errors import UsageError
from skillopt_exp.stats.power import Answers

if TYPE_CHECKING:
    from skillopt_exp.selftest import Plan
    from skillopt_exp.stages.gate import GateSettings

VERB = Verb(
    "gate-selftest",
    "Measure, by simulation and without any model, what a gate accepts by luck and which gains it sees.\n"
    "Takes the keys of the gate, too: gate=significant gate.alpha=0.01.",
    "python -m skillopt_exp gate-selftest gate=significant val_sizes=[50,200]",
)

MOST = 100_000
"""Of anything that is simulated: more takes hours, or more memory than there is."""

RUNS, RUNS_OF_SLOW_GATES = 2000, 100


@dataclass(kw_only=True)
class GateSelftestArguments:
    """Keys of the verb; besides them it takes those of ``gate``."""

    val_sizes: list[int] | None = key(
        None, affects=Affects.nothing, help="sizes of val to try; null is [10,30,100,300]"
    )
    steps: int = key(45, affects=Affects.nothing, help="comparisons that a run makes")
    gains: list[float] | None = key(
        None, affects=Affects.nothing, help="true gains to look for, as fractions; null is [0.02,0.05,0.1]"
    )
    baseline: float = key(0.5, affects=Affects.nothing, help="share of the items that are solved")
    churn: float | None = key(
        None,
        affects=Affects.nothing,
        help="share of the items that are solved at one asking and not at another; null is all that can be",
    )
    test_size: int = key(300, affects=Affects.nothing, help="test items, for the seed rule")
    runs: int | None = key(
        None,
        affects=Affects.nothing,
        help=f"simulated runs; null is {RUNS}, or {RUNS_OF_SLOW_GATES} for the sign-flip test",
    )
    seed: int = key(0, affects=Affects.nothing, help="of the simulation, 0 or more")

    def __post_init__(self) -> None:
        counts = (self.steps, self.test_size, *self.sizes, *([] if self.runs is None else [self.runs]))
        if not self.sizes:
            raise UsageError("val_sizes is empty; name at least one, as val_sizes=[100]")
        if not 1 <= min(counts) <= max(counts) <= MOST:
            raise UsageError(f"steps, test_size, runs and each of val_sizes must be from 1 to {MOST:,}")
        if self.seed < 0:
            raise UsageError(f"seed is {self.seed}; give 0 or more")
        try:
            answers = self.answers
        except ValueError as error:
            raise UsageError(str(error)) from error
        for gain in self.looked_for:
            if not 0 <= gain <= 1 - answers.baseline:
                raise UsageError(
                    f"a gain of {gain:g} is none that a baseline of {answers.baseline:g} leaves room for; "
                    f"give gains from 0 to {1 - answers.baseline:g}"
                )

    @property
    def sizes(self) -> list[int]:
        return [10, 30, 100, 300] if self.val_sizes is None else self.val_sizes

    @property
    def looked_for(self) -> list[float]:
        return [0.02, 0.05, 0.1] if self.gains is None else self.gains

    @property
    def answers(self) -> Answers:
        return Answers(self.baseline, self.churn)


def run(arguments: Sequence[str]) -> int:
    """Simulate and print the tables.

    Raises:
        UsageError: an unknown key, or values that cannot go together.
    """
    own, others = split_own(GateSelftestArguments, arguments)
    asked = parse(GateSelftestArguments, own, VERB)
    if asked is None:
        return 0
    _refuse_foreign(others)

    # Loads numpy: not before there is work, so that help answers at once.
    from rich.console import Console

    from skillopt_exp.selftest import measure
    from skillopt_exp.selftest.table import print_findings

    plan = _plan(asked, _settings(others, asked))
    print_findings(Console(), plan, [measure(plan, num_val) for num_val in asked.sizes])
    return 0


def _refuse_foreign(others: Sequence[str]) -> None:
    """Only the gate's keys are taken besides the verb's own."""
    known = {name for name in schema_keys() if name.startswith("gate.")} | {"gate"}
    known |= set(GateSelftestArguments.__dataclass_fields__)
    for argument in others:
        name = argument.partition("=")[0]
        if name not in known:
            raise UsageError(f"{VERB.name} has no key {name!r}; {nearest(name, known)}")


def _settings(overrides: Sequence[str], asked: GateSelftestArguments) -> "GateSettings":
    """The gate as training would set it up for a run of so many steps."""
    from skillopt_exp.commands.composing import compose
    from skillopt_exp.stages.gate import GateSettings

    config = compose(overrides).gate
    return GateSettings(config.metric, config.criterion(asked.steps), asked.seed)


def _plan(asked: GateSelftestArguments, settings: "GateSettings") -> "Plan":
    from skillopt_exp.selftest import Plan
    from skillopt_exp.selftest.deciding import sums_suffice

    runs = RUNS if sums_suffice(settings) else RUNS_OF_SLOW_GATES
    return Plan(
        settings=settings,
        answers=asked.answers,
        num_steps=asked.steps,
        gains=tuple(asked.looked_for),
        num_test=asked.test_size,
        num_runs=runs if asked.runs is None else asked.runs,
        seed=asked.seed,
    )
