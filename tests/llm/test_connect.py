import subprocess
import sys

import pytest

from skillopt_exp.config.model import EndpointConfig, ModelConfig, Provider
from skillopt_exp.errors import UsageError
from skillopt_exp.llm import connect, missing_keys

DEEP = EndpointConfig(name="flash", base_url="https://api.deepseek.com", api_key_env="DEEPSEEK_API_KEY")
PRO = EndpointConfig(name="pro", base_url="https://api.deepseek.com", api_key_env="DEEPSEEK_API_KEY")
LOCAL = EndpointConfig(name="local", base_url="http://localhost:11434/v1")
SIMULATED = EndpointConfig(name="sim", provider=Provider.simulated, api_key_env="DEEPSEEK_API_KEY")


def test_a_missing_key_is_named_once_with_the_ways_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    [problem] = missing_keys(ModelConfig(target=DEEP, optimizer=PRO))
    for part in (
        "export DEEPSEEK_API_KEY=",
        "model=simulated",
        "model.target",
        "model.optimizer",
        "flash",
        "pro",
    ):
        assert part in problem
    [problem] = missing_keys(ModelConfig(target=LOCAL, optimizer=PRO))
    assert "model.target" not in problem
    assert missing_keys(ModelConfig(target=LOCAL, optimizer=SIMULATED)) == ()
    monkeypatch.setenv("DEEPSEEK_API_KEY", "planted")
    assert missing_keys(ModelConfig(target=DEEP, optimizer=PRO)) == ()


async def test_connecting_without_a_key_fails_before_any_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    with pytest.raises(UsageError, match="DEEPSEEK_API_KEY"):
        async with connect(ModelConfig(target=LOCAL, optimizer=PRO)):
            pytest.fail("connected")


async def test_a_simulated_role_needs_its_transport() -> None:
    with pytest.raises(ValueError, match="no transport"):
        async with connect(ModelConfig(target=LOCAL, optimizer=SIMULATED)):
            pytest.fail("connected")


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = (
        "import sys, skillopt_exp.llm, skillopt_exp.llm.json_reply\n"
        "heavy = {'openai', 'httpx2', 'pydantic', 'hydra', 'omegaconf', 'json_repair'} & sys.modules.keys()\n"
        "sys.exit(f'imported: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
