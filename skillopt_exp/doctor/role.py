"""One role, with a handful of tiny calls: answered, and by what; parameters; prompts; usage; JSON."""

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from skillopt_exp import llm
from skillopt_exp.config.model import EndpointConfig, ModelConfig, Provider
from skillopt_exp.doctor.finding import Finding, fine, problem, warned
from skillopt_exp.doctor.json_mode import examine_json
from skillopt_exp.doctor.local import how_to_start
from skillopt_exp.doctor.parameters import examine_parameters
from skillopt_exp.doctor.prompts import CANARIES, READY, Arrival
from skillopt_exp.doctor.wire import Exchange, Wire, open_wire
from skillopt_exp.errors import OutageError, ProviderError, ReplyFault
from skillopt_exp.llm.activity import Activity
from skillopt_exp.llm.base import Stage
from skillopt_exp.llm.connect import Models, by_role
from skillopt_exp.llm.endpoint import Endpoint
from skillopt_exp.records import Message, Role

if TYPE_CHECKING:
    import httpx2

PATIENCE = 60.0
"""Seconds that one call of an examination may take, however patient a run is."""

A_CHECK = Activity(halts="no answer", again="check again", command="check again with")


async def examine_role(
    role: Role, config: ModelConfig, endpoint: Endpoint, transport: "httpx2.AsyncBaseTransport | None"
) -> list[Finding]:
    """Ask the model of ``role``. ``transport`` leads to the embedded models, for a role that is one."""
    settings = by_role(config)[role]
    hasty = replace(
        settings, timeout=min(settings.timeout, PATIENCE), max_retries=min(settings.max_retries, 1)
    )
    async with open_wire(endpoint, hasty, transport) as wire:
        answered = await _answers(role, config, hasty, endpoint, transport)
        if answered.exit_code:
            embedded = settings.provider is Provider.simulated
            advice = (
                "" if embedded else await how_to_start(endpoint) or await _other_address(role, endpoint, wire)
            )
            return [replace(answered, advice=advice)]
        canary = CANARIES[0]
        taken = await examine_parameters(role, hasty, wire, canary.prompt)
        findings = [answered, *taken.findings]
        if settings.provider is Provider.simulated:
            findings.append(fine(role, "prompts: embedded, so nothing lies between it and them"))
        else:
            findings.append(await _prompt(role, wire, taken.fields, taken.exchange))
        findings.append(_usage(role, taken.exchange))
        if role is Role.optimizer:
            findings.append(await examine_json(wire, taken.fields))
        return findings


async def _answers(
    role: Role,
    config: ModelConfig,
    settings: EndpointConfig,
    endpoint: Endpoint,
    transport: "httpx2.AsyncBaseTransport | None",
) -> Finding:
    """One call through the client that training uses. The other role's endpoint is not needed for it."""
    alone = replace(config, target=settings, optimizer=settings)
    started = time.perf_counter()
    try:
        async with llm.connect(alone, transport=transport, activity=A_CHECK) as models:
            fault = await _ask(role, models)
            seconds = time.perf_counter() - started
            named = ", ".join(models.meter.answering_models(role))
    except (ProviderError, OutageError) as error:
        return problem(role, str(error), ProviderError)
    by = f"as {named}" if named else "without naming its model"
    where = "in this process" if settings.provider is Provider.simulated else f"at {endpoint.url}"
    said = f"{endpoint.model} answered {by} in {seconds:.1f} s, {where}"
    if fault is not None:
        return warned(
            role,
            f"{said}; but the reply cannot be used ({fault})",
            f"give it more room, model.{role}.max_tokens=null, or take another model",
        )
    return fine(role, said)


async def _ask(role: Role, models: Models) -> ReplyFault | None:
    chat, stage = {
        Role.target: (models.target, Stage.rollout),
        Role.optimizer: (models.optimizer, Stage.reflect),
    }[role]
    try:
        await chat.ask([Message("user", READY)], stage=stage)
    except ReplyFault as fault:
        return fault
    return None


async def _other_address(role: Role, endpoint: Endpoint, wire: Wire) -> str:
    """Where it may be instead, when nothing is at the address: most servers want /v1."""
    if not (await wire.send(READY, {})).nothing_there:
        return ""
    parts = urlsplit(endpoint.base_url)
    tried = dict.fromkeys((f"{endpoint.base_url}/v1", f"{parts.scheme}://{parts.netloc}/v1"))
    others = [url for url in tried if url != endpoint.base_url and not url.endswith("/v1/v1")]
    for url in others:
        if (await wire.send(READY, {}, base_url=url)).reply is not None:
            return f"it does answer at {url}: set model.{role}.base_url={url}"
    if not others:
        return ""
    return f"most servers want /v1 at the end, but nothing answers at {' or '.join(others)} either"


async def _prompt(role: Role, wire: Wire, fields: Mapping[str, object], first: Exchange) -> Finding:
    """Whether the last line of a prompt arrives; ``first`` is the exchange about the first canary."""
    arrivals = []
    for canary, exchange in zip(CANARIES, (first, None), strict=True):
        sent = exchange if exchange is not None else await wire.send(canary.prompt, fields)
        if sent.reply is None:
            return warned(role, f"prompts: one of several lines got no reply ({sent.said})")
        arrivals.append(canary.arrival(sent.reply))
        if arrivals[-1] is Arrival.whole:
            return fine(role, "prompts: several lines arrive, the last one too")
    if Arrival.cut in arrivals:
        return problem(
            role,
            "prompts: the last line does not arrive: the model tells the word of an early line, "
            "and not the one of the last",
            ProviderError,
            "something on the way cuts prompts at a line break, such as a wrapper around a command "
            f"line; set model.{role}.base_url to the server itself",
        )
    return warned(
        role,
        "prompts: the model repeats no line, so it cannot be told whether the last one arrives",
        "expected of very weak models only",
    )


def _usage(role: Role, exchange: Exchange) -> Finding:
    usage = exchange.reply.usage if exchange.reply is not None else None
    if usage is None or usage.input_tokens is None or usage.output_tokens is None:
        return warned(
            role,
            "usage: tokens are not reported, so what a run costs stays unknown",
            "cap with budget.calls=...",
        )
    return fine(
        role,
        f"usage: tokens are reported: {usage.input_tokens} in, {usage.output_tokens} out for a tiny call",
    )
