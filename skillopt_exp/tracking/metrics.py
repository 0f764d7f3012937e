"""The records of a run as metrics: name to number. A value that is not known has no metric."""

from dataclasses import asdict

from skillopt_exp.records import (
    Metric,
    Outcome,
    ParsePath,
    Rejection,
    ScoredSkill,
    StepRecord,
    Summary,
)
from skillopt_exp.tracking.names import safe_key


def baseline_metrics(seed: ScoredSkill) -> dict[str, float]:
    """Step 0: the seed is the current and the best skill."""
    hard, soft = seed.mean(Metric.hard), seed.mean(Metric.soft)
    return _known(
        {
            "val/current_hard": hard,
            "val/current_soft": soft,
            "val/best_hard": hard,
            "val/best_soft": soft,
        }
    )


def step_metrics(record: StepRecord) -> dict[str, float]:
    """One step. Every reason and every way of parsing is there, at 0 if need be: series have no gaps."""
    return _known(
        {
            "epoch": record.epoch,
            "train/hard": record.train_hard,
            "train/soft": record.train_soft,
            "train/items": len(record.item_ids),
            "train/failures": record.num_failures,
            "train/faults": sum(record.faults.values()),
            "val/candidate_hard": record.candidate_hard,
            "val/candidate_soft": record.candidate_soft,
            "val/candidate_faults": sum(record.candidate_faults.values()),
            "val/current_hard": record.current_hard,
            "val/current_soft": record.current_soft,
            "val/best_hard": record.best_hard,
            "val/best_soft": record.best_soft,
            "val/best_step": record.best_step,
            "val/candidate_at_most": record.candidate_at_most,
            "val/candidate_attempts": record.num_selection,
            "train/screening_attempts": record.num_screening,
            "gate/margin": record.margin,
            "gate/won": record.num_won,
            "gate/lost": record.num_lost,
            "gate/p_value": record.p_value,
            **{f"gate/{outcome}": float(record.outcome is outcome) for outcome in Outcome},
            "edits/budget": record.edit_budget,
            "edits/reflected": record.edits_reflected,
            "edits/merged": record.edits_merged,
            "edits/proposed": record.edits_proposed,
            "edits/applied": record.edits_applied,
            "edits/rejected": sum(record.edits_rejected.values()),
            **{f"edits/rejected/{reason}": record.edits_rejected.get(reason, 0) for reason in Rejection},
            "parse/patches": record.num_patches,
            **{f"parse/{path}": record.parse_paths.get(path, 0) for path in ParsePath},
            "skill/candidate_chars": record.candidate_chars,
        }
    )


def summary_metrics(summary: Summary) -> dict[str, float]:
    """The run's result, with tokens and cost as ``usage/<role>/<stage>/<what>``."""
    interval = summary.test_delta_interval
    return _known(
        {
            "baseline_selection_hard": summary.baseline_selection_hard,
            "best_selection_hard": summary.best_selection_hard,
            "best_step": summary.best_step,
            "baseline_test_hard": summary.baseline_test_hard,
            "test_hard": summary.test_hard,
            "test_delta_hard": summary.test_delta_hard,
            "test_delta_hard_low": None if interval is None else interval.low,
            "test_delta_hard_high": None if interval is None else interval.high,
            "final_test_hard": summary.final_test_hard,
            "num_test_items": summary.num_test_items,
            "total_steps": summary.total_steps,
            "total_accepts": summary.total_accepts,
            "total_rejects": summary.total_rejects,
            "val_attempts_saved": summary.val_attempts_saved,
            **{f"outcomes/{safe_key(outcome)}": count for outcome, count in summary.outcomes.items()},
            **{
                f"usage/{_grouped(key)}/{what}": value
                for key, usage in summary.usage.items()
                for what, value in asdict(usage).items()
            },
        }
    )


def _known(values: dict[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in values.items() if value is not None}


def _grouped(key: str) -> str:
    return "/".join(safe_key(part) for part in key.split("/"))
