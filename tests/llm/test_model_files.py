from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from omegaconf import DictConfig, OmegaConf

from skillopt_exp.config.locate import conf_dir
from skillopt_exp.config.model import EndpointConfig, Provider
from skillopt_exp.errors import UsageError
from skillopt_exp.llm.endpoint import locate, normalised
from skillopt_exp.llm.price import Tariff, rates, tariff_at
from skillopt_exp.records import Role

MODEL = conf_dir() / "model"
ROLE_FILES = sorted([*(MODEL / "target").glob("*.yaml"), *(MODEL / "optimizer").glob("*.yaml")])
NAMES = sorted(path.stem for path in MODEL.glob("*.yaml"))
FOLLOW_THE_VARIABLE = {"openai", "openai_compatible"}

each_file = pytest.mark.parametrize("file", ROLE_FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")


def load(file: Path) -> EndpointConfig:
    given = OmegaConf.load(file)
    assert isinstance(given, DictConfig)
    assert given.pop("defaults") == ["base_endpoint", "_self_"]
    merged = OmegaConf.merge(OmegaConf.structured(EndpointConfig), given)
    if OmegaConf.is_missing(merged, "name"):
        merged.name = "some-model"
    config = OmegaConf.to_object(merged)
    assert isinstance(config, EndpointConfig)
    return config


def test_every_preset_sets_both_roles_to_files_that_exist() -> None:
    assert NAMES == ["azure", "deepseek", "ollama", "openai", "openai_compatible", "simulated", "vllm"]
    for name in NAMES:
        preset = OmegaConf.load(MODEL / f"{name}.yaml")
        assert preset == {"defaults": [{"target": name}, {"optimizer": name}, "_self_"]}
        for role in Role:
            assert (MODEL / role / f"{name}.yaml") in ROLE_FILES
    assert len(ROLE_FILES) == 2 * len(NAMES)


@each_file
def test_openai_base_url_moves_the_openai_files_alone(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    before = load(file)
    monkeypatch.setenv("OPENAI_BASE_URL", "https://elsewhere.example/v1")
    after = load(file)
    if file.stem in FOLLOW_THE_VARIABLE:
        assert after.base_url == "https://elsewhere.example/v1"
        assert after.api_key_env == "OPENAI_API_KEY"
    else:
        assert after == before


@each_file
def test_every_file_gives_an_address_that_can_be_used(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    config = load(file)
    if config.api_key_env is not None:
        monkeypatch.setenv(config.api_key_env, "planted")
    role = Role(file.parent.name)
    if file.stem in ("azure", "openai_compatible"):
        with pytest.raises(UsageError, match=r"base_url is null.*OPENAI_BASE_URL"):
            locate(role, config)
    else:
        endpoint = locate(role, config)
        assert config.provider is Provider.simulated or endpoint.base_url == normalised(str(config.base_url))


@each_file
def test_a_price_has_a_date_unless_it_is_free_or_unknown(file: Path) -> None:
    price = load(file).price
    numbers = [number for number in (price.input, price.cached_input, price.output) if number]
    assert bool(numbers) == (price.date is not None)


def test_deepseek_is_the_small_model_for_tasks_and_the_large_one_thinking_hard_for_edits() -> None:
    target, optimizer = (load(MODEL / role / "deepseek.yaml") for role in Role)
    assert (target.name, target.reasoning_effort) == ("deepseek-v4-flash", None)
    assert (optimizer.name, optimizer.reasoning_effort) == ("deepseek-v4-pro", "high")
    assert {target.api_key_env, optimizer.api_key_env} == {"DEEPSEEK_API_KEY"}


@pytest.mark.parametrize("role", Role)
def test_deepseek_costs_twice_as_much_on_weekday_mornings_and_afternoons_in_beijing(role: Role) -> None:
    price = load(MODEL / role / "deepseek.yaml").price
    normal, peak = rates(price, Tariff.normal), rates(price, Tariff.peak)
    for name in ("input", "cached_input", "output"):
        assert getattr(peak, name) == pytest.approx(2 * getattr(normal, name))
    beijing = timezone(timedelta(hours=8))
    for weekday in range(7):
        busy = [
            hour
            for hour in range(24)
            if tariff_at(price, datetime(2026, 11, 2 + weekday, hour, tzinfo=beijing).timestamp())
            is Tariff.peak
        ]
        assert busy == ([9, 10, 11, 14, 15, 16, 17] if weekday < 5 else [])
