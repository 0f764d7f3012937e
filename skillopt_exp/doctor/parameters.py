"""Each configured parameter: taken, refused, or taken without an effect that could be seen."""

from collections.abc import Mapping
from dataclasses import dataclass

from skillopt_exp.config.model import EndpointConfig
from skillopt_exp.doctor.finding import Finding, fine, warned
from skillopt_exp.doctor.prompts import LIMIT, LONG_ANSWER
from skillopt_exp.doctor.wire import Exchange, Wire
from skillopt_exp.llm.parameters import NEW_OUTPUT_LIMIT, OUTPUT_LIMIT, configured_fields
from skillopt_exp.llm.reply import Reply
from skillopt_exp.records import Role

NO_EFFECT = "taken, with no observable effect"

_QUIET_EFFORTS = frozenset({"none", "minimal", "low"})
"""Efforts at which no reasoning on a tiny question is no surprise."""

_CHARS_OF_LIMIT = 16 * LIMIT
"""Characters that no tokenizer puts into ``LIMIT`` tokens of numbers."""


@dataclass(frozen=True, slots=True)
class Taken:
    """The optional fields that the endpoint takes, by their names on its wire, and its reply with them."""

    fields: Mapping[str, object]
    exchange: Exchange
    findings: tuple[Finding, ...]


async def examine_parameters(role: Role, settings: EndpointConfig, wire: Wire, prompt: str) -> Taken:
    """Send ``prompt`` with all configured fields at once, and where that is refused with each alone."""
    wanted = configured_fields(settings)
    exchange = await wire.send(prompt, wanted)
    if not wanted:
        said = "parameters: none is configured; the provider's defaults apply"
        return Taken({}, exchange, (fine(role, said),))
    findings: list[Finding] = []
    fields: dict[str, object] = dict(wanted)
    if exchange.refused:
        fields = {}
        for name, value in wanted.items():
            taken_as, finding = await _alone(role, wire, name, value)
            if taken_as is not None:
                fields[taken_as] = value
            if finding is not None:
                findings.append(finding)
        exchange = await wire.send(prompt, fields)
    for name in fields:
        findings.append(await _effect(role, settings, wire, name, exchange.reply))
    return Taken(fields, exchange, tuple(findings))


async def _alone(role: Role, wire: Wire, name: str, value: object) -> tuple[str | None, Finding | None]:
    """The name under which the endpoint takes one field, if any, and what to say of a refusal."""
    exchange = await wire.send(
        LONG_ANSWER if name == OUTPUT_LIMIT else "Reply with one word: yes", {name: value}
    )
    if not exchange.refused:
        return name, None
    if name == OUTPUT_LIMIT and not (await wire.send(LONG_ANSWER, {NEW_OUTPUT_LIMIT: value})).refused:
        return NEW_OUTPUT_LIMIT, fine(role, f"{name}: refused by this name; sent as {NEW_OUTPUT_LIMIT}")
    return None, warned(
        role,
        f"{name}: refused ({exchange.said}); training leaves it out",
        f"model.{role}.{name}={'default' if name == 'thinking' else 'null'} says so in the configuration",
    )


async def _effect(
    role: Role, settings: EndpointConfig, wire: Wire, name: str, reply: Reply | None
) -> Finding:
    if name in (OUTPUT_LIMIT, NEW_OUTPUT_LIMIT):
        return _limit_effect(role, name, await wire.send(LONG_ANSWER, {name: LIMIT}))
    if reply is None:
        return fine(role, f"{name}: taken")
    reasoned = bool(reply.reasoning) or bool(reply.usage and reply.usage.reasoning_tokens)
    if name == "temperature":
        if reasoned:
            return warned(
                role,
                f"{name}: taken, but the model reasons, and most providers then ignore it without a word",
                f"model.{role}.temperature=null, or model.{role}.thinking=disabled",
            )
        return fine(role, f"{name}: taken; one reply cannot show its effect")
    wanted = _wants_reasoning(name, settings)
    if wanted is None or wanted == reasoned:
        return fine(role, f"{name}: taken; {'reasoning' if reasoned else 'no reasoning'} came back")
    said = "no reasoning came back" if wanted else "reasoning came back all the same"
    return warned(
        role,
        f"{name}: {NO_EFFECT}: {said}",
        "see in the provider's manual how this model is told; or set the key to null or default",
    )


def _limit_effect(role: Role, name: str, exchange: Exchange) -> Finding:
    """Whether an output limit of a few tokens cut a long answer."""
    reply = exchange.reply
    if reply is None:
        return warned(role, f"{name}: taken, but not at {LIMIT} tokens ({exchange.said})")
    output = reply.usage.output_tokens if reply.usage else None
    if reply.finish_reason == "length":
        return fine(role, f"{name}: taken, and it limits: at {LIMIT} tokens a long answer was cut")
    over = len(reply.content) > _CHARS_OF_LIMIT if output is None else output > LIMIT
    if over:
        return warned(
            role,
            f"{name}: {NO_EFFECT}: the answer was longer than the {LIMIT} tokens asked for",
            "budgets in USD or tokens cannot be held by limits here; cap with budget.calls=...",
        )
    return fine(role, f"{name}: taken; the reply was too short to show its effect")


def _wants_reasoning(name: str, settings: EndpointConfig) -> bool | None:
    """Whether a setting asks for reasoning; None where either outcome agrees with it."""
    if name == "thinking":
        return settings.thinking.name == "enabled"
    if settings.reasoning_effort in _QUIET_EFFORTS:
        return None if settings.reasoning_effort != "none" else False
    return True
