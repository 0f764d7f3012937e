"""Configurations in which one of the two roles is never asked."""

from omegaconf import DictConfig, OmegaConf


def asks_both(composed: DictConfig) -> bool:
    """Whether the chosen algorithm asks ``model.optimizer``."""
    return bool(getattr(OmegaConf.get_type(composed, "optimizer"), "asks_model", True))


def target_alone(composed: DictConfig) -> DictConfig:
    """The same experiment where nobody needs to name an optimizer, have its key or limit its cost.

    It is never asked.
    """
    alone = composed.copy()
    alone.model.optimizer = composed.model.target
    for name, value in (("name", "never asked"), ("api_key_env", None), ("max_tokens", 1)):
        alone.model.optimizer[name] = value
    alone.model.optimizer.price.input = alone.model.optimizer.price.output = 0.0
    return alone
