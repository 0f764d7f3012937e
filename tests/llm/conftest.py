from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from llm.connecting import KEY, OPTIMIZER_KEY, Connected, Sleeps
from llm.misbehaving import MisbehavingServer

from skillopt_exp.config.model import EndpointConfig, ModelConfig
from skillopt_exp.llm import Models, connect
from skillopt_exp.llm.connect import Accounts


@pytest.fixture
def sleeps() -> Sleeps:
    return Sleeps()


@pytest.fixture
def server() -> Iterator[MisbehavingServer]:
    server = MisbehavingServer()
    yield server
    server.close()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TARGET_KEY", KEY)
    monkeypatch.setenv("OPTIMIZER_KEY", OPTIMIZER_KEY)


@pytest.fixture
def connected(server: MisbehavingServer, keys: None, sleeps: Sleeps) -> Connected:
    """Both roles at the misbehaving server; ``settings`` are the target's, ``run`` are of ``connect``
    and its accounts."""

    @asynccontextmanager
    async def open_both(
        run: Mapping[str, Any] | None = None, max_error_rate: float = 0.1, **settings: Any
    ) -> AsyncIterator[Models]:
        target = {"name": "small", "base_url": server.url, "api_key_env": "TARGET_KEY", **settings}
        config = ModelConfig(
            target=EndpointConfig(**target),
            optimizer=EndpointConfig(name="large", base_url=server.url, api_key_env="OPTIMIZER_KEY"),
            max_error_rate=max_error_rate,
        )
        given = {"clock": sleeps.clock(), **(run or {})}
        kept = {name: given.pop(name) for name in ("answers", "ledger", "budget") if name in given}
        async with connect(config, accounts=Accounts(**kept), **given) as models:
            yield models

    return open_both
