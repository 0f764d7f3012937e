"""What one check found."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from skillopt_exp.checks import Check
from skillopt_exp.errors import SkillOptError


class State(StrEnum):
    """Whether a run could go on: unhindered, with something to know, or not at all."""

    ok = "ok"
    warning = "warning"
    problem = "problem"


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the examination. ``advice`` is what to do; ``exit_code`` is 0 unless it is a problem."""

    subject: str
    state: State
    said: str
    advice: str = ""
    exit_code: int = 0


def fine(subject: str, said: str) -> Finding:
    """Nothing to do."""
    return Finding(subject, State.ok, said)


def warned(subject: str, said: str, advice: str = "") -> Finding:
    """A run can go on, but the user should know."""
    return Finding(subject, State.warning, said, advice)


def problem(subject: str, said: str, kind: type[SkillOptError], advice: str = "") -> Finding:
    """A run could not go on. ``kind`` says who acts, and with it the exit code."""
    return Finding(subject, State.problem, said, advice, kind.exit_code)


def raised(subject: str, error: SkillOptError) -> Finding:
    """An error of this package, whose message says what to do."""
    return Finding(subject, State.problem, str(error), exit_code=error.exit_code)


def told(subject: str, check: Check) -> Iterator[Finding]:
    """What a check before a run found; nothing where all is well."""
    for error in check.problems:
        yield raised(subject, error)
    for remark in check.warnings:
        yield warned(subject, remark)


def worst(findings: Iterable[Finding]) -> int:
    """The exit code of the worst problem: the provider's (4) before data (3) before use (2); else 0."""
    return max((finding.exit_code for finding in findings), default=0)
