"""What paired scores let one say. Items are the unit everywhere; scores are fractions.

numpy and scipy are imported where they are used: that takes longer than a small verb may take in all.
"""

from skillopt_exp.stats.evidence import ALPHA, LARGE_GAIN, detectable_gain, evidence
from skillopt_exp.stats.intervals import CONFIDENCE, paired_interval, wilson
from skillopt_exp.stats.paired import binomial_tail, differences, mcnemar, sign_flip

__all__ = [
    "ALPHA",
    "CONFIDENCE",
    "LARGE_GAIN",
    "binomial_tail",
    "detectable_gain",
    "differences",
    "evidence",
    "mcnemar",
    "paired_interval",
    "sign_flip",
    "wilson",
]
