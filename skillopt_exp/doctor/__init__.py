"""Before a run is paid for: is everything there, and does it do what it is told?

Asks each model a handful of tiny questions, looks at the data and the stores, writes nothing.
"""

from skillopt_exp.doctor.examine import examine
from skillopt_exp.doctor.finding import Finding, State, worst

__all__ = ["Finding", "State", "examine", "worst"]
