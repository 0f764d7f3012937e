"""Keys by the NAMES of their variables, and the addresses that they go to. Nothing is sent."""

from collections.abc import Mapping

from skillopt_exp.checks.models import check_addresses, check_keys
from skillopt_exp.config.model import ModelConfig
from skillopt_exp.doctor.finding import Finding, fine, told, warned
from skillopt_exp.llm.endpoint import Endpoint
from skillopt_exp.records import Role


def examine_keys(config: ModelConfig) -> tuple[list[Finding], Mapping[Role, Endpoint]]:
    """The findings, and the endpoints of the roles that can be asked."""
    addresses, endpoints = check_addresses(config, tuple(Role))
    findings = [*told("keys", check_keys(config, tuple(Role))), *told("addresses", addresses)]
    findings += [_key(variable, to) for variable, to in _hosts(endpoints).items()]
    if not findings:
        findings.append(fine("keys", "none is configured, none is sent"))
    return findings, endpoints


def _hosts(endpoints: Mapping[Role, Endpoint]) -> dict[str, list[str]]:
    """Where the key of each variable goes."""
    hosts: dict[str, list[str]] = {}
    for endpoint in endpoints.values():
        if endpoint.key_env is not None and endpoint.host not in hosts.setdefault(endpoint.key_env, []):
            hosts[endpoint.key_env].append(endpoint.host)
    return hosts


def _key(variable: str, hosts: list[str]) -> Finding:
    if len(hosts) > 1:
        return warned(
            "keys",
            f"{variable} is set, and goes to {len(hosts)} hosts: {', '.join(hosts)}",
            "a key is made for one provider; give each role its own with "
            "model.target.api_key_env=... and model.optimizer.api_key_env=...",
        )
    return fine("keys", f"{variable} is set; goes to {hosts[0]} alone")
