"""Where Hydra looks for sweepers. Nothing is imported here: every start of a Hydra program comes by."""
