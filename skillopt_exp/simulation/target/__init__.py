"""The simulated target: knows the golds, spoils them by habit, and listens to the skill."""

from skillopt_exp.simulation.target.effect import cured, encouraged
from skillopt_exp.simulation.target.habits import Habit
from skillopt_exp.simulation.target.model import Target

__all__ = ["Habit", "Target", "cured", "encouraged"]
