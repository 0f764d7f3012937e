from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.config.model import PriceConfig
from skillopt_exp.errors import UsageError
from skillopt_exp.llm.price import Rates, Tariff, all_rates, overstated, rates, tariff_at
from skillopt_exp.records import Role

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
    assert rates(vague, Tariff.peak).cost(fresh=1, cached=0, output=0) is None
    assert rates(vague, Tariff.peak).cost(fresh=0, cached=0, output=0) == 0.0


def test_a_million_tokens_of_each_kind_cost_their_prices() -> None:
    cost = rates(PRICE, Tariff.peak).cost(fresh=1_000_000, cached=1_000_000, output=1_000_000)
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
        ({"date": "foo"}, "price.date is 'foo'; give a day as 2026-12-01, or null"),
        ({"date": "20261027"}, "price.date is '20261027'"),
        ({"date": "2026-02-30"}, "price.date is '2026-02-30'"),
    ],
)
def test_an_impossible_price_is_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as refusal:
        PriceConfig(**settings)  # type: ignore[arg-type]
    assert said in str(refusal.value)


def test_cached_input_without_a_price_is_billed_as_input_at_each_hour() -> None:
    price = PriceConfig(input=1.0, output=2.0, peak_hours=[[1, 4]], peak_input=3.0, peak_output=4.0)
    assert list(all_rates(price)) == [Rates(1.0, 1.0, 2.0), Rates(3.0, 3.0, 4.0)]
    assert rates(PriceConfig(output=1.0), Tariff.normal).cached_input is None
    assert rates(PriceConfig(input=1.0, cached_input=0.0), Tariff.normal).cached_input == 0.0


def test_what_is_free_costs_nothing_however_much_there_is_of_it() -> None:
    free = Rates(0.0, 0.0, 1.0)
    assert free.cost(fresh=None, cached=None, output=0) == 0.0
    assert free.cost(fresh=None, cached=None, output=None) is None


def test_an_overstated_cost_is_said_once_a_role() -> None:
    busy = PriceConfig(input=1.0, output=1.0, peak_hours=[[1, 2]], peak_input=2.0, peak_output=2.0)
    said = overstated({Role.target: busy, Role.optimizer: PriceConfig(input=1.0, output=1.0)})
    assert len(said) == 2
    assert said[0].startswith(
        "model.target.price.cached_input and model.target.price.peak_cached_input are not given"
    )
    assert said[1].startswith("model.optimizer.price.cached_input is not given")
    for fair in (PRICE, PriceConfig(), PriceConfig(input=0.0, output=0.0), PriceConfig(output=1.0)):
        assert overstated({Role.target: fair}) == ()
