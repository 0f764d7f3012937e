import asyncio
import json
import logging
from typing import Any

import httpx2
import pytest
from llm.connecting import KEY, OPTIMIZER_KEY, Connected, Sleeps
from llm.misbehaving import Answer, MisbehavingServer, refuses, says

from skillopt_exp.config.model import EndpointConfig, ModelConfig, Provider, Thinking
from skillopt_exp.errors import OutageError, ProviderError, ReplyFault
from skillopt_exp.llm import connect
from skillopt_exp.llm.base import Stage
from skillopt_exp.records import Fault, Message, Role

HI = (Message("user", "line one\nthe last line"),)


async def test_a_conversation_arrives_whole_and_the_reply_comes_back(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.answers = [says("Oslo")]
    async with connected() as models:
        reply = await models.target.ask(
            [Message("system", "Be brief."), *HI, Message("assistant", "Eh?", reasoning="hidden")],
            stage=Stage.rollout,
        )
    assert reply == Message("assistant", "Oslo")
    [asked] = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.body == {
        "model": "small",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "line one\nthe last line"},
            {"role": "assistant", "content": "Eh?"},
        ],
    }


async def test_half_a_surrogate_pair_in_an_item_does_not_stop_the_request(
    server: MisbehavingServer, connected: Connected
) -> None:
    async with connected() as models:
        await models.target.ask([Message("user", "odd \ud83d text \ud83d\ude00")], stage=Stage.rollout)
    assert server.bodies[0]["messages"][0]["content"] == "odd \ufffd text \U0001f600"


async def test_only_configured_parameters_are_sent(server: MisbehavingServer, connected: Connected) -> None:
    async with connected(
        temperature=0.0, max_tokens=50, reasoning_effort="low", thinking=Thinking.disabled
    ) as models:
        await models.target.ask(HI, stage=Stage.rollout)
        await models.optimizer.ask(HI, stage=Stage.reflect, json=True, attempt=3)
    target, optimizer = ({k: v for k, v in body.items() if k != "messages"} for body in server.bodies)
    assert target == {
        "model": "small",
        "temperature": 0.0,
        "max_tokens": 50,
        "reasoning_effort": "low",
        "thinking": {"type": "disabled"},
    }
    assert optimizer == {"model": "large", "response_format": {"type": "json_object"}, "seed": 3}


async def test_each_role_sends_its_own_key_and_nothing_from_openai_variables(
    server: MisbehavingServer, connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, f"leaked-{name}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer leaked\nX-Team: leaked")
    async with connected() as models:
        await models.target.ask(HI, stage=Stage.rollout)
        await models.optimizer.ask(HI, stage=Stage.reflect)
    assert [asked.headers["Authorization"] for asked in server.asked] == [
        f"Bearer {KEY}",
        f"Bearer {OPTIMIZER_KEY}",
    ]
    assert "leaked" not in str([asked.headers for asked in server.asked])
    assert not [name for asked in server.asked for name in asked.headers if "openai" in name.lower()]


async def test_a_role_without_a_key_sends_a_placeholder(
    server: MisbehavingServer, connected: Connected, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "leaked")
    async with connected(api_key_env=None) as models:
        await models.target.ask(HI, stage=Stage.rollout)
    assert server.asked[0].headers["Authorization"] == "Bearer none"


@pytest.mark.parametrize(
    ("answer", "content", "reasoning"),
    [
        (says("<think>Is it Oslo?</think>\n\nOslo"), "Oslo", "Is it Oslo?"),
        (says("Is it Oslo?</think>Oslo"), "Oslo", "Is it Oslo?"),
        (says("Oslo", reasoning_content="Hm."), "Oslo", "Hm."),
        (says("Oslo", reasoning="Hm.", reasoning_content="Hm."), "Oslo", "Hm."),
        (says("Write <think> first."), "Write <think> first.", ""),
        (says(None, refusal="I will not."), "I will not.", ""),
        (says("Invalid API key"), "Invalid API key", ""),
        (says("Oslo", finish=None), "Oslo", ""),
    ],
)
async def test_visible_text_and_reasoning_are_told_apart(
    server: MisbehavingServer, connected: Connected, answer: Answer, content: str, reasoning: str
) -> None:
    server.answers = [answer]
    async with connected() as models:
        reply = await models.target.ask(HI, stage=Stage.rollout)
    assert (reply.content, reply.reasoning) == (content, reasoning)


CUT: list[Any] = [
    says("Osl", finish="length", usage={"prompt_tokens": 9, "completion_tokens": 5000}),
    says(
        "", finish="length", reasoning_content="Let me", usage={"prompt_tokens": 9, "completion_tokens": 5000}
    ),
    says("<think>Let me", usage={"prompt_tokens": 9, "completion_tokens": 5000}),
]


@pytest.mark.parametrize("cut", CUT)
async def test_a_cut_reply_gets_more_room_once(
    server: MisbehavingServer, connected: Connected, cut: Answer
) -> None:
    server.answers = [cut, says("Oslo")]
    async with connected(max_tokens=2000) as models:
        assert (await models.target.ask(HI, stage=Stage.rollout)).content == "Oslo"
    assert [body["max_tokens"] for body in server.bodies] == [2000, 8000]


@pytest.mark.parametrize("cut", CUT)
async def test_a_reply_that_stays_cut_is_a_fault_and_never_an_answer(
    server: MisbehavingServer, connected: Connected, cut: Answer
) -> None:
    server.answers = [cut]
    async with connected() as models:
        with pytest.raises(ReplyFault) as fault:
            await models.target.ask(HI, stage=Stage.rollout)
        assert models.meter.usage(Role.target, Stage.rollout).calls == 2
    assert fault.value.kind is Fault.truncated
    assert [body.get("max_tokens") for body in server.bodies] == [None, 20000]


async def test_an_endpoint_without_more_room_makes_the_cut_reply_a_fault(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.answers = [
        says("Osl", finish="length"),
        refuses(400, "max_tokens is too large: 8000", param="max_tokens"),
    ]
    async with connected(max_tokens=2000) as models:
        with pytest.raises(ReplyFault) as fault:
            await models.target.ask(HI, stage=Stage.rollout)
    assert fault.value.kind is Fault.truncated


async def test_more_room_goes_under_the_name_that_the_endpoint_takes(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.answers = [
        says("Osl", finish="length"),
        refuses(400, "Unsupported parameter: 'max_tokens', use 'max_completion_tokens'"),
        says("Oslo"),
    ]
    async with connected() as models:
        assert (await models.target.ask(HI, stage=Stage.rollout)).content == "Oslo"
    assert server.bodies[2]["max_completion_tokens"] == 4096


@pytest.mark.parametrize(
    "answer",
    [
        says("", finish="content_filter"),
        says("half an ans", finish="content_filter"),
        refuses(400, "The prompt was filtered", code="content_filter"),
    ],
)
async def test_a_filtered_reply_is_a_fault_at_once(
    server: MisbehavingServer, connected: Connected, answer: Answer
) -> None:
    server.answers = [answer]
    async with connected() as models:
        with pytest.raises(ReplyFault) as fault:
            await models.target.ask(HI, stage=Stage.rollout)
    assert fault.value.kind is Fault.content_filter
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "answer",
    [
        refuses(400, "Too long", code="context_length_exceeded"),
        refuses(400, "the request exceeds the available context size", type="exceed_context_size_error"),
    ],
)
async def test_a_prompt_longer_than_the_context_is_a_fault_of_its_own(
    server: MisbehavingServer, connected: Connected, answer: Answer
) -> None:
    server.answers = [answer]
    async with connected() as models:
        with pytest.raises(ReplyFault, match="longer than the model's context") as fault:
            await models.target.ask(HI, stage=Stage.rollout)
    assert fault.value.kind is Fault.too_long
    assert len(server.asked) == 1


async def test_more_room_than_the_context_has_makes_the_cut_reply_a_fault(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.answers = [
        says("Osl", finish="length"),
        refuses(400, "max_tokens and prompt exceed the context", code="context_length_exceeded"),
    ]
    async with connected(max_tokens=2000) as models:
        with pytest.raises(ReplyFault) as fault:
            await models.target.ask(HI, stage=Stage.rollout)
    assert fault.value.kind is Fault.truncated


async def test_an_endpoint_that_takes_no_output_limit_has_no_more_room_for_anybody(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.decide = lambda asked: (
        refuses(400, "no such field", param=next(name for name in asked.body if name.startswith("max_")))
        if any(name.startswith("max_") for name in asked.body)
        else says("Osl", finish="length")
    )
    async with connected() as models:
        for _ in range(2):
            with pytest.raises(ReplyFault) as fault:
                await models.target.ask(HI, stage=Stage.rollout)
            assert fault.value.kind is Fault.truncated
    assert len(server.asked) == 1 + 2 + 1


async def test_half_a_surrogate_pair_in_a_reply_is_replaced(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.answers = [says("Os\ud83dlo", reasoning_content="Hm\udc00.")]
    async with connected() as models:
        reply = await models.target.ask(HI, stage=Stage.rollout)
    assert (reply.content, reply.reasoning) == ("Os\ufffdlo", "Hm\ufffd.")


@pytest.mark.parametrize("blank", [says(""), says(" \n\n "), says(None), says("\n" * 50, finish="length")])
async def test_an_empty_reply_in_json_mode_is_asked_for_again_without_it(
    server: MisbehavingServer, connected: Connected, blank: Answer
) -> None:
    server.answers = [blank, says('{"edits": []}')]
    async with connected() as models:
        reply = await models.optimizer.ask(HI, stage=Stage.reflect, json=True)
    assert reply.content == '{"edits": []}'
    assert ["response_format" in body for body in server.bodies] == [True, False]


async def test_a_reply_that_stays_empty_is_a_fault(server: MisbehavingServer, connected: Connected) -> None:
    server.answers = [says("")]
    async with connected() as models:
        for json, calls in ((False, 1), (True, 3)):
            with pytest.raises(ReplyFault) as fault:
                await models.target.ask(HI, stage=Stage.rollout, json=json)
            assert fault.value.kind is Fault.empty
            assert len(server.asked) == calls


async def test_the_meter_counts_what_was_reported_and_keeps_the_rest_unknown(
    server: MisbehavingServer, connected: Connected
) -> None:
    full = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 60},
        "completion_tokens_details": {"reasoning_tokens": 15},
    }
    deepseek = {"prompt_tokens": 10, "completion_tokens": 2, "prompt_cache_hit_tokens": 4}
    server.answers = [says("a", usage=full), says("b", usage=deepseek), says("c")]
    async with connected() as models:
        await models.target.ask(HI, stage=Stage.rollout)
        assert models.meter.usage(Role.target, Stage.rollout).reasoning_tokens == 15
        await models.target.ask(HI, stage=Stage.rollout)
        two = models.meter.usage(Role.target, Stage.rollout)
        await models.target.ask(HI, stage=Stage.test)
        assert models.meter.answering_models(Role.target) == ("served-model-0813",)
    assert (two.calls, two.input_tokens, two.cached_tokens, two.output_tokens) == (2, 110, 64, 22)
    assert two.reasoning_tokens is None
    assert models.meter.usage(Role.target, Stage.test).input_tokens is None
    assert models.meter.total().calls == 3
    assert models.meter.total().input_tokens is None


async def test_a_busy_provider_is_asked_again_as_it_asked_for(
    server: MisbehavingServer, connected: Connected, sleeps: Sleeps, caplog: pytest.LogCaptureFixture
) -> None:
    server.answers = [
        refuses(429, "Slow down, you are over your quota", headers={"retry-after": "2"}),
        Answer("", 503),
        refuses(503, "overloaded"),
        says("Oslo"),
    ]
    async with connected() as models:
        assert (await models.target.ask(HI, stage=Stage.rollout)).content == "Oslo"
    assert len(server.asked) == 4
    assert sleeps.naps[0] >= 2.0
    assert "429" in caplog.text


@pytest.mark.parametrize(
    "answer",
    [
        Answer("", drop=True),
        Answer("{", 200),
        Answer("[]", 200),
        Answer('{"choices": []}', 200),
        Answer('{"choices": [{"message": null}]}', 200),
        Answer('{"error": {"code": 503, "message": "upstream"}}', 200),
        says("half", finish="insufficient_system_resource"),
        refuses(408, "timeout"),
        refuses(409, "conflict"),
        refuses(500, "oops"),
        refuses(529, "overloaded"),
        says("late", delay=0.7),
    ],
)
async def test_a_call_without_an_answer_is_made_again(
    server: MisbehavingServer, connected: Connected, answer: Answer
) -> None:
    server.answers = [answer, says("Oslo")]
    async with connected(timeout=0.3) as models:
        assert (await models.target.ask(HI, stage=Stage.rollout)).content == "Oslo"
    assert len(server.asked) == 2


async def test_patience_ends_in_an_outage_that_can_be_resumed(
    server: MisbehavingServer, connected: Connected, sleeps: Sleeps
) -> None:
    server.answers = [refuses(503, "overloaded")]
    async with connected(max_retries=3) as models:
        with pytest.raises(OutageError) as outage:
            await models.target.ask(HI, stage=Stage.rollout)
    assert len(server.asked) == 4
    assert len(sleeps.naps) == 3
    assert outage.value.exit_code == 75
    for part in (
        "model.target",
        "'small'",
        f"{server.url}/chat/completions",
        "503",
        "overloaded",
        "TARGET_KEY",
    ):
        assert part in str(outage.value)


async def test_nobody_listening_is_an_outage(connected: Connected, sleeps: Sleeps) -> None:
    async with connected(base_url="http://127.0.0.1:9/v1", max_retries=2) as models:
        with pytest.raises(OutageError, match=r"Connect.*127\.0\.0\.1|127\.0\.0\.1.*Connect"):
            await models.target.ask(HI, stage=Stage.rollout)
    assert len(sleeps.naps) == 2


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        (refuses(401, "Authentication fails"), ["HTTP 401", "Authentication fails", "TARGET_KEY"]),
        (refuses(402, "Insufficient Balance"), ["HTTP 402", "balance", "TARGET_KEY"]),
        (refuses(403, "Forbidden"), ["HTTP 403", "TARGET_KEY"]),
        (
            refuses(404, "no such model", code="model_not_found"),
            ["HTTP 404", "model.target.name", "TARGET_KEY"],
        ),
        (refuses(400, "Bad thing"), ["HTTP 400", "Bad thing", "model.target", "TARGET_KEY"]),
        (refuses(422, "Bad thing"), ["HTTP 422"]),
        (refuses(429, "Pay up", code="insufficient_quota"), ["HTTP 429", "balance", "TARGET_KEY"]),
        (refuses(429, "Pay up", type="insufficient_quota"), ["balance"]),
        (Answer('{"error": {"code": 401, "message": "no"}}', 200), ["HTTP 401", "TARGET_KEY"]),
        (Answer('{"error": "model not found"}', 404), ["HTTP 404", "model not found"]),
        (Answer("", 404), ["HTTP 404", "no message"]),
        (
            Answer("", 307, {"location": "http://127.0.0.1:1/"}),
            ["HTTP 307", "http://127.0.0.1:1/", "base_url"],
        ),
    ],
)
async def test_a_refusal_stops_at_once_and_says_where_to_look(
    server: MisbehavingServer, connected: Connected, sleeps: Sleeps, answer: Answer, parts: list[str]
) -> None:
    server.answers = [answer]
    async with connected() as models:
        with pytest.raises(ProviderError) as refusal:
            await models.target.ask(HI, stage=Stage.rollout)
    assert len(server.asked) == 1
    assert sleeps.naps == []
    for part in ["model.target", "'small'", f"{server.url}/chat/completions", *parts]:
        assert part in str(refusal.value)


@pytest.mark.parametrize("status", [404, 200])
async def test_a_web_page_instead_of_an_answer_suggests_v1(
    server: MisbehavingServer, connected: Connected, status: int
) -> None:
    root = server.url.removesuffix("/v1")
    server.answers = [Answer("<!doctype html><title>Not Found</title>", status, content_type="text/html")]
    async with connected(base_url=root) as models:
        with pytest.raises(ProviderError) as refusal:
            await models.target.ask(HI, stage=Stage.rollout)
    assert f"{root}/v1" in str(refusal.value)
    assert "doctype" not in str(refusal.value)


async def test_a_key_is_never_repeated_even_if_the_provider_does(
    server: MisbehavingServer, connected: Connected, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.decide = lambda asked: refuses(
        500 if len(server.asked) < 3 else 401, f"bad key {asked.headers['Authorization']}"
    )
    async with connected() as models:
        with pytest.raises(ProviderError) as refusal:
            await models.target.ask(HI, stage=Stage.rollout)
    assert "bad key" in str(refusal.value)
    assert KEY not in str(refusal.value)
    assert KEY not in caplog.text
    assert "bad key" in caplog.text


async def test_the_timeout_in_force_is_in_the_log(
    connected: Connected, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="skillopt_exp")
    async with connected(timeout=12.5) as models:
        await models.target.ask(HI, stage=Stage.rollout)
    assert "12.5 s" in caplog.text


async def test_a_stage_cap_holds_inside_the_endpoints_limit(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.answers = [says("x", delay=0.05)]
    two = asyncio.Semaphore(2)
    async with connected(run={"caps": {Stage.reflect: two, Stage.aggregate: two}}) as models:
        stages = [Stage.reflect, Stage.aggregate] * 3
        await asyncio.gather(*(models.optimizer.ask(HI, stage=stage) for stage in stages))
        assert server.most_at_once == 2
        await asyncio.gather(*(models.target.ask(HI, stage=Stage.rollout) for _ in range(12)))
    assert 2 < server.most_at_once <= 8


async def test_the_simulation_is_reached_in_process_with_the_attempt_as_its_seed() -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, text=says("simulated").body)

    transport = httpx2.MockTransport(answer)
    simulated = EndpointConfig(provider=Provider.simulated, name="simulated-target")
    config = ModelConfig(target=simulated, optimizer=simulated)
    for _ in range(2):  # the transport outlives the first connection
        async with connect(config, transport=transport) as models:
            assert (await models.target.ask(HI, stage=Stage.rollout)).content == "simulated"
            await models.target.ask(HI, stage=Stage.rollout, attempt=2)
    assert [httpx2.Response(200, content=request.content).json()["seed"] for request in seen] == [1, 2, 1, 2]
    assert {str(request.url) for request in seen} == {"http://simulated.invalid/v1/chat/completions"}


async def test_a_number_for_a_text_is_asked_again_and_never_scored(
    server: MisbehavingServer, connected: Connected
) -> None:
    number = json.loads(says("").body)
    number["choices"][0]["message"]["content"] = 5
    server.answers = [Answer(json.dumps(number)), says("Oslo")]
    async with connected() as models:
        assert (await models.target.ask(HI, stage=Stage.rollout)).content == "Oslo"
    assert len(server.asked) == 2
