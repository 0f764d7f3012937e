import pytest

from skillopt_exp.commands.composing import compose
from skillopt_exp.decide import Decision, decide
from skillopt_exp.errors import UsageError
from skillopt_exp.outlook import visible
from skillopt_exp.records import Metric, Split
from skillopt_exp.stages.gate import GateSettings
from skillopt_exp.stats.criterion import Criterion, GateRule


def decided(num_val: int, *overrides: str) -> Decision:
    sizes = {Split.train: 1000, Split.val: num_val, Split.test: 100}
    return decide(compose(["model=simulated", *overrides]), sizes)


def warned(num_val: int, *overrides: str) -> list[str]:
    return [warning for warning in decided(num_val, *overrides).warnings if warning.startswith("gate.")]


def test_a_strict_gate_on_enough_items_says_nothing() -> None:
    assert warned(100) == []


def test_a_significant_gate_says_what_it_can_see_before_the_run() -> None:
    assert warned(100, "gate=significant") == [
        "gate.rule=significant on 100 val items needs 5 items won with none lost (5.0 points); it sees a "
        "true gain of 18.2 points in four of five tries where 50 % of val is solved and answers vary "
        "freely, and smaller ones less often"
    ]


def test_so_does_any_gate_on_few_items() -> None:
    (warning,) = warned(10)
    assert "needs 1 item won with none lost (10.0 points); it sees a true gain of 22.8 points" in warning
    assert len(warned(29)) == 1


def test_a_guard_against_regressions_that_answers_cannot_meet_is_said() -> None:
    (warning,) = warned(200, "gate.no_regression=0")
    assert "it sees a true gain of 49.8 points" in warning, "little less than solving all of them"


def test_the_baseline_makes_it_more_exact_once_it_is_known() -> None:
    settings = GateSettings(Metric.hard, Criterion(GateRule.significant))
    assert "where 90 % of val is solved" in visible(settings, 100, 0.9)
    assert "it sees no true gain" in visible(settings, 20, 0.95)


def test_a_margin_under_one_item_asks_no_more_than_strict() -> None:
    (warning,) = warned(40, "gate=margin")
    assert warning.startswith("gate.margin is 2 points, less than one of 40 val items (2.5 points)")
    assert warned(50, "gate=margin") == []
    assert warned(40, "gate=margin", "gate.metric=soft") == [], "partial credit can be less than an item"


def test_accept_all_is_labelled() -> None:
    (warning,) = warned(100, "gate=accept_all")
    assert "every candidate is accepted, whatever it scores" in warning


def test_a_gate_that_could_accept_nothing_stops_before_the_first_call() -> None:
    with pytest.raises(
        UsageError, match=r"can accept nothing here: at 0\.05.*5 val items.*val has 4; take 5"
    ):
        decided(4, "gate=significant")
    assert warned(5, "gate=significant")


def test_alpha_of_a_run_is_shared_by_its_steps_and_counts_too() -> None:
    unguided = "optimizer.use_slow_update=false"
    shared = decided(100, "gate=significant", "gate.alpha_per=run", unguided)
    assert shared.settings.gate.criterion.alpha == pytest.approx(0.05 / 45), "3 epochs of 15 steps"
    with pytest.raises(UsageError, match=r"at 0\.00111 a comparison it takes 10 val items"):
        decided(9, "gate=significant", "gate.alpha_per=run", unguided)


def test_guidance_that_passes_the_gate_is_one_more_comparison_an_epoch() -> None:
    guided = decided(100, "gate=significant", "gate.alpha_per=run", "optimizer.use_slow_update=true")
    assert guided.settings.gate.criterion.alpha == pytest.approx(0.05 / 47), "at the ends of epochs 2 and 3"
    ungated = decided(
        100, "gate=significant", "gate.alpha_per=run", "optimizer.slow_update_gate_with_selection=false"
    )
    assert ungated.settings.gate.criterion.alpha == pytest.approx(0.05 / 45)


def test_a_level_that_drawn_patterns_cannot_show_is_refused() -> None:
    with pytest.raises(UsageError, match=r"20,000 sign patterns.*gate\.metric=soft.*gate\.metric=hard"):
        decided(100, "gate=significant", "gate.metric=soft", "gate.alpha=0.00001")
    assert warned(100, "gate=significant", "gate.alpha=0.00001"), "counted exactly, on hard scores"


def test_a_run_without_steps_has_no_gate_to_refuse() -> None:
    (warning,) = warned(3, "gate=significant", "train.num_epochs=0")
    assert "needs more items than there are" in warning


def test_the_gate_takes_the_seed_of_the_run() -> None:
    assert decided(100, "train.seed=7").settings.gate.seed == 7
