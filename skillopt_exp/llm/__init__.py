"""The one seam to models: clients for both roles, who may call when, what is kept and what it cost.

Importing this package is cheap; the HTTP libraries are imported when ``connect`` is entered.
"""

from skillopt_exp.llm.connect import Models, connect, missing_keys

__all__ = ["Models", "connect", "missing_keys"]
