"""Items in: source files become disjoint splits, with a manifest that lets anybody rebuild them."""

from skillopt_exp.data.load import Loaded, load
from skillopt_exp.data.manifest import Manifest

__all__ = ["Loaded", "Manifest", "load"]
