"""The gate put to the test: what it lets through by luck, and what it misses, by simulation.

No model is asked. Answers are drawn (``answers``), the gate itself decides (``deciding``), and what
became of it is counted (``trials``) and shown (``table``).
"""

from skillopt_exp.selftest.trials import Findings, Plan, measure

__all__ = ["Findings", "Plan", "measure"]
