"""``model``: the two roles, each with an endpoint, a name and parameters of its own."""

import math
import re
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from typing import Any

from skillopt_exp.config.key import Affects, key
from skillopt_exp.errors import UsageError

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Provider(Enum):
    """How a role is reached: over HTTP, or by the embedded simulation."""

    openai_compatible = "openai_compatible"
    simulated = "simulated"


class Thinking(Enum):
    """What is sent about thinking; ``default`` sends nothing."""

    default = "default"
    enabled = "enabled"
    disabled = "disabled"


@dataclass(kw_only=True)
class PriceConfig:
    """US dollars for a million tokens, as of ``date``. Null is unknown, which is not free.

    Cached input without a price is billed as input, which is the most that it can cost.

    A call sent within ``peak_hours`` on one of ``peak_weekdays`` costs the peak prices instead.
    """

    date: str | None = key(
        None, affects=Affects.nothing, help="the day these prices were read, as 2026-12-01"
    )
    input: float | None = key(None, affects=Affects.nothing, help="USD per million input tokens")
    cached_input: float | None = key(
        None,
        affects=Affects.nothing,
        help="USD per million cached input tokens; null bills them as input, an upper bound",
    )
    output: float | None = key(None, affects=Affects.nothing, help="USD per million output tokens")
    peak_hours: list[list[int]] = key(
        factory=list,
        affects=Affects.nothing,
        help="when the peak prices hold: pairs of whole hours in UTC, from and until, as [[1, 4], [6, 10]]",
    )
    peak_weekdays: list[int] = key(
        factory=lambda: [1, 2, 3, 4, 5],
        affects=Affects.nothing,
        help="days with peak hours, in UTC; 1 is Monday. Public holidays are not known",
    )
    peak_input: float | None = key(None, affects=Affects.nothing, help="the same as input, at peak hours")
    peak_cached_input: float | None = key(
        None, affects=Affects.nothing, help="the same as cached_input, at peak hours"
    )
    peak_output: float | None = key(None, affects=Affects.nothing, help="the same as output, at peak hours")

    def __post_init__(self) -> None:
        if self.date is not None and not _is_date(self.date):
            raise UsageError(f"price.date is {self.date!r}; give a day as 2026-12-01, or null")
        for name in ("input", "cached_input", "output", "peak_input", "peak_cached_input", "peak_output"):
            price = getattr(self, name)
            if price is not None and not 0 <= price < math.inf:
                raise UsageError(f"price.{name} is {price}; give US dollars for a million tokens, or null")
        for pair in self.peak_hours:
            if len(pair) != 2 or not 0 <= pair[0] < pair[1] <= 24:
                raise UsageError(
                    f"price.peak_hours has {pair}; give two whole hours, from and until, as [1, 4]; "
                    "hours across midnight are two pairs"
                )
        if not all(1 <= day <= 7 for day in self.peak_weekdays):
            raise UsageError(f"price.peak_weekdays is {self.peak_weekdays}; give days from 1, Monday, to 7")
        if (self.peak_input, self.peak_cached_input, self.peak_output) != (None,) * 3 and not self.peak_hours:
            raise UsageError("price has peak prices, but price.peak_hours is empty; say when they hold")


def _is_date(text: str) -> bool:
    try:
        # Other forms of ISO 8601 are read as well, and would be shown to people.
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


@dataclass(kw_only=True)
class EndpointConfig:
    """One role: where it is, what it is called, how it is asked."""

    provider: Provider = key(
        Provider.openai_compatible, affects=Affects.result, help="how the role is reached"
    )
    base_url: str | None = key(None, affects=Affects.result, help="the OpenAI-compatible address, up to /v1")
    api_key_env: str | None = key(
        None,
        affects=Affects.nothing,
        help="NAME of the environment variable that holds the key; null sends none",
    )
    name: str = key(affects=Affects.result, help="the model's name at the provider")
    revision: str | None = key(
        None, affects=Affects.result, help="tells answers of one name apart, when the model behind it changes"
    )
    temperature: float | None = key(None, affects=Affects.result, help="null sends nothing")
    max_tokens: int | None = key(
        None, affects=Affects.result, help="output limit of one reply; null sends nothing"
    )
    reasoning_effort: str | None = key(None, affects=Affects.result, help="null sends nothing")
    thinking: Thinking = key(Thinking.default, affects=Affects.result, help="default sends nothing")
    timeout: float = key(300.0, affects=Affects.nothing, help="seconds that one request may take")
    max_retries: int = key(6, affects=Affects.cost, help="how often an unanswered request is sent again")
    max_concurrency: int = key(8, affects=Affects.nothing, help="requests under way at once at this endpoint")
    price: PriceConfig = key(factory=PriceConfig, affects=Affects.nothing, help="what tokens cost")

    def __post_init__(self) -> None:
        if self.max_concurrency < 1:
            raise UsageError(
                f"max_concurrency of model {self.name!r} is {self.max_concurrency}; give 1 or more"
            )
        if not self.name.strip() or not self.name.isprintable():
            raise UsageError(
                f"the name of a model is {self.name!r}; give it as its provider does, on one line"
            )
        if self.api_key_env is not None and not _VARIABLE.fullmatch(self.api_key_env):
            # It may be a key that stands where its variable's name should: not repeated.
            raise UsageError(
                f"api_key_env of model {self.name!r} is no name of an environment variable; put the key into "
                "a variable and give its NAME, as DEEPSEEK_API_KEY"
            )
        if not 0 < self.timeout < math.inf:
            raise UsageError(f"timeout of model {self.name!r} is {self.timeout}; give seconds above 0")
        if self.temperature is not None and not 0 <= self.temperature < math.inf:
            raise UsageError(
                f"temperature of model {self.name!r} is {self.temperature}; give 0 or more, or null"
            )
        if self.max_retries < 0:
            raise UsageError(f"max_retries of model {self.name!r} is {self.max_retries}; give 0 or more")
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(
                f"max_tokens of model {self.name!r} is {self.max_tokens}; give 1 or more, or null"
            )


@dataclass(kw_only=True)
class ModelConfig:
    """The two roles. ``model/target=ollama`` swaps one of them."""

    target: EndpointConfig = key(affects=Affects.result, help="the frozen model that does the tasks")
    optimizer: EndpointConfig = key(affects=Affects.result, help="the model that edits the skill")
    max_error_rate: float = key(
        0.1,
        affects=Affects.nothing,
        help="share of the last calls that may stay unanswered before a run pauses",
    )

    def __post_init__(self) -> None:
        if not 0 <= self.max_error_rate < 1:
            raise UsageError(f"model.max_error_rate is {self.max_error_rate}; give a share in [0, 1)")

    def target_alone(self) -> "ModelConfig":
        """The same where the optimizer is never asked: it needs no place of its own, no key and no money."""
        free = PriceConfig(input=0.0, output=0.0)
        return replace(self, optimizer=replace(self.target, api_key_env=None, max_tokens=1, price=free))


SCHEMAS: dict[str, Any] = {"base_endpoint": EndpointConfig}
