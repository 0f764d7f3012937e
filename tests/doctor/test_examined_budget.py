"""A cap that a run would refuse is a problem, with the run's own exit code."""

from skillopt_exp.commands.composing import compose
from skillopt_exp.doctor.budget import examine_budget
from skillopt_exp.doctor.finding import State, worst


def test_a_cap_on_money_without_a_limit_for_replies_is_a_problem() -> None:
    findings = list(examine_budget(compose(["model=deepseek", "budget.usd=2"])))
    assert {finding.state for finding in findings} == {State.problem}
    assert worst(findings) == 5


def test_a_cap_that_can_be_held_is_none() -> None:
    limits = ["model.target.max_tokens=100", "model.optimizer.max_tokens=100"]
    assert list(examine_budget(compose(["model=deepseek", "budget.usd=2", *limits]))) == []
