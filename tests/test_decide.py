import pytest

from skillopt_exp.commands.composing import compose
from skillopt_exp.decide import Decision, decide
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Split

SIZES = {Split.train: 1000, Split.val: 100, Split.test: 100}


def decided(*overrides: str) -> Decision:
    return decide(compose(["model=simulated", *overrides]), SIZES)


def test_null_takes_the_rules_value_and_says_so() -> None:
    decision = decided()
    assert (decision.settings.batch_size, decision.settings.learning_rate) == (67, 5)
    assert decision.settings.min_learning_rate == 2
    batch_size = decision.origins[0]
    assert (batch_size.key, batch_size.value) == ("train.batch_size", "67")
    assert batch_size.source == "from rule seed: 500-1999 items in about 15 steps an epoch"
    assert decision.warnings == ()


def test_a_value_of_the_user_always_wins() -> None:
    decision = decided("train.batch_size=80", "optimizer.learning_rate=1")
    assert decision.settings.batch_size == 80
    assert decision.settings.min_learning_rate == 1, "the end of the schedule follows the user's rate"
    assert decision.origins[0].source == "yours; the rule says 67"


def test_a_minimum_above_the_rate_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"min_learning_rate is 6, above the learning rate 5; give at most 5"
    ):
        decided("optimizer.min_learning_rate=6")


def test_a_batch_over_the_train_split_is_refused() -> None:
    with pytest.raises(UsageError, match=r"batch_size is 1001.*1000 items; use 1\.\.1000"):
        decided("train.batch_size=1001")


def test_a_rule_of_ones_own_is_data() -> None:
    decision = decided("rule.bands=[{at_least:0,batch_size:[7,7],learning_rate:[2,2],steps:[1,500]}]")
    assert (decision.settings.batch_size, decision.settings.learning_rate) == (7, 2)
