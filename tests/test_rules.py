from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp import rules
from skillopt_exp.commands.rule import load_table
from skillopt_exp.records import Role, Split

TABLE = load_table("seed")

WORKED = {
    1: (1, 3),
    40: (4, 3),
    99: (10, 3),
    100: (10, 4),
    199: (20, 4),
    200: (20, 4),
    350: (28, 5),
    499: (40, 5),
    500: (50, 5),
    1000: (67, 5),
    1999: (100, 6),
    2000: (133, 6),
    5000: (200, 7),
    10000: (200, 8),
    50000: (200, 8),
}


@pytest.mark.parametrize(("num_train", "expected"), WORKED.items())
def test_the_worked_values_hold(num_train: int, expected: tuple[int, int]) -> None:
    derived = rules.derive(TABLE, num_train)
    assert (derived.batch_size, derived.learning_rate) == expected


@given(st.integers(1, 200_000))
def test_the_batch_size_lies_in_its_band_and_never_over_the_train_split(num_train: int) -> None:
    derived = rules.derive(TABLE, num_train)
    band, _ = TABLE.row(num_train)
    assert 1 <= derived.batch_size <= num_train
    if band.batch_size is not None:
        low, high = band.batch_size
        assert low <= derived.batch_size <= high


@given(st.integers(1, 200_000), st.integers(0, 5_000))
def test_the_learning_rate_never_falls_with_the_size(num_train: int, more: int) -> None:
    smaller, larger = rules.derive(TABLE, num_train), rules.derive(TABLE, num_train + more)
    assert smaller.learning_rate <= larger.learning_rate


@given(st.integers(1, 200_000))
def test_the_schedule_never_ends_above_where_it_starts(num_train: int) -> None:
    rate = rules.derive(TABLE, num_train).learning_rate
    assert 1 <= rules.default_min_learning_rate(rate) <= rate


@pytest.mark.parametrize(
    ("num_train", "reason"),
    [
        (240, "rule seed: 200-499 items, at least 20"),
        (1999, "rule seed: 500-1999 items, at most 100"),
        (199, "rule seed: a tenth of the train split under 200 items"),
    ],
)
def test_a_bound_of_the_row_is_named_where_it_decides(num_train: int, reason: str) -> None:
    assert rules.derive(TABLE, num_train).batch_size_reason == reason


def test_an_empty_train_split_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        rules.derive(TABLE, 0)


def test_a_derived_value_says_where_it_comes_from() -> None:
    derived = rules.derive(TABLE, 1000)
    assert derived.batch_size_reason == "rule seed: 500-1999 items in about 15 steps an epoch"
    assert derived.learning_rate_reason == "rule seed: 5 to 6 edits a step for 500-1999 items"


@pytest.mark.parametrize(("num_items", "ratio", "cap"), [(999, (4, 3, 3), None), (1000, (2, 1, 7), 1000)])
def test_small_sources_give_val_and_test_a_larger_share(
    num_items: int, ratio: tuple[int, int, int], cap: int | None
) -> None:
    assert rules.default_split(num_items) == rules.DefaultSplit(ratio, cap)


def test_small_splits_are_warned_about_with_what_one_item_is_worth() -> None:
    few, gate, test = rules.size_warnings({Split.train: 199, Split.val: 29, Split.test: 5})
    assert "199 items, under 200" in few
    assert "one item is 3.4 points" in gate
    assert "one item is 20.0 points" in test
    assert rules.size_warnings({Split.train: 200, Split.val: 30, Split.test: 20}) == ()


def test_only_the_users_own_batch_size_is_warned_about() -> None:
    derived = rules.derive(TABLE, 40)  # ten steps an epoch: inside its band
    assert rules.choice_warnings(derived, steps=10, batch_size=4, num_epochs=3) == ()
    (warning,) = rules.choice_warnings(derived, steps=1, batch_size=40, num_epochs=3)
    assert "1 steps an epoch" in warning
    (epochs,) = rules.choice_warnings(derived, steps=10, batch_size=4, num_epochs=5)
    assert "gains flatten" in epochs


def test_a_retired_model_name_is_warned_about() -> None:
    (warning,) = rules.model_warnings({Role.target: "deepseek-chat", Role.optimizer: "deepseek-v4-pro"})
    assert "'deepseek-chat' (target)" in warning


def test_every_rule_file_is_a_table() -> None:
    folder = Path(__file__).parents[1] / "conf" / "rule"
    for path in folder.glob("*.yaml"):
        assert load_table(path.stem).bands
