"""What a gate will be able to see, said before anything is asked. Pure."""

from skillopt_exp import rules
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Metric
from skillopt_exp.stages.gate import GateSettings, can_end_early
from skillopt_exp.stats.criterion import GateRule
from skillopt_exp.stats.paired import MOST_ENUMERATED, NUM_FLIPS
from skillopt_exp.stats.power import Answers, smallest_gain, wins_needed

UNKNOWN_BASELINE = 0.5
"""Assumed until the seed skill has been scored: answers vary most where half of them are right."""


def refuse_hopeless(settings: GateSettings, num_val: int) -> None:
    """Stop before the first call where no candidate whatever could be accepted.

    Raises:
        UsageError: too few val items, or too few sign patterns, for the level that is asked for.
    """
    criterion = settings.criterion
    if criterion.rule is not GateRule.significant:
        return
    at = f"gate.rule=significant can accept nothing here: at {criterion.alpha:.3g} a comparison"
    instead = "a larger gate.alpha, gate.alpha_per=comparison, or gate=strict"
    if wins_needed(criterion, num_val) is None:
        fewest = next(size for size in range(num_val, 2000) if wins_needed(criterion, size) is not None)
        raise UsageError(
            f"{at} it takes {fewest} val items won with none lost, and val has {num_val}; "
            f"take {fewest} val items or more, {instead}"
        )
    if (
        settings.metric is not Metric.hard
        and num_val > MOST_ENUMERATED
        and criterion.alpha * (NUM_FLIPS + 1) < 1
    ):
        raise UsageError(
            f"{at} is less than the {NUM_FLIPS:,} sign patterns drawn for gate.metric={settings.metric} "
            f"can show; take gate.metric=hard, {instead}"
        )


def gate_warnings(
    settings: GateSettings, num_val: int, *, repeats: int = 1, block: int | None = None
) -> tuple[str, ...]:
    """What to know of this gate on ``num_val`` items, where there is something to be warned of.

    ``repeats`` are the attempts at each; ``block`` is None where no evaluation is to end early.
    """
    criterion = settings.criterion
    if criterion.rule is GateRule.accept_all:
        return (f"gate.rule=accept_all: {settings}",)
    warnings = []
    if (
        criterion.rule is GateRule.margin
        and settings.metric is Metric.hard
        and criterion.margin * num_val * repeats < 1
    ):
        of = f"{num_val} val items" if repeats == 1 else f"{num_val * repeats} attempts at val items"
        warnings.append(
            f"gate.margin is {100 * criterion.margin:g} points, less than one of {of} "
            f"({100 / num_val / repeats:.1f} points): it asks no more than gate=strict"
        )
    if block is not None and not can_end_early(settings, repeats):
        warnings.append(
            "gate.early_stop=exact ends no evaluation early here: what a further item does to this test of "
            "unequal differences has no bound; every val item is asked"
        )
    asks_much = criterion.rule is GateRule.significant or criterion.no_regression is not None
    if asks_much or num_val < rules.FEW_VAL_ITEMS:
        warnings.append(visible(settings, num_val))
    return tuple(warnings)


def visible(settings: GateSettings, num_val: int, baseline: float | None = None) -> str:
    """The items that have to be won, and the smallest gain that the gate can see, in words.

    Both are counted on solved items. ``baseline`` is the share of val that the current skill solves;
    None is not known yet.
    """
    if settings.criterion.rule is GateRule.accept_all:
        return str(settings)
    share = UNKNOWN_BASELINE if baseline is None else baseline
    gain = smallest_gain(settings.criterion, num_val, Answers(share))
    sees = "it sees no true gain" if gain is None else f"it sees a true gain of {100 * gain:.1f} points"
    return (
        f"gate.rule={settings.criterion.rule} on {num_val} val items needs {_needed(settings, num_val)}; "
        f"{sees} in four of five tries where {100 * share:.0f} % of val is solved and answers vary freely, "
        "and smaller ones less often"
    )


def _needed(settings: GateSettings, num_val: int) -> str:
    wins = wins_needed(settings.criterion, num_val)
    if wins is None:
        return "more items than there are"
    return f"{wins} item{'' if wins == 1 else 's'} won with none lost ({100 * wins / num_val:.1f} points)"
