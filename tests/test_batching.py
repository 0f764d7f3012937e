from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.batching import batches, permutation, sample
from skillopt_exp.records import Item
from skillopt_exp.rules import steps_per_epoch


def make_items(count: int) -> tuple[Item, ...]:
    return tuple(Item(id=str(i), question=f"q{i}", answers=("a",)) for i in range(count))


@given(st.integers(1, 60), st.integers(1, 70), st.integers(0, 3), st.integers(), st.integers(1, 5))
def test_each_epoch_covers_the_train_split_once(
    n: int, size: int, epochs: int, seed: int, accumulation: int
) -> None:
    items = make_items(n)
    plan = list(batches(items, batch_size=size, num_epochs=epochs, seed=seed, accumulation=accumulation))
    assert [batch.step for batch in plan] == list(range(1, len(plan) + 1))
    assert len(plan) == epochs * steps_per_epoch(n, size * accumulation)
    assert all(len(part) <= size for batch in plan for part in batch.parts)
    assert all(len(batch.parts) <= accumulation for batch in plan)
    for epoch in range(1, epochs + 1):
        of_epoch = [batch for batch in plan if batch.epoch == epoch]
        seen = [item for batch in of_epoch for item in batch.items]
        assert sorted(seen, key=lambda item: int(item.id)) == list(items)
        assert [batch.last_of_epoch for batch in of_epoch] == [False] * (len(of_epoch) - 1) + [True]


def test_the_order_depends_on_seed_and_epoch_alone() -> None:
    items = make_items(50)
    first = permutation(items, seed=1, epoch=1)
    assert first == permutation(items, seed=1, epoch=1)
    assert first != permutation(items, seed=1, epoch=2)
    assert first != permutation(items, seed=2, epoch=1)


def test_the_order_is_the_same_on_every_machine() -> None:
    assert [item.id for item in permutation(make_items(8), seed=42, epoch=1)] == list("17052346")


@given(st.integers(0, 30), st.integers(1, 40), st.integers(), st.integers(2, 4))
def test_an_epoch_looks_back_on_distinct_items_that_seed_and_epoch_choose(
    n: int, size: int, seed: int, epoch: int
) -> None:
    items = make_items(n)
    chosen = sample(items, size, seed=seed, epoch=epoch)
    assert len({item.id for item in chosen}) == len(chosen) == min(n, size)
    assert chosen == sample(items, size, seed=seed, epoch=epoch)
