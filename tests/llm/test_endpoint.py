import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.config.model import EndpointConfig, Provider
from skillopt_exp.errors import UsageError
from skillopt_exp.llm.endpoint import locate, normalised
from skillopt_exp.records import Role


@pytest.mark.parametrize(
    ("given_url", "expected"),
    [
        ("https://api.deepseek.com", "https://api.deepseek.com"),
        ("https://api.deepseek.com/", "https://api.deepseek.com"),
        ("https://host/v1/", "https://host/v1"),
        ("https://host/v1/v1", "https://host/v1"),
        ("https://host//v1//", "https://host/v1"),
        ("https://host/v1/chat/completions", "https://host/v1"),
        ("https://host/v1/v1/chat/completions/", "https://host/v1"),
        ("https://host/openai/deployments/x", "https://host/openai/deployments/x"),
        (" HTTPS://Host:8443/v1 ", "https://host:8443/v1"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("http://127.8.9.1:1/v1", "http://127.8.9.1:1/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
    ],
)
def test_an_address_is_brought_into_one_form(given_url: str, expected: str) -> None:
    assert normalised(given_url) == expected
    assert normalised(expected) == expected


@pytest.mark.parametrize(
    "address",
    [
        "",
        "api.deepseek.com",
        "ftp://host/v1",
        "https://",
        "https://host:port/v1",
        "https://[::1/v1",
        "http://api.deepseek.com/v1",
        "http://localhost.evil.com/v1",
        "http://simulated.invalid/v1",
        "https://user:geheim@host/v1",
        "https://host/v1?api_key=geheim",
        "https://host/v1#geheim",
        "https://geheim@host:x/v1",
    ],
)
def test_an_impossible_or_unencrypted_address_is_refused_without_repeating_secrets(address: str) -> None:
    with pytest.raises(UsageError) as refusal:
        normalised(address, where="model.target.base_url")
    assert "model.target.base_url" in str(refusal.value)
    assert "geheim" not in str(refusal.value)


@given(
    st.sampled_from(["https://h", "https://h:1", "http://localhost"]),
    st.lists(st.sampled_from(["/", "/v1", "/chat/completions", "/x"]), max_size=5),
)
def test_bringing_an_address_into_form_twice_changes_nothing_more(root: str, parts: list[str]) -> None:
    once = normalised(root + "".join(parts))
    assert not once.endswith("/")
    if not once.endswith("/chat/completions"):
        assert normalised(once) == once


def test_a_role_without_an_address_says_how_to_give_one() -> None:
    with pytest.raises(UsageError, match=r"model\.optimizer\.base_url is null"):
        locate(Role.optimizer, EndpointConfig(name="m"))


def test_a_missing_or_broken_key_is_named_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    config = EndpointConfig(name="m", base_url="https://host/v1", api_key_env="SOME_KEY")
    monkeypatch.delenv("SOME_KEY", raising=False)
    with pytest.raises(UsageError, match="SOME_KEY is not set"):
        locate(Role.target, config)
    for broken in ("  ", "two words", "line\nbreak", "sch\u00fcssel"):
        monkeypatch.setenv("SOME_KEY", broken)
        with pytest.raises(UsageError, match="SOME_KEY") as refusal:
            locate(Role.target, config)
        assert broken.strip() == "" or broken not in str(refusal.value)
    monkeypatch.setenv("SOME_KEY", " planted \n")
    endpoint = locate(Role.target, config)
    assert endpoint.key == "planted"
    assert "planted" not in repr(endpoint)
    assert endpoint.clean("key planted refused") == "key [redacted] refused"


def test_a_simulated_role_has_its_own_address_and_no_key() -> None:
    config = EndpointConfig(
        name="m", provider=Provider.simulated, base_url="https://host", api_key_env="SOME_KEY"
    )
    endpoint = locate(Role.target, config)
    assert (endpoint.base_url, endpoint.key) == ("http://simulated.invalid/v1", "none")
