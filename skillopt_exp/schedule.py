"""Step to edit budget. Pure. Unit: edits a step; never under ``last``.

With t = 1..T and L going from ``first`` to ``last``: constant ``first``; linear
``first + (last - first) t/T``; cosine ``last + (first - last)(1 + cos(pi t/T))/2``. Rounded to even
halves (Python's ``round``, as SkillOpt does); a run of one step keeps ``first``.
"""

import math
from enum import Enum


class Scheduler(Enum):
    """How the edit budget goes from ``first`` to ``last`` over the run."""

    constant = "constant"
    linear = "linear"
    cosine = "cosine"


def edit_budget(step: int, total_steps: int, *, scheduler: Scheduler, first: int, last: int) -> int:
    """Edits allowed at 1-based ``step`` of ``total_steps``."""
    if not 1 <= step <= total_steps:
        raise ValueError(f"step must be in 1..{total_steps}, not {step}")
    if total_steps == 1:
        return first
    done = step / total_steps
    match scheduler:
        case Scheduler.constant:
            budget = float(first)
        case Scheduler.linear:
            budget = first + (last - first) * done
        case Scheduler.cosine:
            budget = last + (first - last) * (1 + math.cos(math.pi * done)) / 2
    return max(last, round(budget))
