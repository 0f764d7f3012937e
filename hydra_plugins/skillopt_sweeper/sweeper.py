"""The sweeper behind ``-m``: hands the command to ``skillopt_exp.commands.sweeping``, which leads."""

from collections.abc import Mapping, Sequence

from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig


class SkillOptSweeper(Sweeper):
    """``params`` are sweeps that a configuration file asks for: key to values, as on the command line."""

    def __init__(self, params: Mapping[str, str] | None = None) -> None:
        self._params = {} if params is None else params
        self._launcher: Launcher | None = None

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        from hydra.core.plugins import Plugins

        self.hydra_context, self.config = hydra_context, config
        self._launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> Sequence[float | None]:
        """Run all jobs. Returns their selection scores, in order.

        Raises:
            SkillOptError: a job failed or was stopped, or the sweep cannot begin.
        """
        from skillopt_exp.commands.sweeping import Hydra, lead

        assert self.config is not None, "setup comes first"
        assert self.hydra_context is not None, "setup comes first"
        assert self._launcher is not None, "setup comes first"
        overrides = [*(f"{key}={values}" for key, values in self._params.items()), *arguments]
        return lead(overrides, Hydra(self.hydra_context, self.config, self._launcher))
