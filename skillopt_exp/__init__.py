"""Train one natural-language skill for a frozen language model, as a declarative experiment."""

__version__ = "0.1.0"
