import pytest

from skillopt_exp.errors import UsageError
from skillopt_exp.redaction import BLANK, redact, refuse_secrets

JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl"


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
        "model.target.max_tokens=100",
        "dataset.path=risk-assessment-2024.jsonl",
        "dataset.path=task-tokens.jsonl",
        "tracking.uri=postgresql://host/db",
        "dataset=demo",
        "-m",
        "train.seed=1,2,3",
    ],
)
def test_ordinary_arguments_pass(argument: str) -> None:
    refuse_secrets([argument])


def test_secrets_inside_a_text_are_blanked_and_the_rest_stays() -> None:
    text = f"401 for key sk-abcdef123456 and Bearer {JWT} at postgresql://me:secret@host/db"
    assert redact(text) == f"401 for key {BLANK} and {BLANK} at postgresql://{BLANK}@host/db"
