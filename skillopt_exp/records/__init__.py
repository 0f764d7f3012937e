"""The values that stages pass on. All frozen; nothing here does I/O or knows a configuration.

Scores are fractions in [0, 1] everywhere; percent exists in printed text alone.
"""

from skillopt_exp.records.epoch import Advice, Change, EpochRecord, EpochTrace, Pair, PairPolicy
from skillopt_exp.records.rollout import (
    Exchange,
    Fault,
    Item,
    Message,
    Metric,
    Role,
    Rollout,
    Score,
    Split,
    Splits,
    mean,
)
from skillopt_exp.records.skill import (
    Compaction,
    Edit,
    EditLimit,
    EditResult,
    ParsePath,
    Patch,
    RateControl,
    Rejection,
    Skill,
    Source,
)
from skillopt_exp.records.state import (
    Judged,
    Outcome,
    Remembered,
    ScoredSkill,
    StopReason,
    TrainState,
    Verdict,
)
from skillopt_exp.records.step import Progress, StepRecord, StepTrace
from skillopt_exp.records.summary import FINISHED, Evidence, Interval, Summary, Usage, stopped

__all__ = [
    "FINISHED",
    "Advice",
    "Change",
    "Compaction",
    "Edit",
    "EditLimit",
    "EditResult",
    "EpochRecord",
    "EpochTrace",
    "Evidence",
    "Exchange",
    "Fault",
    "Interval",
    "Item",
    "Judged",
    "Message",
    "Metric",
    "Outcome",
    "Pair",
    "PairPolicy",
    "ParsePath",
    "Patch",
    "Progress",
    "RateControl",
    "Rejection",
    "Remembered",
    "Role",
    "Rollout",
    "Score",
    "ScoredSkill",
    "Skill",
    "Source",
    "Split",
    "Splits",
    "StepRecord",
    "StepTrace",
    "StopReason",
    "Summary",
    "TrainState",
    "Usage",
    "Verdict",
    "mean",
    "stopped",
]
