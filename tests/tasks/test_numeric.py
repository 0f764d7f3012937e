"""Numbers as people and models write them."""

from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skillopt_exp.tasks.numeric import miss, numbers, same_number, sole_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", "42"),
        ("42.", "42"),
        ("**42**", "42"),
        ("$42$", "42"),
        (r"\boxed{42}", "42"),
        ("1,450,000", "1450000"),
        ("1 450 000", "1450000"),
        ("1\u202f450\u00a0000", "1450000"),
        ("1'450'000", "1450000"),
        ("1_450_000", "1450000"),
        ("12,34,567", "1234567"),
        ("1.234,56", "1234.56"),
        ("3,5", "3.5"),
        ("3,50 €", "3.50"),
        (".5", "0.5"),
        ("-10", "-10"),
        ("\u221210", "-10"),
        ("\u201310", "-10"),
        ("x=-5", "-5"),
        ("+7", "7"),
        ("-$1,250.50", "-1250.50"),
        ("$-3", "-3"),
        ("US$500", "500"),
        ("USD500", "500"),
        ("50%", "50"),
        ("5 km", "5"),
        ("5kg", "5"),
        ("3rd", "3"),
        ("60 km/h", "60"),
        ("25 m²", "25"),
        ("5 km^2", "5"),
        ("3/4", "0.75"),
        ("-3/4", "-0.75"),
        ("1 3/4", "1.75"),
        ("¾", "0.75"),
        ("1½", "1.5"),
        (r"\frac{3}{4}", "0.75"),
        ("5e3", "5000"),
        ("5E-3", "0.005"),
        ("2.5 × 10³", "2500"),
        (r"2.5 \times 10^{3}", "2500"),
        ("8 x 10^-3", "0.008"),
        ("10^3", "1000"),
        ("10⁻³", "0.001"),
        ("2.5 million", "2500000"),
        ("５０", "50"),
        ("共5个", "5"),
    ],
)
def test_one_number_is_read_whatever_its_dress(text: str, value: str):
    number = sole_number(text)
    assert number is not None
    assert number.value == Decimal(value)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("3 + 4 = 7", ["3", "4", "7"]),
        ("10-5", ["10", "5"]),
        ("5\u201310", ["5", "10"]),
        ("1,2,3", ["1", "2", "3"]),
        ("12/25/1937", ["12", "25", "1937"]),
        ("10:30", ["10", "30"]),
        ("3.5.2", ["3.5", "2"]),
        ("He paid $5 for 3 apples.", ["5", "3"]),
        ("GPT-4", ["4"]),
        ("CO2", []),
        ("twelve", []),
        ("NaN", []),
        ("inf", []),
        ("1/0", []),
        ("1e99999999999999999999", []),
        ("", []),
    ],
)
def test_every_number_of_a_text_is_found_and_nothing_else(text: str, values: list[str]):
    assert [number.value for number in numbers(text)] == [Decimal(value) for value in values]


@pytest.mark.parametrize("text", ["", "Oslo", "10:30", "between 5 and 7"])
def test_a_text_without_one_number_has_no_sole_number(text: str):
    assert sole_number(text) is None


def test_whole_numbers_must_be_equal_and_others_nearly_so():
    assert same_number(Decimal("42.00"), Decimal(42))
    assert same_number(Decimal("0.33333333333"), Decimal(1) / 3)
    assert not same_number(Decimal("0.333"), Decimal(1) / 3)
    assert not same_number(Decimal(f"{10**30}"), Decimal(f"{10**30 + 1}"))
    assert not same_number(Decimal(0), Decimal("1e-30"))
    assert same_number(Decimal(0), Decimal("-0"))


def test_a_number_longer_than_any_precision_stays_exact():
    long = "1" * 100
    found = sole_number(long)
    assert found is not None
    assert str(found.value) == long


@pytest.mark.parametrize(
    ("wanted", "said", "words"),
    [
        ("18", "20", "too high by 2"),
        ("18", "0", "too low by 18"),
        ("18", "-18", "the sign is wrong"),
        ("0.18", "18", "too large by a factor of 100"),
        ("18", "0.018", "too small by a factor of 1000"),
        ("3.14", "3.14159", "equal when rounded to the decimals expected"),
        ("18", "18 of 20", "the expected number is there, but the last number is what counts"),
        ("0", "5", "too high by 5"),
    ],
)
def test_a_miss_is_told_in_words(wanted: str, said: str, words: str):
    assert miss(numbers(wanted)[0], numbers(said)) == words


@given(st.integers(-(10**40), 10**40))
def test_every_integer_is_read_back_also_with_separators(value: int):
    for text in (str(value), f"{value:,}", f"It is {value}."):
        number = sole_number(text)
        assert number is not None
        assert number.value == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**9), max_value=10**9))
def test_every_decimal_is_read_back(value: Decimal):
    number = sole_number(f"{value:,f}")
    assert number is not None
    assert number.value == value


@given(st.text(st.one_of(st.characters(), st.sampled_from("0123456789.,/-+eE^×x*$% ½³")), max_size=60))
@example("1e999999999")
@example("9" * 5000)
@example("1/" * 500)
@settings(deadline=None)
def test_any_text_yields_finite_numbers_only(text: str):
    found = numbers(text)
    assert all(number.value.is_finite() for number in found)
    if len(found) > 1:
        assert miss(found[0], found[1:])
