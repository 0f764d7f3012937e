import asyncio
import logging
from typing import Any

import pytest
from llm.connecting import Connected
from llm.misbehaving import Answer, Asked, MisbehavingServer, refuses, says

from skillopt_exp.config.model import Thinking
from skillopt_exp.errors import ProviderError, ReplyFault
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.failure import Failure
from skillopt_exp.llm.parameters import Dialect, refused_field
from skillopt_exp.records import Message

HI = (Message("user", "hi"),)

REFUSALS = {
    "max_tokens": "Unsupported parameter: 'max_tokens' with this model. Use 'max_completion_tokens'",
    "reasoning_effort": "unknown field reasoning_effort",
    "temperature": "temperature is not supported",
    "thinking": "thinking: extra fields not permitted",
}


def picky(asked: Asked) -> Answer:
    """Refuses one field after the other, each by name."""
    for field, message in REFUSALS.items():
        if field in asked.body:
            return refuses(400, message)
    return says("ok")


async def test_each_refused_field_costs_one_call_whatever_the_concurrency(
    server: MisbehavingServer, connected: Connected, caplog: pytest.LogCaptureFixture
) -> None:
    server.decide = picky
    settings: dict[str, Any] = {
        "max_tokens": 100,
        "reasoning_effort": "high",
        "temperature": 0.5,
        "thinking": Thinking.enabled,
    }
    async with connected(**settings) as models:
        caplog.set_level(logging.WARNING)
        caplog.clear()
        await asyncio.gather(*(models.target.ask(HI, stage=Stage.rollout) for _ in range(10)))
        assert len(server.asked) == 10 + len(REFUSALS)
        await models.target.ask(HI, stage=Stage.test)
    assert server.bodies[-1].keys() == {"model", "messages", "max_completion_tokens"}
    assert server.bodies[-1]["max_completion_tokens"] == 100
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == len(REFUSALS)
    assert all(any(field in warning for warning in warnings) for field in REFUSALS)
    async with connected(**settings) as models:  # remembered beyond the connection
        await models.target.ask(HI, stage=Stage.rollout)
    assert len(server.asked) == 10 + len(REFUSALS) + 2


async def test_a_refused_field_of_one_model_is_still_sent_to_another(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.decide = lambda asked: (
        refuses(400, "no temperature here", param="temperature")
        if "temperature" in asked.body and asked.body["model"] == "first"
        else says("ok")
    )
    for name in ("first", "second"):
        async with connected(name=name, temperature=0.0) as models:
            await models.target.ask(HI, stage=Stage.rollout)
    assert ["temperature" in body for body in server.bodies] == [True, False, True]


@pytest.mark.parametrize(
    "refusal",
    [
        refuses(400, "This model's maximum context length is 8192 tokens", code="context_length_exceeded"),
        refuses(400, "max_tokens of 100 does not fit the context", code="context_length_exceeded"),
        refuses(400, "max_tokens is too large: 100. At most 64 are supported", param="max_tokens"),
        refuses(400, "The model `temperature-7b` does not exist"),
        refuses(400, "the model has no temperature", code="model_not_found"),
        refuses(400, "chat_template_kwargs: extra fields not permitted"),
        refuses(403, "temperature is not supported"),
    ],
)
async def test_a_refusal_of_something_else_is_not_asked_again(
    server: MisbehavingServer, connected: Connected, refusal: Answer
) -> None:
    server.answers = [refusal]
    async with connected(max_tokens=100, temperature=0.0) as models:
        with pytest.raises((ProviderError, ReplyFault)):
            await models.target.ask(HI, stage=Stage.rollout)
    assert len(server.asked) == 1


async def test_a_validation_error_names_its_field_by_place(
    server: MisbehavingServer, connected: Connected
) -> None:
    detail = (
        '{"detail": [{"type": "extra_forbidden", "loc": ["body", "reasoning_effort"], "msg": "no extras"}]}'
    )
    server.answers = [Answer(detail, 422), says("ok")]
    async with connected(reasoning_effort="high", temperature=0.0) as models:
        await models.target.ask(HI, stage=Stage.rollout)
    assert server.bodies[1].keys() == {"model", "messages", "temperature"}


def test_vendor_fields_are_dropped_like_any_other() -> None:
    failure = Failure("chat_template_kwargs: extra fields not permitted", status=400)
    assert refused_field({"chat_template_kwargs": {}}, failure) == "chat_template_kwargs"
    assert refused_field({"temperature": 0}, failure) is None


def test_an_output_limit_refused_under_both_names_is_left_out() -> None:
    dialect = Dialect("m at h")
    assert dialect.learn({"max_tokens": 5}, Failure("max_tokens?", status=400))
    assert dialect.apply({"max_tokens": 5}) == {"max_completion_tokens": 5}
    assert dialect.learn({"max_completion_tokens": 5}, Failure("max_completion_tokens?", status=400))
    assert dialect.apply({"max_tokens": 5, "seed": 1}) == {"seed": 1}


async def test_thinking_with_a_temperature_is_warned_about(
    connected: Connected, caplog: pytest.LogCaptureFixture
) -> None:
    async with connected(thinking=Thinking.enabled, temperature=0.0):
        assert "model.target.temperature" in caplog.text
