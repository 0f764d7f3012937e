"""A server whose model does what it is told, and what tests of the examination share."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from llm.misbehaving import Answer, Asked, MisbehavingServer, refuses, says

from skillopt_exp.config.model import EndpointConfig, ModelConfig
from skillopt_exp.doctor.finding import Finding
from skillopt_exp.doctor.keys import examine_keys
from skillopt_exp.doctor.role import examine_role
from skillopt_exp.records import Role

KEY = "planted-key-5f1c9a-doctor"
USAGE = {"prompt_tokens": 40, "completion_tokens": 12}


@dataclass
class Obedient:
    """Answers the examination's prompts as a good model would, but for what it is told to get wrong.

    ``refuse`` are the fields that a 400 names; ``sees`` is what reaches the model of a prompt.
    """

    refuse: set[str] = field(default_factory=set)
    ignore: set[str] = field(default_factory=set)
    sees: Callable[[str], str] = str
    json_text: str = '{"ready": true}'
    reasoning: str | None = None
    usage: dict[str, Any] | None = field(default_factory=lambda: dict(USAGE))
    path: str = "/v1/chat/completions"

    def __post_init__(self) -> None:
        self.server = MisbehavingServer()
        self.server.decide = self._answer

    @property
    def url(self) -> str:
        return self.server.url

    def close(self) -> None:
        self.server.close()

    def _answer(self, asked: Asked) -> Answer:
        if asked.path != self.path:
            return Answer("<html>not here</html>", 404, content_type="text/html")
        for name in sorted(self.refuse & asked.body.keys()):
            return refuses(400, f"Unsupported parameter: {name}", param=name)
        seen = self.sees(asked.body["messages"][0]["content"])
        extra = {} if self.reasoning is None else {"reasoning_content": self.reasoning}
        limit = asked.body.get("max_tokens", asked.body.get("max_completion_tokens"))
        limited = limit is not None and "max_tokens" not in self.ignore
        if "Count from" in seen:
            cut = limited and limit <= 100
            numbers = ", ".join(map(str, range(1, 7 if cut else 61)))
            tokens = {"prompt_tokens": 20, "completion_tokens": limit if cut else 180}
            return says(numbers, finish="length" if cut else "stop", usage=self.usage and tokens, **extra)
        if "JSON" in seen:
            return says(self.json_text, usage=self.usage, **extra)
        words = re.findall(r"\b[A-Z]{6,}\b", seen)
        return says(" ".join(words) or "ready", usage=self.usage, **extra)


async def examined(url: str, role: Role = Role.target, **settings: Any) -> list[Finding]:
    """What is found about one role at ``url``, whose key is in TEST_MODEL_KEY."""
    endpoint = EndpointConfig(
        name="small", base_url=url, api_key_env="TEST_MODEL_KEY", max_retries=0, **settings
    )
    config = ModelConfig(target=endpoint, optimizer=endpoint)
    _, endpoints = examine_keys(config)
    return await examine_role(role, config, endpoints[role], None)


def about(findings: list[Finding], topic: str) -> Finding:
    """The one finding whose text begins with ``topic``."""
    (found,) = (finding for finding in findings if finding.said.startswith(topic))
    return found
