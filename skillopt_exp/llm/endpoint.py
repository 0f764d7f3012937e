"""Where a role's model is: one checked address, and the key that goes there and nowhere else."""

import ipaddress
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit, urlunsplit

from skillopt_exp.errors import UsageError
from skillopt_exp.records import Role
from skillopt_exp.redaction import BLANK, redact

if TYPE_CHECKING:
    from skillopt_exp.config.model import EndpointConfig

SIMULATED_URL = "http://simulated.invalid/v1"
"""The address of the embedded models; ``.invalid`` can never be a real host (RFC 2606)."""

NO_KEY = "none"
"""Sent where a role has no key: local servers want some key, and no real one may go to them."""

SHORTEST_REAL_KEY = 16
"""Characters."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One role's model at its address. ``key_env`` is the NAME of the variable the key came from."""

    role: Role
    model: str
    base_url: str
    key_env: str | None = None
    key: str = field(default=NO_KEY, repr=False)

    @property
    def url(self) -> str:
        """Where requests are sent, as shown in messages."""
        return f"{self.base_url}/chat/completions"

    @property
    def host(self) -> str:
        """Host with port."""
        return urlsplit(self.base_url).netloc

    @property
    def place(self) -> str:
        """Host with port and path prefix: where it is, whatever it is reached by."""
        return self.base_url.partition("://")[2]

    def without_key(self, response: str) -> str:
        """``response`` without the key, should the server have echoed it; it will be kept.

        Nothing else is taken for a secret, since a change would change an answer. Nor are the short
        words that local servers get for a key: an answer may well hold those.
        """
        return response if len(self.key) < SHORTEST_REAL_KEY else response.replace(self.key, BLANK)

    def clean(self, text: str) -> str:
        """``text`` fit to be shown: without the key, without anything shaped like one."""
        known = text if self.key == NO_KEY else text.replace(self.key, BLANK)
        return redact(known)


def locate(role: Role, config: "EndpointConfig") -> Endpoint:
    """The endpoint that ``config`` describes, its key read from the environment.

    Raises:
        UsageError: no address, an impossible or unencrypted one, or a missing or broken key.
    """
    from skillopt_exp.config.model import Provider

    if config.provider is Provider.simulated:
        return Endpoint(role, config.name, SIMULATED_URL)
    if config.base_url is None:
        raise UsageError(
            f"model.{role}.base_url is null: where is model {config.name!r}? Set it, as in "
            f"model.{role}.base_url=https://host/v1 (model=openai_compatible also reads OPENAI_BASE_URL)"
        )
    base_url = normalised(config.base_url, where=f"model.{role}.base_url")
    if config.api_key_env is None:
        return Endpoint(role, config.name, base_url)
    return Endpoint(role, config.name, base_url, config.api_key_env, _key(config.api_key_env, role))


def normalised(address: str, *, where: str = "base_url") -> str:
    """``address`` as a base URL: no slash at the end, no doubled ``/v1``, no ``/chat/completions``.

    Raises:
        UsageError: it is no HTTP address, holds more than one, or would send the key unencrypted.
    """
    parts = _split(address, where)
    path = [part for part in parts.path.split("/") if part]
    if path[-2:] == ["chat", "completions"]:
        path = path[:-2]
    while path[-2:] == ["v1", "v1"]:
        path = path[:-1]
    return urlunsplit((parts.scheme.lower(), parts.netloc.lower(), "/".join(["", *path]), "", ""))


def read_key(variable: str) -> str:
    """The key that ``variable`` holds, without surrounding blanks; empty when there is none."""
    return os.environ.get(variable, "").strip()


def _key(variable: str, role: Role) -> str:
    key = read_key(variable)
    if not key:
        raise UsageError(f"{variable} is not set, and model.{role} needs it: export {variable}=...")
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise UsageError(
            f"{variable} holds something that is no key (blanks, line breaks or non-ASCII characters "
            f"inside); export it again, the bare key alone"
        )
    return key


def _split(address: str, where: str) -> SplitResult:
    shown = _without_secrets(address.strip())
    try:
        parts = urlsplit(address.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise UsageError(f"{where} is {shown!r}, which is no address; give https://host/v1") from error
    if parts.scheme.lower() not in ("http", "https") or not host:
        raise UsageError(f"{where} is {shown!r}; give the whole address, as in https://host/v1")
    if parts.username is not None or parts.password is not None:
        raise UsageError(
            f"{where} has a user or password in it; a run saves its configuration in clear text. "
            "Put the key into an environment variable and name that in api_key_env"
        )
    if parts.query or parts.fragment:
        raise UsageError(f"{where} is {shown!r}; leave out what follows '?' or '#'")
    if parts.scheme.lower() == "http" and not _is_local(host):
        raise UsageError(
            f"{where} is {shown!r}: prompts and keys would travel unencrypted. Use https://, or reach "
            "the server through a tunnel on localhost"
        )
    return parts


def _without_secrets(address: str) -> str:
    """``address`` to be shown: no user or password, nothing after '?' or '#'."""
    return redact(re.sub(r"//.*@", "//", re.split(r"[?#]", address)[0]))


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
