"""A key anywhere in a command line: refused, and repeated nowhere, whatever else is wrong with it."""

from pathlib import Path

import pytest

from skillopt_exp.__main__ import main

KNOWN = "0f9d8c7b6a5e4d3c2b1a0987planted"
"""The value of a variable that holds a key; it has no shape of its own."""

SECRETS = {
    "by its shape": "sk-5d0c1b9ae77f4c3f8a6e21planted",
    "by its variable": KNOWN,
    "by its name": "hunter2-planted",
}

PLACES: tuple[tuple[str, ...], ...] = (
    # values that Hydra's grammar refuses
    ("model.target.base_url=http://h/?api_key={}",),
    ("model.target.base_url=https://h/v1?key={}&x=1",),
    ("dataset.path=s3://bucket/x?sig={}",),
    ("hydra.run.dir=/proc/x?token={}",),
    ("hydra.run.dir=out/token={}",),
    ("api_key={} x",),
    ("DEEPSEEK_API_KEY={} model=simulated",),
    # values that it takes
    ("model.target.base_url='https://h/v1?token={}'",),
    ("model.target.base_url=https://me:{}@h/v1",),
    ("tracking.uri=postgresql://me:{}@db.example/x",),
    ("dataset.instruction='password={}'",),
    ("model.target.api_key_env={}", "model=deepseek"),
    # keys that there are not
    ("model.target.api_key={}",),
    ("+model.target.api_key={}",),
    ("++api_key={}",),
    ("+a={{api_key: {}}}",),
    ("+a=[{{token: {}}}]",),
    ('+a={{b: {{password: "{}"}}}}',),
    ("~api_key={}",),
    ("~model.target.token={}",),
    ("hydra.job.env_set.API_KEY={}",),
    ("experiment=api_key={}",),
    ("model=api_key:{}",),
    # sweeps, options, options of other programs
    ("-m", "+a.api_key={},other"),
    ("-m", "+llm.secret=choice({},other)"),
    ("--config-dir", "/nowhere/api_key={}"),
    ("--config-dir=/nowhere?token={}",),
    ("--api-key={}",),
    ("--api-key", "{}"),
    ("-m", "--api_key", "{}", "model=simulated"),
    # verbs: wrong, right, and in the wrong place
    ("api_key: {}",),
    ("trian", "api_key={}"),
    ("trian?api_key={}",),
    ("token={}", "trian"),
    ("export", "DEEPSEEK_API_KEY={}"),
    ("curl -H 'x-api-key: {}'",),
    ("plan", "api_key={}"),
    ("doctor", "+x.password={}"),
    ("eval", "skill=none", "api_key={}"),
    ("eval", "skill=https://h/?api_key={}"),
    ("resume", "run=x?api_key={}"),
    ("resume", "run=.", "token={}"),
    ("transfer", "skill=none", "models=[openai:api_key={}]"),
    ("rule", "train_size=api_key={}"),
    ("export-calls", "run=x", "out=/nowhere?token={}"),
    ("serve-simulated", "host=api_key={}"),
)


@pytest.mark.parametrize("secret", SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("place", PLACES, ids=" ".join)
def test_a_planted_key_is_repeated_nowhere(
    place: tuple[str, ...],
    secret: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SOME_API_KEY", KNOWN)
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    code = main([each.format(secret) for each in place])
    said = capfd.readouterr()
    assert code in (2, 3), said.err
    assert said.err.startswith("error: ")
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    for text in (said.out, said.err, *map(str, tmp_path.rglob("*")), *(path.read_text() for path in left)):
        assert secret not in text
