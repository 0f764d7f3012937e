"""Whatever a key or a value is, MLflow takes what is made of it."""

from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.tracking.names import KEY_LIMIT, PARAM_LIMIT, cut, safe_key, safe_keys

TRICKY = st.text(st.sampled_from("ab./[]@:- _\n\\é\U0001f600A"), max_size=300) | st.text(max_size=300)


@given(st.lists(TRICKY, max_size=8))
def test_every_key_is_taken_by_mlflow_and_no_two_become_one(texts: list[str]) -> None:
    from mlflow.utils.validation import _validate_metric_name, _validate_param_name, _validate_tag_name

    keys = safe_keys(texts)
    assert keys.keys() == set(texts)
    assert len({key.casefold() for key in keys.values()}) == len(keys)
    for key in keys.values():
        for validate in (_validate_param_name, _validate_metric_name, _validate_tag_name):
            validate(key)
        assert len(key) <= KEY_LIMIT
    assert safe_keys(reversed(texts)) == keys


def test_plain_keys_stay_as_they_are_and_others_stay_readable() -> None:
    assert safe_key("train.batch_size") == "train.batch_size"
    assert safe_key("edits[0]@model/target") == "edits_0__model_target"
    assert safe_keys(["a[0]", "a_0_", "A_0_"]) == {"A_0_": "A_0_", "a[0]": "a_0__2", "a_0_": "a_0__3"}


@given(st.text(), st.integers(20, 60))
def test_a_value_is_cut_only_where_it_is_too_long_and_says_so(text: str, limit: int) -> None:
    shown = cut(text, limit)
    assert len(shown) <= limit
    assert (shown == text) if len(text) <= limit else shown.endswith("[cut]")


def test_a_value_as_long_as_the_limit_is_whole() -> None:
    assert cut("x" * PARAM_LIMIT, PARAM_LIMIT) == "x" * PARAM_LIMIT
