"""What is found about a model, over real HTTP."""

import pytest
from doctor.obedient import KEY, Obedient, about, examined
from llm.misbehaving import Answer, Asked, MisbehavingServer, refuses, says

from skillopt_exp.doctor.finding import Finding, State, worst
from skillopt_exp.records import Role

WRITES = ("temperature", "max_tokens", "reasoning_effort")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_MODEL_KEY", KEY)


async def test_a_model_that_obeys_has_nothing_to_be_told(obedient: Obedient) -> None:
    findings = await examined(obedient.url, Role.optimizer, temperature=0.0, max_tokens=200)
    assert {finding.state for finding in findings} == {State.ok}
    answered = findings[0].said
    for words in ("small answered as served-model-0813", f"{obedient.url}/chat/completions", " s"):
        assert words in answered
    assert "it limits" in about(findings, "max_tokens").said
    assert "the last one too" in about(findings, "prompts").said
    assert "40 in, 12 out" in about(findings, "usage").said
    assert "its reply is JSON" in about(findings, "JSON mode").said


async def test_the_examination_takes_a_handful_of_calls(obedient: Obedient) -> None:
    await examined(obedient.url, Role.optimizer, temperature=0.0, max_tokens=200)
    assert len(obedient.server.asked) == 4
    assert all(asked.headers["Authorization"] == f"Bearer {KEY}" for asked in obedient.server.asked)


async def test_a_wrong_key_is_a_problem_that_names_the_variable_and_not_the_key(
    obedient: Obedient,
) -> None:
    obedient.server.decide = lambda asked: refuses(401, f"Incorrect API key provided: {KEY}")
    findings = await examined(obedient.url)
    assert worst(findings) == 4
    (finding,) = findings
    assert "TEST_MODEL_KEY" in finding.said
    assert KEY not in repr(findings)


@pytest.mark.parametrize("given", ["", "/api"])
async def test_a_page_that_is_not_found_leads_to_the_address_that_answers(
    given: str, obedient: Obedient
) -> None:
    origin = obedient.url.removesuffix("/v1")
    (finding,) = await examined(origin + given)
    assert finding.state is State.problem
    assert f"{origin}{given}/chat/completions" in finding.said
    assert f"model.target.base_url={origin}/v1" in finding.advice


async def test_a_server_that_answers_nowhere_still_gets_the_suggestion(obedient: Obedient) -> None:
    obedient.server.decide = lambda asked: refuses(404, "no such route")
    origin = obedient.url.removesuffix("/v1")
    (finding,) = await examined(origin)
    assert "/v1 at the end" in finding.advice
    assert finding.exit_code == 4


async def test_an_address_that_ends_in_v1_gets_no_such_suggestion(obedient: Obedient) -> None:
    obedient.server.decide = lambda asked: refuses(404, "The model does not exist", code="model_not_found")
    (finding,) = await examined(obedient.url)
    assert finding.advice == ""
    assert "model.target.name" in finding.said


async def test_a_server_that_is_gone_is_a_problem(obedient: Obedient) -> None:
    obedient.server.decide = lambda asked: Answer("", drop=True)
    (finding,) = await examined(obedient.url)
    assert (finding.state, finding.exit_code) == (State.problem, 4)


async def test_refused_parameters_are_told_from_those_that_are_taken(obedient: Obedient) -> None:
    obedient.refuse = {"temperature", "max_tokens"}
    findings = await examined(
        obedient.url, temperature=0.5, max_tokens=200, reasoning_effort="high", max_concurrency=1
    )
    temperature = about(findings, "temperature")
    assert temperature.state is State.warning
    assert "refused (HTTP 400: Unsupported parameter: temperature)" in temperature.said
    assert "model.target.temperature=null" in temperature.advice
    renamed = about(findings, "max_tokens")
    assert (renamed.state, "max_completion_tokens" in renamed.said) == (State.ok, True)
    assert "it limits" in about(findings, "max_completion_tokens").said
    assert "the last one too" in about(findings, "prompts").said


@pytest.mark.parametrize(
    ("settings", "reasoning", "topic"),
    [
        ({"max_tokens": 200}, None, "max_tokens"),
        ({"reasoning_effort": "high"}, None, "reasoning_effort"),
        ({"reasoning_effort": "none"}, "let me see", "reasoning_effort"),
    ],
)
async def test_a_parameter_without_effect_is_a_warning(
    settings: dict[str, object], reasoning: str | None, topic: str, obedient: Obedient
) -> None:
    obedient.ignore, obedient.reasoning = {"max_tokens"}, reasoning
    finding = about(await examined(obedient.url, **settings), topic)
    assert finding.state is State.warning
    assert "no observable effect" in finding.said
    assert finding.advice


async def test_an_ignored_output_limit_shows_without_reported_usage(obedient: Obedient) -> None:
    obedient.ignore, obedient.usage = {"max_tokens"}, None
    findings = await examined(obedient.url, max_tokens=200)
    assert "taken; the reply was too short" in about(findings, "max_tokens").said
    usage = about(findings, "usage")
    assert (usage.state, "budget.calls" in usage.advice) == (State.warning, True)


async def test_a_temperature_on_a_reasoning_model_is_doubted(obedient: Obedient) -> None:
    obedient.reasoning = "let me see"
    finding = about(await examined(obedient.url, temperature=0.5), "temperature")
    assert finding.state is State.warning
    assert "reasons" in finding.said


@pytest.mark.parametrize(
    "swallow",
    [lambda text: text.rpartition("\n")[0], lambda text: "\n".join(text.split("\n")[:2])],
    ids=["the last line", "all but the first lines"],
)
async def test_a_swallowed_last_line_is_a_problem(swallow: object, obedient: Obedient) -> None:
    obedient.sees = swallow  # type: ignore[assignment]
    findings = await examined(obedient.url)
    prompts = about(findings, "prompts")
    assert (prompts.state, prompts.exit_code) == (State.problem, 4)
    assert "last line does not arrive" in prompts.said
    assert prompts.advice


async def test_a_model_that_repeats_nothing_is_no_proof_of_a_swallowed_line(obedient: Obedient) -> None:
    obedient.sees = lambda text: "what?"
    assert about(await examined(obedient.url), "prompts").state is State.warning


async def test_json_mode_that_is_refused_is_a_warning_where_replies_are_json_anyway(
    obedient: Obedient,
) -> None:
    obedient.refuse = {"response_format"}
    finding = about(await examined(obedient.url, Role.optimizer), "JSON mode")
    assert finding.state is State.warning
    assert "refused (HTTP 400: Unsupported parameter: response_format)" in finding.said


async def test_an_optimizer_without_json_could_not_be_read(obedient: Obedient) -> None:
    obedient.json_text = "Certainly! I am ready."
    findings = await examined(obedient.url, Role.optimizer)
    assert about(findings, "JSON mode").state is State.problem
    assert worst(findings) == 4


async def test_an_empty_reply_is_a_warning(obedient: Obedient) -> None:
    obedient.server.decide = lambda asked: says("")
    findings = await examined(obedient.url)
    assert findings[0].state is State.warning
    assert "cannot be used" in findings[0].said


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 422])
async def test_no_refusal_repeats_the_key(status: int, role: Role, obedient: Obedient) -> None:
    jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl"
    calm = obedient.server.decide
    assert calm is not None

    def echo(asked: Asked) -> Answer:
        if status in (400, 422) and not asked.body.keys() & set(WRITES):
            return calm(asked)
        return refuses(status, f"bad {KEY} and {jwt} for postgresql://me:hunter2000@db/x")

    obedient.server.decide = echo
    findings = await examined(obedient.url, role, temperature=1.0, max_tokens=50)
    assert any(finding.state is not State.ok for finding in findings)
    for secret in (KEY, jwt, "hunter2000"):
        assert secret not in repr(findings)


async def test_the_key_follows_no_redirect(obedient: Obedient) -> None:
    elsewhere = MisbehavingServer()
    try:
        obedient.server.decide = lambda asked: Answer(
            "", 307, {"location": f"{elsewhere.url}/chat/completions"}
        )
        findings = await examined(obedient.url)
        assert worst(findings) == 4
        assert elsewhere.asked == []
    finally:
        elsewhere.close()


def test_the_worst_problem_decides_the_exit_code() -> None:
    codes = [0, 2, 4, 3]
    findings = [Finding("x", State.problem if code else State.ok, "", exit_code=code) for code in codes]
    assert worst(findings) == 4
    assert worst(findings[:1]) == 0
    assert worst([]) == 0
