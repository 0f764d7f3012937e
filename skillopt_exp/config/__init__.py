"""The experiment's schema: plain dataclasses, one module a group, converted once at the door.

Below ``compose`` nobody sees a ``DictConfig``.
"""

from skillopt_exp.config.root import Config, register, to_config

__all__ = ["Config", "register", "to_config"]
