"""Scoring skills outside of a training run: one alone, two against each other, one over models and data.

Nothing here changes a run: a run's folder is read, and what is found goes into a folder of its own.
"""
