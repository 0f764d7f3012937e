"""From what the HTTP client raised to a ``Failure``, and from a ``Failure`` to what a user is told."""

import json
import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime

import openai

from skillopt_exp.errors import OutageError, ProviderError
from skillopt_exp.llm.activity import Activity
from skillopt_exp.llm.endpoint import Endpoint
from skillopt_exp.llm.failure import BILLING_STOPS, Failure, codes_of
from skillopt_exp.llm.health import Health

_LONGEST_QUOTE = 500
_MOST_CAUSES = 3


def failure_of(error: openai.APIError, *, now: float) -> Failure:
    """Read what the client raised. ``now`` is seconds since the epoch, for dates in ``Retry-After``."""
    if not isinstance(error, openai.APIStatusError):
        cause = error.__cause__
        detail = f" ({type(cause).__name__}: {cause})" if cause is not None else ""
        return Failure(f"{error.message.rstrip('.')}{detail}")
    response = error.response
    html = "html" in response.headers.get("content-type", "") or response.text.lstrip().startswith("<")
    if response.is_redirect:
        said = f"moved to {response.headers.get('location', 'an unnamed place')}"
    else:
        said = "an HTML page" if html else _words(error.body)
    return Failure(
        said,
        status=error.status_code,
        codes=codes_of(error.body),
        fields=_fields(error),
        retry_after=seconds_to_wait(response.headers.get("retry-after"), now=now),
        html=html,
    )


def seconds_to_wait(header: str | None, *, now: float) -> float | None:
    """``Retry-After`` in seconds, never negative; it holds seconds or an HTTP date. None if unreadable."""
    text = (header or "").strip()
    if re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp() - now)


def refusal_of(endpoint: Endpoint, failure: Failure) -> ProviderError:
    """What a user is told of a call that was refused for good: what, where, and what to look at."""
    return ProviderError(f"{cause_of(endpoint, failure)}. {_advice(endpoint, failure)}")


def cause_of(endpoint: Endpoint, failure: Failure) -> str:
    """One failed call with its role, model and address."""
    asked_to_wait = "" if failure.retry_after is None else f" (it asks to wait {failure.retry_after:.0f} s)"
    verb = (
        f"did not answer: {failure}{asked_to_wait}" if failure.retried else f"refused the request: {failure}"
    )
    return f"model.{endpoint.role} (model {endpoint.model!r} at {endpoint.url}) {verb}"


def outage_of(endpoint: Endpoint, health: Health, activity: Activity) -> OutageError:
    """What a user is told when ``activity`` halts because ``endpoint`` does not answer."""
    causes = health.causes
    named = "; ".join(causes[:_MOST_CAUSES])
    more = f"; and {len(causes) - _MOST_CAUSES} more causes" if len(causes) > _MOST_CAUSES else ""
    return OutageError(
        f"{activity.halts}: {health.unanswered} of the last {health.judged} calls stayed unanswered, however "
        f"often they were sent. {named}{more}. "
        f"Look at the provider's status page{_and_key(endpoint)}, then {activity.again}"
    )


def _advice(endpoint: Endpoint, failure: Failure) -> str:
    """What to look at, by status and code."""
    role, status = endpoint.role, failure.status
    if failure.html:
        hint = "" if endpoint.base_url.endswith("/v1") else f"; try {endpoint.base_url}/v1"
        return f"A web page answers there; check model.{role}.base_url{hint}"
    if status == 402 or failure.codes & BILLING_STOPS:
        return f"The account has no balance left; top it up, or use another{_key_name(endpoint)}"
    if status in (401, 403):
        if endpoint.key_env is None:
            return f"No key was sent; name its environment variable: model.{role}.api_key_env=..."
        return f"Is the key in {endpoint.key_env} right, and made for this host and model?"
    if status is not None and 300 <= status < 400:
        return f"Redirects are not followed, lest a key go astray; set model.{role}.base_url to the new place"
    if status == 404:
        return f"Check model.{role}.name and model.{role}.base_url{_and_key(endpoint)}"
    return f"Check the parameters under model.{role}{_and_key(endpoint)}"


def _and_key(endpoint: Endpoint) -> str:
    return "" if endpoint.key_env is None else f" and the key in {endpoint.key_env}"


def _key_name(endpoint: Endpoint) -> str:
    return " endpoint" if endpoint.key_env is None else f" key in {endpoint.key_env}"


def _words(body: object) -> str:
    """The provider's own words, in one line of bounded length."""
    match body:
        case {"message": str(text)} | {"error": str(text)} | {"detail": str(text)} | str(text):
            words = text
        case _:
            words = json.dumps(body, ensure_ascii=False, default=str)
    words = " ".join(words.split()) or "no message"
    return words if len(words) <= _LONGEST_QUOTE else f"{words[:_LONGEST_QUOTE]}..."


def _fields(error: openai.APIStatusError) -> tuple[str, ...]:
    """The request fields that an error names by position: ``param``, or ``loc`` of validation details."""
    if error.param:
        return (error.param.rsplit(".", 1)[-1],)
    details = error.body.get("detail") if isinstance(error.body, Mapping) else None
    if not isinstance(details, list):
        return ()
    places = [detail.get("loc") for detail in details if isinstance(detail, Mapping)]
    return tuple(str(place[-1]) for place in places if isinstance(place, list) and place)
