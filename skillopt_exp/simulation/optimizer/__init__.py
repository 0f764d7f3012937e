"""The simulated optimizer: sees its prompt only, and answers in the optimizer's JSON formats."""

from skillopt_exp.simulation.optimizer.model import Optimizer

__all__ = ["Optimizer"]
