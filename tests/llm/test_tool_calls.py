"""Tool loops: what a model calls, what it is told, and what it thought in between."""

import json
from pathlib import Path
from typing import Any

import pytest
from llm.connecting import Connected
from llm.misbehaving import Asked, MisbehavingServer, refuses, says

from skillopt_exp.config.spending import CacheConfig
from skillopt_exp.errors import ProviderError, ReplyFault
from skillopt_exp.llm.base import Stage
from skillopt_exp.records import Fault, Message, Tool, ToolCall
from skillopt_exp.runs.answers import open_answers

LOOK_UP = Tool(
    "look_up",
    "Finds a page by its title.",
    {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]},
)
QUESTION = Message("user", "Which river flows through Cairo?")
CALL: dict[str, Any] = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "look_up", "arguments": '{"title": "Cairo"}'},
}


async def test_what_led_to_a_call_goes_back_with_it(server: MisbehavingServer, connected: Connected) -> None:
    server.answers = [
        says(None, finish="tool_calls", tool_calls=[CALL], reasoning_content="I should look it up."),
        says("the Nile", reasoning_content="The page says so."),
    ]
    async with connected() as models:
        wish = await models.target.ask([QUESTION], stage=Stage.rollout, tools=[LOOK_UP])
        assert wish == Message(
            "assistant", "", "I should look it up.", (ToolCall("call_1", "look_up", '{"title": "Cairo"}'),)
        )
        page = Message("tool", "Cairo lies on the Nile.", answers_call="call_1")
        reply = await models.target.ask([QUESTION, wish, page], stage=Stage.rollout, tools=[LOOK_UP])
    assert reply == Message("assistant", "the Nile", "The page says so.")
    first, second = server.bodies
    assert first["tools"] == second["tools"]
    assert first["tools"][0]["function"]["parameters"]["required"] == ["title"]
    assert second["messages"][1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [CALL],
            "reasoning_content": "I should look it up.",
        },
        {"role": "tool", "content": "Cairo lies on the Nile.", "tool_call_id": "call_1"},
    ]


async def test_an_endpoint_that_wants_the_reasoning_back_gets_it(
    server: MisbehavingServer, connected: Connected
) -> None:
    """As DeepSeek answers a loop whose reasoning is missing."""

    def decide(asked: Asked) -> Any:
        calls = [each for each in asked.body["messages"] if "tool_calls" in each]
        if any("reasoning_content" not in each for each in calls):
            return refuses(400, "The reasoning_content in the thinking mode must be passed back to the API.")
        if calls:
            return says("the Nile")
        return says(None, finish="tool_calls", tool_calls=[CALL], reasoning_content="Look it up.")

    server.decide = decide
    async with connected() as models:
        wish = await models.target.ask([QUESTION], stage=Stage.rollout, tools=[LOOK_UP])
        page = Message("tool", "Nile", answers_call="call_1")
        reply = await models.target.ask([QUESTION, wish, page], stage=Stage.rollout, tools=[LOOK_UP])
    assert reply.content == "the Nile"


async def test_reasoning_without_a_call_stays_here(server: MisbehavingServer, connected: Connected) -> None:
    async with connected() as models:
        said = Message("assistant", "Let me see.", "hidden")
        await models.target.ask([QUESTION, said, QUESTION], stage=Stage.rollout, tools=[LOOK_UP])
    assert server.bodies[0]["messages"][1] == {"role": "assistant", "content": "Let me see."}


async def test_a_call_that_nobody_offered_is_an_empty_reply(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.answers = [says(None, finish="tool_calls", tool_calls=[CALL])]
    async with connected() as models:
        with pytest.raises(ReplyFault) as caught:
            await models.target.ask([QUESTION], stage=Stage.rollout)
    assert caught.value.kind is Fault.empty
    assert "tools" not in server.bodies[0]


@pytest.mark.parametrize(
    "calls", [None, "look_up", [{}], [None], [{"function": {"arguments": "{}"}}], [{"function": 3}]]
)
async def test_what_is_no_call_is_none(server: MisbehavingServer, connected: Connected, calls: Any) -> None:
    server.answers = [says("the Nile", tool_calls=calls)]
    async with connected() as models:
        reply = await models.target.ask([QUESTION], stage=Stage.rollout, tools=[LOOK_UP])
    assert reply == Message("assistant", "the Nile")


async def test_arguments_that_are_an_object_are_taken_as_its_json(
    server: MisbehavingServer, connected: Connected
) -> None:
    loose = {"id": "a", "function": {"name": "look_up", "arguments": {"title": "Cairo"}}}
    server.answers = [says(None, tool_calls=[loose])]
    async with connected() as models:
        reply = await models.target.ask([QUESTION], stage=Stage.rollout, tools=[LOOK_UP])
    assert json.loads(reply.tool_calls[0].arguments) == {"title": "Cairo"}


async def test_an_endpoint_without_tools_is_refused_and_never_asked_without_them(
    server: MisbehavingServer, connected: Connected
) -> None:
    server.answers = [refuses(400, "Unknown parameter: 'tools'.", param="tools")]
    async with connected() as models:
        for _ in range(2):
            with pytest.raises(ProviderError, match="tools"):
                await models.target.ask([QUESTION], stage=Stage.rollout, tools=[LOOK_UP])
    assert all("tools" in body for body in server.bodies)


async def test_a_loop_is_kept_and_asked_again_for_nothing(
    server: MisbehavingServer, connected: Connected, tmp_path: Path
) -> None:
    server.answers = [
        says(None, finish="tool_calls", tool_calls=[CALL], reasoning_content="Look it up."),
        says("the Nile"),
    ]
    page = Message("tool", "Nile", answers_call="call_1")
    replies = []
    for _ in range(2):
        with open_answers(CacheConfig(), base=tmp_path) as answers:
            async with connected(run={"answers": answers}) as models:
                wish = await models.target.ask([QUESTION], stage=Stage.rollout, tools=[LOOK_UP])
                loop = [QUESTION, wish, page]
                replies.append(await models.target.ask(loop, stage=Stage.rollout, tools=[LOOK_UP]))
    assert replies[0] == replies[1]
    assert len(server.asked) == 2
