"""The records of a run as metrics: name to number. A value that is not known has no metric."""

from collections.abc import Mapping
from dataclasses import asdict

from skillopt_exp.records import (
    ACall,
    Gain,
    GroupResult,
    Interval,
    Metric,
    Outcome,
    ParsePath,
    Rejection,
    Role,
    ScoredSkill,
    Standing,
    StepRecord,
    Summary,
)
from skillopt_exp.tracking.names import safe_key, safe_keys

MOST_GROUPS = 50
"""Groups that have metrics: some databases are slow with thousands of names."""


def baseline_metrics(seed: ScoredSkill) -> dict[str, float]:
    """Step 0: the seed is the current and the best skill."""
    hard, soft = seed.mean(Metric.hard), seed.mean(Metric.soft)
    return known(
        {
            "val/current_hard": hard,
            "val/current_soft": soft,
            "val/best_hard": hard,
            "val/best_soft": soft,
        }
    )


def step_metrics(record: StepRecord) -> dict[str, float]:
    """One step. Every reason and every way of parsing is there, at 0 if need be: series have no gaps."""
    return known(
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
            "notes/proposed": record.notes_proposed,
            "notes/added": record.notes_added,
            "notes/rejected": sum(record.notes_rejected.values()),
            "parse/patches": record.num_patches,
            **{f"parse/{path}": record.parse_paths.get(path, 0) for path in ParsePath},
            "skill/candidate_chars": record.candidate_chars,
        }
    )


def summary_metrics(summary: Summary) -> dict[str, float]:
    """The run's result, with tokens and cost as ``usage/<role>/<stage>/<what>``, and
    failed requests as ``failed_requests/<role>/<status>``, ``all`` of them in any case."""
    return known(
        {
            "baseline_selection_hard": summary.baseline_selection_hard,
            "best_selection_hard": summary.best_selection_hard,
            "best_step": summary.best_step,
            "baseline_test_hard": summary.baseline_test_hard,
            "test_hard": summary.test_hard,
            "test_delta_hard": summary.test_delta_hard,
            **ends("test_delta_hard", summary.test_delta_interval),
            "final_test_hard": summary.final_test_hard,
            "control_test_hard": summary.control_test_hard,
            **ends("baseline_test_hard", summary.baseline_test_hard_interval),
            **ends("test_hard", summary.test_hard_interval),
            **ends("final_test_hard", summary.final_test_hard_interval),
            **ends("control_test_hard", summary.control_test_hard_interval),
            **{
                name: value
                for gain in summary.test_gains
                for name, value in gain_metrics(f"test/{gain.first}_minus_{gain.second}", gain).items()
            },
            **group_metrics("test", summary.test_by_group),
            **{
                name: value
                for which, a_call in summary.test_a_call.items()
                for name, value in a_call_metrics(f"test/{which}", a_call).items()
            },
            "num_test_items": summary.num_test_items,
            "total_steps": summary.total_steps,
            "total_accepts": summary.total_accepts,
            "total_rejects": summary.total_rejects,
            "val_attempts_not_needed": summary.val_attempts_not_needed,
            **{f"outcomes/{safe_key(outcome)}": count for outcome, count in summary.outcomes.items()},
            **{
                f"usage/{_grouped(key)}/{what}": value
                for key, usage in summary.usage.items()
                for what, value in asdict(usage).items()
            },
            **{
                f"failed_requests/{role}/{safe_key(status)}": count
                for role in Role
                for status, count in _with_all(summary.failed_requests.get(role, {})).items()
            },
        }
    )


def standing_metrics(prefix: str, standing: Standing) -> dict[str, float | None]:
    """How one skill did, under names that begin with ``prefix``."""
    return {
        f"{prefix}_hard": standing.hard,
        f"{prefix}_soft": standing.soft,
        f"{prefix}_faults": standing.num_faults,
        **ends(f"{prefix}_hard", standing.hard_interval),
        **ends(f"{prefix}_soft", standing.soft_interval),
    }


def gain_metrics(prefix: str, gain: Gain) -> dict[str, float | None]:
    """How two skills differ."""
    return {
        f"{prefix}_hard": gain.hard,
        f"{prefix}_hard_p": gain.hard_p,
        f"{prefix}_soft": gain.soft,
        f"{prefix}_won": gain.num_won,
        f"{prefix}_lost": gain.num_lost,
        **ends(f"{prefix}_hard", gain.hard_interval),
        **ends(f"{prefix}_soft", gain.soft_interval),
    }


def a_call_metrics(prefix: str, a_call: ACall) -> dict[str, float | None]:
    """What one call took."""
    return {
        f"{prefix}_input_tokens_a_call": a_call.input,
        f"{prefix}_output_tokens_a_call": a_call.output,
        f"{prefix}_seconds_a_call": a_call.seconds,
    }


def group_metrics(prefix: str, groups: Mapping[str, GroupResult]) -> dict[str, float | None]:
    """The largest groups, as ``<prefix>/group/<group>/...``; all of them stand in the summary."""
    chosen = sorted(groups, key=lambda name: (-groups[name].num_items, name))[:MOST_GROUPS]
    values: dict[str, float | None] = {}
    for name, key in safe_keys(chosen).items():
        group, place = groups[name], f"{prefix}/group/{key}"
        values[f"{place}/items"] = group.num_items
        for which, standing in group.standings.items():
            values[f"{place}/{which}_hard"] = standing.hard
            values[f"{place}/{which}_soft"] = standing.soft
        if group.gain is not None:
            values[f"{place}/difference_hard"] = group.gain.hard
            values |= ends(f"{place}/difference_hard", group.gain.hard_interval)
    return values


def ends(name: str, interval: Interval | None) -> dict[str, float | None]:
    """The ends of an interval."""
    return {} if interval is None else {f"{name}_low": interval.low, f"{name}_high": interval.high}


def known(values: Mapping[str, float | None]) -> dict[str, float]:
    """Those that are."""
    return {name: value for name, value in values.items() if value is not None}


def _with_all(counts: Mapping[str, int]) -> dict[str, int]:
    return {"all": sum(counts.values()), **counts}


def _grouped(key: str) -> str:
    return "/".join(safe_key(part) for part in key.split("/"))
