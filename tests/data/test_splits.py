"""Rules of splitting that hold for all sizes, ratios and seeds."""

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from skillopt_exp.data.splits import apportion, deal_answers, partition, sample
from skillopt_exp.records import Item

untimed = settings(deadline=None)  # a busy machine is no fault

seeds = st.integers(min_value=0, max_value=2**32)
parts = st.one_of(st.integers(1, 9).map(float), st.sampled_from([0.1, 0.2, 0.7, 0.05, 2.5]))
ratios = st.lists(parts, min_size=3, max_size=3)


@untimed
@given(total=st.integers(3, 5000), ratio=ratios)
def test_sizes_add_up_and_are_within_one_of_the_exact_share(total, ratio):
    sizes = apportion(total, ratio)
    assert sum(sizes) == total
    assert min(sizes) >= 1
    weights = [Fraction(str(part)) for part in ratio]
    exact = [total * weight / sum(weights) for weight in weights]
    if min(exact) >= 1:
        assert all(abs(size - share) < 1 for size, share in zip(sizes, exact, strict=True))


def test_worked_sizes():
    assert apportion(3, (2, 1, 7)) == (1, 1, 1)
    assert apportion(10, (2, 1, 7)) == (2, 1, 7)
    assert apportion(1200, (2, 1, 7)) == (240, 120, 840)
    assert apportion(999, (4, 3, 3)) == (399, 300, 300)
    assert apportion(10, (0.1, 0.2, 0.7)) == (1, 2, 7)


@untimed
@given(total=st.integers(3, 300), ratio=ratios, seed=seeds)
def test_a_partition_is_disjoint_and_covers_everything(total, ratio, seed):
    sizes = apportion(total, ratio)
    split = partition(range(total), sizes, seed=seed)
    assert tuple(map(len, split)) == sizes
    assert sorted(index for part in split for index in part) == list(range(total))


@untimed
@given(total=st.integers(3, 200), seed=seeds, labels=st.randoms(use_true_random=False))
def test_where_an_item_goes_depends_on_its_place_and_not_on_what_it_says(total, seed, labels):
    sizes = apportion(total, (2, 1, 7))
    texts = [str(labels.random()) for _ in range(total)]
    by_place = partition(range(total), sizes, seed=seed)
    assert partition(texts, sizes, seed=seed) == tuple(tuple(texts[i] for i in part) for part in by_place)


def test_another_seed_splits_otherwise():
    assert partition(range(50), (20, 15, 15), seed=1) != partition(range(50), (20, 15, 15), seed=2)


def test_the_split_of_a_seed_is_the_same_everywhere():
    assert partition(range(10), (4, 3, 3), seed=42) == ((9, 3, 6, 8), (4, 5, 2), (0, 1, 7))


@untimed
@given(total=st.integers(0, 200), limit=st.integers(3, 300), seed=seeds)
def test_a_sample_has_its_size_and_keeps_the_order(total, limit, seed):
    picked = sample(range(total), limit=limit, seed=seed)
    assert len(picked) == min(total, limit)
    assert list(picked) == sorted(set(picked))


@untimed
@given(size=st.integers(1, 100), seed=seeds)
def test_dealing_gives_everyone_the_answers_of_another(size, seed):
    items = tuple(Item(str(index), f"q{index}", (f"a{index}",), "c") for index in range(size))
    dealt = deal_answers(items, seed=seed, split="train")
    assert [(each.id, each.question, each.context) for each in dealt] == [
        (each.id, each.question, each.context) for each in items
    ]
    assert sorted(each.answers for each in dealt) == sorted(each.answers for each in items)
    if size > 1:
        assert all(new.answers != old.answers for new, old in zip(dealt, items, strict=True))
