import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.schedule import Scheduler, edit_budget


@pytest.mark.parametrize(
    ("scheduler", "budgets"),
    [
        (Scheduler.constant, [6, 6, 6, 6]),
        (Scheduler.linear, [5, 4, 3, 2]),
        (Scheduler.cosine, [5, 4, 3, 2]),  # 5.41, 4, 2.59, 2
    ],
)
def test_four_steps_from_six_to_two(scheduler: Scheduler, budgets: list[int]) -> None:
    assert [edit_budget(t, 4, scheduler=scheduler, first=6, last=2) for t in (1, 2, 3, 4)] == budgets


@pytest.mark.parametrize("scheduler", Scheduler)
def test_a_run_of_one_step_keeps_the_full_rate(scheduler: Scheduler) -> None:
    assert edit_budget(1, 1, scheduler=scheduler, first=8, last=2) == 8


rates = st.integers(1, 50).flatmap(lambda last: st.tuples(st.integers(last, 60), st.just(last)))


@given(st.sampled_from(Scheduler), rates, st.integers(2, 300))
def test_budgets_fall_from_the_rate_to_the_minimum(
    scheduler: Scheduler, rates: tuple[int, int], total: int
) -> None:
    first, last = rates
    budgets = [
        edit_budget(t, total, scheduler=scheduler, first=first, last=last) for t in range(1, total + 1)
    ]
    assert all(last <= budget <= first for budget in budgets)
    assert budgets == sorted(budgets, reverse=True)
    assert budgets[-1] == (first if scheduler is Scheduler.constant else last)


@given(rates, st.integers(2, 300), st.data())
def test_cosine_is_its_closed_form(rates: tuple[int, int], total: int, data: st.DataObject) -> None:
    first, last = rates
    step = data.draw(st.integers(1, total))
    exact = last + (first - last) * (1 + math.cos(math.pi * step / total)) / 2
    assert edit_budget(step, total, scheduler=Scheduler.cosine, first=first, last=last) == max(
        last, round(exact)
    )


@pytest.mark.parametrize("step", [0, 5])
def test_a_step_outside_the_run_is_refused(step: int) -> None:
    with pytest.raises(ValueError, match=r"1\.\.4"):
        edit_budget(step, 4, scheduler=Scheduler.cosine, first=4, last=2)
