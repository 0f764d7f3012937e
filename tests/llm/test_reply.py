import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llm.misbehaving import says

from skillopt_exp.llm.failure import CallFailed
from skillopt_exp.llm.reply import CallUsage, read_reply, well_formed

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(
    JSON, st.sampled_from(["whole", "error", "choices", "choice", "message", "content", "usage", "details"])
)
def test_whatever_a_server_sends_is_a_reply_or_a_failed_call(junk: Any, where: str) -> None:
    body: Any = json.loads(says("Oslo", usage={"prompt_tokens": 1, "completion_tokens": 1}).body)
    match where:
        case "whole":
            body = junk
        case "error" | "choices" | "usage":
            body[where] = junk
        case "choice":
            body["choices"][0] = junk
        case "message":
            body["choices"][0]["message"] = junk
        case "content":
            body["choices"][0]["message"]["content"] = junk
        case "details":
            body["usage"]["prompt_tokens_details"] = junk
    try:
        reply = read_reply(json.dumps(body))
    except CallFailed:
        return
    assert isinstance(reply.content, str)


def test_usage_is_what_was_said_and_nothing_else() -> None:
    assert read_reply(says("x").body).usage is None
    odd = {"prompt_tokens": "12", "completion_tokens": -1, "prompt_tokens_details": [], "total_tokens": 3}
    assert read_reply(says("x", usage=odd).body).usage == CallUsage()
    assert read_reply(says("x", usage={"prompt_tokens": 0}).body).usage == CallUsage(input_tokens=0)


def test_parts_of_a_message_are_one_text() -> None:
    body = json.loads(says("").body)
    body["choices"][0]["message"]["content"] = [
        {"type": "text", "text": "Os"},
        {"type": "text", "text": "lo"},
        3,
    ]
    assert read_reply(json.dumps(body)).content == "Oslo"


def test_blank_lines_that_keep_a_connection_alive_do_no_harm() -> None:
    assert read_reply("\n\n\n" + says("Oslo").body).content == "Oslo"


def test_an_error_in_disguise_is_judged_by_its_code() -> None:
    with pytest.raises(CallFailed) as failed:
        read_reply('{"error": {"code": 402, "message": "no credits"}}')
    assert not failed.value.failure.retried
    with pytest.raises(CallFailed) as failed:
        read_reply('{"error": {"code": "odd", "message": "who knows"}}')
    assert failed.value.failure.retried


@given(st.text(st.characters(codec=None)))
def test_well_formed_text_can_be_written(text: str) -> None:
    well_formed(text).encode()
    assert well_formed(well_formed(text)) == well_formed(text)


def test_a_body_nested_without_end_is_something_broken_and_is_asked_again() -> None:
    with pytest.raises(CallFailed) as failed:
        read_reply("[" * 200_000)
    assert failed.value.failure.retried


def completion(finish: str | None = "stop", **message: Any) -> str:
    return json.dumps({"choices": [{"finish_reason": finish, "message": {"role": "assistant", **message}}]})


@pytest.mark.parametrize("content", [5, 0, 1.5, True, False, {"text": "Oslo"}, {}, [5], [None, 3.5]])
def test_content_that_is_no_text_is_the_providers_fault_and_asked_again(content: Any) -> None:
    with pytest.raises(CallFailed) as failed:
        read_reply(completion(content=content))
    assert failed.value.failure.retried


@pytest.mark.parametrize(
    "content",
    [
        ["Os", "lo"],
        [{"text": "Os"}, "lo"],
        [{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "Oslo"}],
        [{"type": "text", "text": "Oslo"}, {"type": "text", "text": None}],
    ],
)
def test_a_list_of_texts_is_text(content: Any) -> None:
    assert read_reply(completion(content=content)).content == "Oslo"


@pytest.mark.parametrize(
    "message",
    [
        {"content": None},
        {"content": ""},
        {"content": []},
        {"content": [{"type": "image_url", "image_url": {}}]},
        {"content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}]},
        {},
    ],
)
def test_a_reply_without_text_is_the_models_own_doing(message: dict[str, Any]) -> None:
    assert read_reply(completion(**message)).blank


@pytest.mark.parametrize(
    "body",
    [
        {"choices": None},
        {"choices": []},
        {"choices": [None]},
        {"choices": {"message": {"content": "Oslo"}}},
        {"choices": [{"finish_reason": "stop", "message": None}]},
        {"choices": [{"finish_reason": "stop", "message": "Oslo"}]},
        {"object": "chat.completion"},
    ],
)
def test_a_completion_without_a_message_is_asked_again(body: dict[str, Any]) -> None:
    with pytest.raises(CallFailed) as failed:
        read_reply(json.dumps(body))
    assert failed.value.failure.retried


@pytest.mark.parametrize("choice", [{"message": None}, {}, {"message": {"content": None}}])
def test_a_filter_may_leave_no_message_at_all(choice: dict[str, Any]) -> None:
    reply = read_reply(json.dumps({"choices": [{"finish_reason": "content_filter", **choice}]}))
    assert (reply.finish_reason, reply.content) == ("content_filter", "")


def test_more_cached_tokens_than_there_was_input_are_not_believed() -> None:
    odd = {"prompt_tokens": 12, "prompt_tokens_details": {"cached_tokens": 13}, "completion_tokens": 1}
    assert read_reply(says("x", usage=odd).body).usage == CallUsage(input_tokens=12, output_tokens=1)
