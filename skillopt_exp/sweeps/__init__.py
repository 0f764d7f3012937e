"""What the jobs of a sweep have in common: their keys, their folder, who leads, who wins.

Knows neither Hydra nor MLflow: ``commands.sweeping`` brings these together.
"""
