"""What is looked at before a run is paid for, each by its name. The one list of it.

``experiment.prepare`` refuses with what these find, ``doctor`` shows them one by one. Nothing is sent,
nothing is written.
"""

from skillopt_exp.checks.check import Check, Subject
from skillopt_exp.checks.checked import Checked, check

__all__ = ["Check", "Checked", "Subject", "check"]
