"""GEPA on this package's tasks, models, budget and records: ``optimizer=gepa``.

The search is the package ``gepa`` itself (whose skill to change, on which attempts, what stays in its
pool); it runs in a thread and is shown our task through ``adapter.py``. What it does is told as steps by
``search.py``. Nothing of ``gepa`` is imported before a run begins.
"""

from skillopt_exp.algorithms.gepa.algorithm import Gepa
from skillopt_exp.algorithms.gepa.cost import MinibatchCost
from skillopt_exp.algorithms.gepa.package import refuse_missing

__all__ = ["Gepa", "MinibatchCost", "refuse_missing"]
