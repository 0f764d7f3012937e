"""Ways to train a skill, chosen by ``optimizer=...``: what each is given, and what it owes.

SkillOpt itself is ``loop.py``. The others use what they like of its parts (scoring, judging, the state
that follows from a verdict), so that their steps are kept, shown and resumed as its steps are.
"""

from skillopt_exp.algorithms.base import Algorithm, Optimizer, SkillOpt
from skillopt_exp.algorithms.steps import one_proposal

__all__ = ["Algorithm", "Optimizer", "SkillOpt", "one_proposal"]
