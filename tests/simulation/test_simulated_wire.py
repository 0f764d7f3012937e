"""The wire format of the simulated models: in process, over HTTP, and in a fresh process."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
import uvicorn
from simulation.simulated_items import GOOD_SKILL, quiz_items

from skillopt_exp.simulation import OPTIMIZER, TARGET, app, revision, simulation, transport

ITEMS = quiz_items(40)


def in_process() -> openai.AsyncOpenAI:
    client = httpx2.AsyncClient(transport=transport(ITEMS))
    return openai.AsyncOpenAI(
        base_url="http://simulation/v1", api_key="none", http_client=client, max_retries=0
    )


@contextmanager
def http_server(log: Path | None = None) -> Iterator[str]:
    server = uvicorn.Server(
        uvicorn.Config(
            app(ITEMS, log), host="127.0.0.1", port=0, log_level="error", lifespan="off", ws="none"
        )
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()


def requests() -> list[dict[str, Any]]:
    asked = [
        {
            "model": TARGET,
            "messages": [
                {"role": "system", "content": skill},
                {"role": "user", "content": f"{item.context}\n\n{item.question}"},
            ],
            "seed": seed,
        }
        for item in ITEMS
        for skill, seed in (("Answer briefly.", 1), (GOOD_SKILL, 2))
    ]
    return [*asked, {"model": OPTIMIZER, "messages": [{"role": "user", "content": "Say something in JSON."}]}]


async def test_the_openai_client_talks_to_the_models_in_process() -> None:
    async with in_process() as client:
        completion = await client.chat.completions.create(
            model=TARGET, messages=[{"role": "user", "content": ITEMS[0].question}], temperature=0.0
        )
        names = [model.id async for model in client.models.list()]
    assert names == [TARGET, OPTIMIZER]
    assert completion.model == TARGET
    assert completion.choices[0].finish_reason == "stop"
    assert completion.usage is not None
    assert (
        completion.usage.total_tokens == completion.usage.prompt_tokens + completion.usage.completion_tokens
    )


async def test_http_and_the_process_itself_give_the_same_bytes() -> None:
    served = simulation(ITEMS)
    with http_server() as base:
        async with httpx2.AsyncClient() as client:
            for prefix in ("/v1", ""):
                url = f"{base}{prefix}/chat/completions"
                replies = [await client.post(url, json=body) for body in requests()]
                assert [reply.content for reply in replies] == [served.complete(b).body for b in requests()]
        async with openai.AsyncOpenAI(base_url=f"{base}/v1", api_key="none", max_retries=0) as api:
            assert [model.id async for model in api.models.list()] == [TARGET, OPTIMIZER]


async def test_an_unknown_model_is_not_found() -> None:
    async with in_process() as client:
        with pytest.raises(openai.NotFoundError, match="gpt-9") as caught:
            await client.chat.completions.create(
                model="gpt-9", messages=[{"role": "user", "content": "hello"}]
            )
    assert caught.value.code == "model_not_found"


async def test_another_path_is_not_found() -> None:
    async with in_process() as client:
        with pytest.raises(openai.NotFoundError, match="chat/completions"):
            await client.embeddings.create(model=TARGET, input="hello")


MESSAGES = [{"role": "user", "content": "hello"}]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"messages": MESSAGES}, "model"),
        ({"model": 3, "messages": MESSAGES}, "model"),
        ({"model": TARGET}, "messages"),
        ({"model": TARGET, "messages": []}, "messages"),
        ({"model": TARGET, "messages": "hello"}, "messages"),
        ({"model": TARGET, "messages": [{"content": "hello"}]}, "messages[0]"),
        ({"model": TARGET, "messages": [*MESSAGES, {"role": "user", "content": None}]}, "messages[1]"),
        ({"model": TARGET, "messages": MESSAGES, "seed": "1"}, "seed"),
        ({"model": TARGET, "messages": MESSAGES, "max_tokens": 0}, "max_tokens"),
        ({"model": TARGET, "messages": MESSAGES, "stream": True}, "stream"),
        ({"model": TARGET, "messages": MESSAGES, "n": 2}, "n"),
    ],
)
def test_a_malformed_request_is_refused_and_the_field_named(body: dict[str, Any], param: str) -> None:
    reply = simulation([]).complete(body)
    assert reply.status == 400
    assert json.loads(reply.body)["error"]["param"] == param


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'"hello"', b"\xff\xfe"])
def test_a_request_that_is_no_json_object_is_refused(raw: bytes) -> None:
    reply = simulation([]).handle("POST", "/v1/chat/completions", raw)
    assert (reply.status, json.loads(reply.body)["error"]["code"]) == (400, "invalid_json")


def test_content_may_come_in_parts() -> None:
    served = simulation(ITEMS)
    question = ITEMS[0].question
    whole = {"model": TARGET, "messages": [{"role": "user", "content": question}]}
    parts = {"model": TARGET, "messages": [{"role": "user", "content": [{"type": "text", "text": question}]}]}
    texts = [json.loads(served.complete(body).body)["choices"][0]["message"] for body in (whole, parts)]
    assert texts[0] == texts[1]


def test_a_reply_is_cut_at_the_output_limit_and_says_so() -> None:
    body = {"model": TARGET, "messages": MESSAGES, "max_completion_tokens": 2}
    choice = json.loads(simulation([]).complete(body).body)["choices"][0]
    assert (choice["finish_reason"], len(choice["message"]["content"])) == ("length", 8)


async def test_the_log_has_one_line_a_call(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    same = {"model": TARGET, "messages": MESSAGES}
    with http_server(log) as base:
        async with httpx2.AsyncClient() as client:
            for body in (same, {**same, "seed": 2}, {**same, "model": "other"}):
                await client.post(f"{base}/v1/chat/completions", json=body)
            await client.post(f"{base}/v1/chat/completions", content=b"{")
            await client.get(f"{base}/v1/models")
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [(line["model"], line["status"]) for line in lines] == [
        (TARGET, 200),
        (TARGET, 200),
        ("other", 404),
        (None, 400),
    ]
    assert lines[0]["messages"] == lines[1]["messages"] != lines[3]["messages"]


_FRESH = """
import hashlib, json, sys
from simulation.simulated_items import quiz_items
from skillopt_exp.simulation import revision, simulation
served = simulation(quiz_items(40))
digest = hashlib.sha256(b"".join(served.complete(body).body for body in json.load(sys.stdin)))
print(digest.hexdigest(), revision(), *sorted({"starlette", "uvicorn"} & sys.modules.keys()))
"""


def test_every_process_gives_the_same_bytes_and_loads_no_web_server() -> None:
    root = Path(__file__).parents[2]
    outputs = set()
    for seed in ("0", "1"):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": seed,
            "PYTHONPATH": os.pathsep.join([str(root), str(root / "tests")]),
        }
        result = subprocess.run(
            [sys.executable, "-c", _FRESH],
            input=json.dumps(requests()),
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        outputs.add(result.stdout)
    assert len(outputs) == 1
    _, in_fresh_process, *web_servers = outputs.pop().split()
    assert in_fresh_process == revision()
    assert web_servers == []
