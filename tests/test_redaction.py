import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.errors import UsageError
from skillopt_exp.redaction import BLANK, guard_variables, redact, refuse_secrets, secret_keys

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl"
PLAIN_KEY = "9f3b77c0aa1144d2b1d5"

SHAPES = [
    "sk-abcdef123456",
    "sk-proj-Abc_def-123456",
    "sk_live_4eC39HqLyjWDarjtT1",
    "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_11ABCDEFG0123456789_abcdefghij",
    "hf_abcdefghijklmnopqrstuv",
    "xoxb-123456789012-abcdefghijkl",
    "gsk_abcdefghijklmnop1234",
    "AKIAIOSFODNN7EXAMPLE",
    "AIzaSyA-1234567890abcdefghijklmnopqrstu",
    JWT,
    f"Bearer {PLAIN_KEY}",
]
"""Texts that are secrets as they stand."""

NAMED = [
    ("postgresql://{}@host:5432/db", "me:hunter2secret"),
    ("redis://{}@host/0", ":hunter2secret"),
    ("mysql://{}@host/db", "me:p@ss:word"),
    ("AccountName=store;AccountKey={};EndpointSuffix=core", "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4=="),
    ("Endpoint=sb://bus.example/;SharedAccessKey={}", "Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4="),
    ("https://blob.example/c?sv=2024&sig={}&se=2026", "Zm9vYmFyYmF6cXV4Zm9v%3D"),
    ("Server=db;Uid=me;Password={};", "correct-horse"),
    ("{{'api-key': '{}', 'accept': '*/*'}}", "0123456789abcdef0123456789abcdef"),
    ("x-api-key: {}", "0123456789abcdef0123456789abcdef"),
    ("Authorization: Basic {}", "bWU6aHVudGVyMnNlY3JldA=="),
    ("http://host/?api_key={}", "hunter2"),
    ("http://host/v1?key={}&page=1", "hunter2"),
    ("client_secret='{}', page=1", "hunter2"),
    ("api_key: {}", "hunter2"),
    ("/nowhere/token={}", "hunter2"),
]
"""Texts around a secret that is known by what it stands under."""


@pytest.mark.parametrize(
    "argument",
    [
        "llm.api_key=sk-demo-000",
        "+llm.api_key=hunter2",
        "++model.target.token=abc",
        "model.target.password=abc",
        "note=sk-proj-abcdef123456",
        f"tracking.uri={JWT}",
        "tracking.uri=postgresql://user:pass@host/db",
        "sk-live-abcdef0123456789",
        "+llm={api_key: hunter2}",
        "+llm={url: x, inner: {api_key: hunter2, other: 1}}",
        "hydra.sweeper.params={+llm.api_key: 'hunter2,sk-demo-000'}",
        "+llm.api_key=hunter2,hunter3",
        "+llm.api_key=choice(hunter2,hunter3)",
        "hydra.job.env_set.OPENAI_API_KEY=hunter2",
        "hydra.job.env_copy=[PATH,OPENAI_API_KEY]",
    ],
)
def test_an_argument_that_holds_a_secret_is_refused_and_not_repeated(argument: str) -> None:
    with pytest.raises(UsageError, match="environment variable") as refusal:
        refuse_secrets(["dataset=demo", argument])
    for secret in ("sk-", "hunter2", "abc", "pass@", JWT):
        assert secret not in str(refusal.value)


@pytest.mark.parametrize(
    "argument",
    [
        "model.target.api_key_env=DEEPSEEK_API_KEY",
        "model.target.api_key_env=null",
        "model.target.max_tokens=100",
        "budget.tokens=100000",
        "dataset.path=risk-assessment-2024.jsonl",
        "dataset.path=task-tokens.jsonl",
        "tracking.uri=postgresql://host/db",
        "tracking.uri=http://me@host:5000",
        "dataset=demo",
        "-m",
        "train.seed=1,2,3",
        "dataset.split=[2,1,7]",
        "dataset.fields={question: q, answers: a}",
        "dataset.instruction='Name the token: one word'",
        "hydra.job.env_copy=[PATH]",
        "+llm.api_key=null",
    ],
)
def test_ordinary_arguments_pass(argument: str) -> None:
    refuse_secrets([argument])


def test_secrets_inside_a_text_are_blanked_and_the_rest_stays() -> None:
    text = f"401 for key sk-abcdef123456 and Bearer {JWT} at postgresql://me:secret@host/db"
    assert redact(text) == f"401 for key {BLANK} and {BLANK} at postgresql://{BLANK}@host/db"


@pytest.mark.parametrize("secret", SHAPES)
def test_each_shape_of_a_key_is_blanked(secret: str) -> None:
    assert redact(f"refused: '{secret}', sorry") == f"refused: '{BLANK}', sorry"


@pytest.mark.parametrize(("around", "secret"), NAMED, ids=[around for around, _ in NAMED])
def test_what_stands_under_the_name_of_a_secret_is_blanked(around: str, secret: str) -> None:
    assert redact(around.format(secret)) == around.format(BLANK)


@pytest.mark.parametrize(
    "text",
    [
        "model.target.api_key_env=DEEPSEEK_API_KEY",
        "export DEEPSEEK_API_KEY=... and model.target.api_key_env=DEEPSEEK_API_KEY",
        "DEEPSEEK_API_KEY is not set, and model.target needs it",
        "sqlite:////home/me/project/mlflow.db",
        "http://127.0.0.1:8000/v1/chat/completions",
        "disk-skipped, task-force, ask-me-anything, ghostwriter-of-the-year-2024, sk_learn_models.jsonl",
        "eyJ is how a token begins; Bearer of news",
        "the API key is wrong: look at it",
        "api_key: missing; max_tokens=1000; input_tokens=1234; token: unknown; api_key=null",
        "x-api-key: header missing",
        "Set it (export DEEPSEEK_API_KEY=...), or train without one",
    ],
)
def test_ordinary_texts_stay_as_they_are(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize("variable", ["DEEPSEEK_API_KEY", "HF_TOKEN", "DB_PASSWORD", "CLIENT_SECRET"])
def test_the_value_of_a_variable_that_holds_a_key_is_blanked(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert redact(f"got {PLAIN_KEY}") == f"got {PLAIN_KEY}"
    monkeypatch.setenv(variable, f" {PLAIN_KEY}\n")
    assert redact(f"got {PLAIN_KEY}") == f"got {BLANK}"
    with pytest.raises(UsageError):
        refuse_secrets([f"dataset.instruction={PLAIN_KEY}"])


def test_a_variable_that_the_configuration_names_is_guarded_whatever_its_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("WAY_TO_THE_PROVIDER", PLAIN_KEY)
    assert PLAIN_KEY in redact(PLAIN_KEY)
    guard_variables(["WAY_TO_THE_PROVIDER"])
    assert redact(f"x{PLAIN_KEY}x") == f"x{BLANK}x"


@pytest.mark.parametrize("word", ["none", "ollama", "simulated", "EMPTY", "x1"])
def test_the_words_that_local_servers_get_for_a_key_blank_nothing(
    word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", word)
    assert redact(f"model: {word}") == f"model: {word}"
    refuse_secrets([f"model={word}"])


around_a_secret = st.text(st.sampled_from(string.punctuation + " \n\té→"), max_size=8)


@given(before=around_a_secret, after=around_a_secret, secret=st.sampled_from(SHAPES))
def test_no_shape_survives_whatever_punctuation_is_around_it(before: str, after: str, secret: str) -> None:
    assert secret not in redact(f"{before} {secret} {after}")


@given(text=st.text(max_size=60), secret=st.sampled_from(SHAPES))
def test_redacting_twice_changes_nothing_more(text: str, secret: str) -> None:
    once = redact(f"{text} {secret}")
    assert redact(once) == once


def test_hostile_texts_take_no_time() -> None:
    for unit in (
        "sk-",
        "eyJ",
        "://",
        "://a:",
        "api_key=",
        "-----BEGIN PRIVATE KEY-----",
        "Bearer ",
        "a" * 99,
    ):
        redact(unit * 20_000)


def test_secrets_in_nested_values_are_found_by_their_place() -> None:
    tree = {
        "model": {"target": {"api_key": "hunter2", "api_key_env": "DEEPSEEK_API_KEY", "max_tokens": 5}},
        "notes": ["fine", {"at": f"postgresql://me:{PLAIN_KEY}@host/db"}],
        "empty": {"api_key": None, "token": "", "secret": "???"},
        "hydra": {"job": {"env_copy": ["PATH", "HF_TOKEN"]}},
    }
    assert list(secret_keys(tree)) == ["model.target.api_key", "notes[1].at", "hydra.job.env_copy"]
