from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.config.model import PriceConfig
from skillopt_exp.errors import UsageError
from skillopt_exp.llm.price import Rates, Tariff, rates, tariff_at

PRICE = PriceConfig(
    date="2026-10-27",
    input=0.15,
    cached_input=0.003,
    output=0.60,
    peak_hours=[[1, 4], [6, 10]],
    peak_input=0.30,
    peak_cached_input=0.006,
    peak_output=1.20,
)


@pytest.mark.parametrize(
    ("moment", "tariff"),
    [
        ("2026-10-27T00:59:59", Tariff.normal),
        ("2026-10-27T01:00:00", Tariff.peak),
        ("2026-10-27T03:59:59", Tariff.peak),
        ("2026-10-27T04:00:00", Tariff.normal),
        ("2026-10-27T06:00:00", Tariff.peak),
        ("2026-10-27T09:59:59", Tariff.peak),
        ("2026-10-27T10:00:00", Tariff.normal),
        ("2026-10-31T02:00:00", Tariff.normal),  # a Saturday
        ("2026-11-01T02:00:00", Tariff.normal),  # a Sunday
        ("2026-11-02T02:00:00", Tariff.peak),  # a Monday
        ("2026-10-01T02:00:00", Tariff.peak),  # a public holiday in China: not known here
    ],
)
def test_the_hour_of_a_call_decides_its_tariff(moment: str, tariff: Tariff) -> None:
    at = datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()
    assert tariff_at(PRICE, at) is tariff


@given(st.floats(0, 4e9))
def test_without_peak_hours_there_is_one_tariff(at: float) -> None:
    assert tariff_at(PriceConfig(input=1.0), at) is Tariff.normal


def test_a_tariff_has_its_own_prices_and_an_unknown_one_stays_unknown() -> None:
    assert rates(PRICE, Tariff.normal) == Rates(0.15, 0.003, 0.60)
    assert rates(PRICE, Tariff.peak) == Rates(0.30, 0.006, 1.20)
    vague = PriceConfig(input=1.0, output=1.0, peak_hours=[[0, 24]])
    assert rates(vague, Tariff.peak).cost(input_tokens=1, cached_tokens=0, output_tokens=0) is None
    assert rates(vague, Tariff.peak).cost(input_tokens=0, cached_tokens=0, output_tokens=0) == 0.0


def test_a_million_tokens_of_each_kind_cost_their_prices() -> None:
    cost = rates(PRICE, Tariff.peak).cost(
        input_tokens=2_000_000, cached_tokens=1_000_000, output_tokens=1_000_000
    )
    assert cost == pytest.approx(0.30 + 0.006 + 1.20)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"input": -1.0}, "price.input is -1.0"),
        ({"output": float("inf")}, "price.output is inf"),
        ({"peak_hours": [[22, 2]]}, "across midnight"),
        ({"peak_hours": [[1]]}, "two whole hours"),
        ({"peak_hours": [[1, 25]]}, "two whole hours"),
        ({"peak_hours": [[1, 2]], "peak_weekdays": [0]}, "from 1, Monday, to 7"),
        ({"peak_input": 1.0}, "price.peak_hours is empty"),
    ],
)
def test_an_impossible_price_is_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        PriceConfig(**settings)  # type: ignore[arg-type]
    assert said in str(refusal.value)
