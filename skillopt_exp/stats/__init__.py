"""What paired scores let one say. Items are the unit everywhere; scores are fractions.

numpy and scipy are imported where they are used: that takes longer than a small verb may take in all.
"""

from skillopt_exp.stats.evidence import ALPHA, LARGE_GAIN, detectable_gain, evidence
from skillopt_exp.stats.intervals import CONFIDENCE, paired_interval, wilson
from skillopt_exp.stats.paired import binomial_tail, differences, mcnemar, sign_flip, two_sided
from skillopt_exp.stats.standing import averaged, gain, rate_interval, standing

__all__ = [
    "ALPHA",
    "CONFIDENCE",
    "LARGE_GAIN",
    "averaged",
    "binomial_tail",
    "detectable_gain",
    "differences",
    "evidence",
    "gain",
    "mcnemar",
    "paired_interval",
    "rate_interval",
    "sign_flip",
    "standing",
    "two_sided",
    "wilson",
]
