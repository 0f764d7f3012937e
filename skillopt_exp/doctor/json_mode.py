"""Whether the optimizer's replies can be read as JSON, in JSON mode or without it."""

from collections.abc import Mapping

from skillopt_exp.doctor.finding import Finding, fine, problem, warned
from skillopt_exp.doctor.prompts import JSON
from skillopt_exp.doctor.wire import Exchange, Wire
from skillopt_exp.errors import ProviderError
from skillopt_exp.llm.json_reply import Unparsable, parse
from skillopt_exp.llm.parameters import RESPONSE_FORMAT
from skillopt_exp.records import Role

_ROLE = Role.optimizer


async def examine_json(wire: Wire, fields: Mapping[str, object]) -> Finding:
    """Ask for JSON in JSON mode, and where that brings none without it, as training does."""
    in_mode = await wire.send(JSON, {**fields, RESPONSE_FORMAT: {"type": "json_object"}})
    if _is_json(in_mode):
        return fine(_ROLE, "JSON mode: taken, and its reply is JSON")
    if in_mode.reply is None and not in_mode.refused:
        return warned(_ROLE, f"JSON mode: could not be tried ({in_mode.said})")
    how = f"refused ({in_mode.said})" if in_mode.refused else "its reply is no JSON"
    plain = await wire.send(JSON, fields)
    if _is_json(plain):
        return warned(
            _ROLE, f"JSON mode: {how}; training goes on without it, and the replies are JSON all the same"
        )
    if plain.reply is not None and plain.reply.truncated:
        return warned(
            _ROLE,
            f"JSON mode: {how}, and without it the reply was cut before it ended",
            "give it more room: model.optimizer.max_tokens=null",
        )
    return problem(
        _ROLE,
        f"JSON mode: {how}, and without it the reply is no JSON either: no edit could be read",
        ProviderError,
        "take another model for the role: model.optimizer.name=...",
    )


def _is_json(exchange: Exchange) -> bool:
    if exchange.reply is None:
        return False
    try:
        parse(exchange.reply.content)
    except Unparsable:
        return False
    return True
