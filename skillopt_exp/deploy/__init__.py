"""Trained skills as packages for agents: written, backed up, taken back. Nothing of them is run."""
