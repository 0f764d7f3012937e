from pathlib import Path

import httpx2
import pytest
from llm.connecting import KEY
from llm.misbehaving import MisbehavingServer, says

from skillopt_exp.config.model import EndpointConfig, ModelConfig, Provider
from skillopt_exp.llm import connect
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.replay import RecordingTransport, ReplayTransport
from skillopt_exp.records import Message


class Redirected(httpx2.AsyncHTTPTransport):
    """Carries requests for the simulation to a real server."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self._url = url

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        moved = httpx2.Request("POST", f"{self._url}/chat/completions", content=await request.aread())
        return await super().handle_async_request(moved)


async def ask(transport: httpx2.AsyncBaseTransport, *questions: str) -> list[str]:
    simulated = EndpointConfig(provider=Provider.simulated, name="m", max_retries=0)
    async with connect(ModelConfig(target=simulated, optimizer=simulated), transport=transport) as models:
        return [
            (await models.target.ask([Message("user", question)], stage=Stage.rollout)).content
            for question in questions
        ]


async def test_a_recording_answers_as_the_server_did_and_nothing_else(
    server: MisbehavingServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "recorded.jsonl"
    server.answers = [says("one"), says("zwei \u2014 \u4e8c"), says("again")]
    recording = RecordingTransport(Redirected(server.url), file)
    asked = await ask(recording, "a", "b", "a")
    await recording.aclose()
    assert asked == ["one", "zwei \u2014 \u4e8c", "again"]
    assert await ask(ReplayTransport(file), "b", "a", "a", "a") == [
        "zwei \u2014 \u4e8c",
        "one",
        "again",
        "again",
    ]
    with pytest.raises(LookupError, match="never recorded"):
        await ask(ReplayTransport(file), "c")
    assert KEY not in file.read_text(encoding="utf-8")
    assert "uthorization" not in file.read_text(encoding="utf-8")
