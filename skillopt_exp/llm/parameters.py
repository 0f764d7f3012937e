"""Which optional fields a request carries, and what an endpoint taught us about them.

Endpoints differ in what they take. A 400 or 422 that names a field we sent has that field renamed or
left out, once, with a warning, and remembered for host and model as long as the process lives.
"""

import logging
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from skillopt_exp.llm.failure import CONTEXT_EXCEEDED, FILTERED, Failure

if TYPE_CHECKING:
    from skillopt_exp.config.model import EndpointConfig

Fields = Mapping[str, object]
"""Optional top-level fields of a request, by their names on the wire. Never ``model`` or ``messages``."""

OUTPUT_LIMIT, NEW_OUTPUT_LIMIT = "max_tokens", "max_completion_tokens"
RESPONSE_FORMAT = "response_format"
TOOLS = "tools"

_ABOUT_SOMETHING_ELSE = CONTEXT_EXCEEDED | FILTERED | {"model_not_found"}

logger = logging.getLogger(__name__)


def configured_fields(config: "EndpointConfig") -> dict[str, object]:
    """What every request of a role carries besides model and messages; null and default send nothing."""
    fields: dict[str, object] = {
        "temperature": config.temperature,
        OUTPUT_LIMIT: config.max_tokens,
        "reasoning_effort": config.reasoning_effort,
    }
    if config.thinking.name != "default":
        fields["thinking"] = {"type": config.thinking.name}
    return {name: value for name, value in fields.items() if value is not None}


def refused_field(sent: Fields, failure: Failure) -> str | None:
    """The field of ``sent`` that a refusal names, if it names one.

    By the position that the error gives, else by the field's own name as a word in the message. A
    refusal of a prompt too long or of the model is about no field, and an output limit whose number
    the message repeats is known and too high: leaving it out would lift a limit that someone set.
    """
    if not failure.bad_request or failure.codes & _ABOUT_SOMETHING_ELSE:
        return None
    words = [word.strip(".-") for word in re.findall(r"[\w.-]+", failure.said)]
    names = failure.fields or tuple(word.rsplit(".", 1)[-1] for word in words)
    named = next((name for name in names if name in sent), None)
    if named in (OUTPUT_LIMIT, NEW_OUTPUT_LIMIT) and str(sent[named]) in words:
        return None
    return named


def output_limit(sent: Fields) -> int | None:
    """The output limit in tokens that a request carries, under either name."""
    for name in (OUTPUT_LIMIT, NEW_OUTPUT_LIMIT):
        limit = sent.get(name)
        if isinstance(limit, int):
            return limit
    return None


class Dialect:
    """What one model at one host takes. Shared by all clients of it in this process."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._instead: dict[str, str | None] = {}
        self._known: set[str] = set()

    def apply(self, fields: Fields) -> dict[str, object]:
        """``fields`` as this endpoint takes them."""
        taken: dict[str, object] = {}
        for field, value in fields.items():
            name: str | None = field
            while name is not None and name in self._instead:
                name = self._instead[name]
            if name is not None:
                taken[name] = value
        return taken

    def takes(self, field: str) -> bool:
        """Whether ``field`` is sent, under whatever name; as far as is known."""
        return bool(self.apply({field: None}))

    def knows(self, fields: Fields) -> bool:
        """Whether every one of these wire fields was taken once, so that none will be refused."""
        return self._known.issuperset(fields)

    def took(self, fields: Fields) -> None:
        """A request with these wire fields was answered."""
        self._known.update(fields)

    def learn(self, sent: Fields, failure: Failure) -> bool:
        """Whether the same request, put through ``apply`` again, would now be another one."""
        field = refused_field(sent, failure)
        if field is None:
            return False
        if field not in self._instead:
            rename = field == OUTPUT_LIMIT and NEW_OUTPUT_LIMIT not in sent
            self._instead[field] = NEW_OUTPUT_LIMIT if rename else None
            change = f"sent as {NEW_OUTPUT_LIMIT}" if rename else "left out"
            logger.warning("%s does not take %s; it is %s from now on", self._name, field, change)
        return True


_DIALECTS: dict[tuple[str, str], Dialect] = {}


def dialect_of(host: str, model: str) -> Dialect:
    """What this process knows of ``model`` at ``host``."""
    return _DIALECTS.setdefault((host, model), Dialect(f"{model} at {host}"))
