"""No secret leaves the process: not in logs, not in tracebacks, not in anything that a run leaves."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from llm.misbehaving import Answer, Asked, MisbehavingServer, refuses

from skillopt_exp import data, simulation
from skillopt_exp.commands.composing import compose
from skillopt_exp.redaction import BLANK

ROOT = Path(__file__).parents[1]

SHAPED_KEY = "sk-5d0c1b9ae77f4c3f8a6e21planted"
SHAPELESS_KEY = "0f9d8c7b6a5e4d3c2b1a0987planted"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwbGFudGVkIn0.cGxhbnRlZHNpZ25hdHVyZQ"
PASSWORD = "planted-hunter2"
SECRETS = (SHAPED_KEY, SHAPELESS_KEY, JWT, PASSWORD)

KEYS = {"DEEPSEEK_API_KEY": SHAPED_KEY, "WAY_TO_THE_PROVIDER": SHAPELESS_KEY}
"""Two variables, of which one has no name that tells what it holds."""

ECHO = f"bad key {SHAPED_KEY} or {SHAPELESS_KEY}, token {JWT}, at postgresql://me:{PASSWORD}@db.example/x"


def python(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=clean | {"PYTHONPATH": str(ROOT), "COLUMNS": "120"} | environment,
        capture_output=True,
        timeout=300,
        check=False,
    )


def skillopt(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return python("-m", "skillopt_exp", *arguments, cwd=cwd, **environment)


def leaks(folder: Path, done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """Where one of the secrets can be read in what a process left and said."""
    left = {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }
    left |= {"stdout": done.stdout, "stderr": done.stderr}
    return [
        f"{secret} in {name}" for name, text in left.items() for secret in SECRETS if secret.encode() in text
    ]


# What a process may say of itself, by the way it says it.
SAYINGS = {
    "a log record": "logging.getLogger('x').warning('it said: %s', SAID)",
    "a record whose arguments do not fit": "logging.getLogger('x').warning('%d', SAID)",
    "a logged traceback": """
try:
    raise ValueError(SAID)
except ValueError:
    logging.getLogger('x').exception('failed')""",
    "a handler that was installed later": """
logging.config.dictConfig({'version': 1, 'root': {'handlers': ['h']}, 'formatters': {},
    'handlers': {'h': {'class': 'logging.StreamHandler'}}})
logging.getLogger('y').error(SAID)""",
    "a warning": "warnings.warn(SAID)",
    "a captured warning": "logging.basicConfig(); logging.captureWarnings(True); warnings.warn(SAID)",
    "an uncaught error": "raise RuntimeError(SAID)",
    "an uncaught error with a cause": """
try:
    raise ValueError(SAID)
except ValueError as error:
    raise RuntimeError('no luck') from error""",
    "an error in a thread": """
def fail(): raise RuntimeError(SAID)
thread = threading.Thread(target=fail); thread.start(); thread.join()""",
    "an error while an object is freed": """
class Lost:
    def __del__(self): raise RuntimeError(SAID)
lost = Lost(); del lost""",
    "an error in a task that nobody awaits": """
async def fail(): raise RuntimeError(SAID)
async def main():
    task = asyncio.create_task(fail())
    await asyncio.sleep(0.01)
    del task
    gc.collect()
asyncio.run(main())""",
}


@pytest.mark.parametrize("way", SAYINGS)
def test_whatever_a_process_says_of_itself_is_clean(way: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import asyncio, gc, logging, logging.config, os, threading, warnings\n"
        "from skillopt_exp.guard import guard_process\n"
        "guard_process(); guard_process()\n"
        f"SAID = os.environ['SAID']\n{SAYINGS[way]}\n",
        encoding="utf-8",
    )
    said = f"bad key {SHAPED_KEY} or {SHAPELESS_KEY}, token {JWT}"
    done = python(str(script), cwd=tmp_path, SAID=said, LOCAL_API_KEY=SHAPELESS_KEY)
    assert leaks(tmp_path, done) == []
    assert f"bad key {BLANK} or {BLANK}, token {BLANK}".encode() in done.stderr


MODEL = "defaults: [base_endpoint, _self_]\nname: mine\n"


@pytest.mark.parametrize(
    ("file", "text", "named"),
    [
        ("model/target/mine.yaml", f"{MODEL}api_key: {PASSWORD}\n", "api_key"),
        ("model/target/mine.yaml", f"{MODEL}base_url: https://me:{PASSWORD}@host/v1\n", "base_url"),
        ("extra/mine.yaml", f"llm:\n  notes: [fine, {SHAPED_KEY}]\n", "llm.notes[1]"),
        ("extra/mine.yaml", f"token: {PASSWORD}\n", "token"),
        ("hydra/job_logging/mine.yaml", f"env:\n  MY_SECRET: {PASSWORD}\n", "env.MY_SECRET"),
    ],
)
@pytest.mark.parametrize("sweep", [(), ("-m", "train.seed=1,2")], ids=["one run", "a sweep"])
def test_a_key_in_a_users_own_file_is_refused_before_anything_is_written(
    file: str, text: str, named: str, sweep: tuple[str, ...], tmp_path: Path
) -> None:
    own, launch = tmp_path / "own", tmp_path / "launch"
    (own / file).parent.mkdir(parents=True)
    launch.mkdir()
    (own / file).write_text(text, encoding="utf-8")
    done = skillopt("--config-dir", str(own), "model=simulated", *sweep, cwd=launch)
    said = done.stderr.decode()
    assert done.returncode == 2
    assert said.startswith(f"error: {named} in {own / file} looks like it holds a secret")
    assert leaks(launch, done) == []
    assert list(launch.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("-cd", "{own}"),
        ("--config-path={own}",),
        ("hydra.searchpath=[file://{own}]",),
        ("hydra.searchpath=['{own}']",),
        ("--config-dir", "{link}"),
    ],
)
def test_every_way_to_bring_files_along_is_looked_through(arguments: tuple[str, ...], tmp_path: Path) -> None:
    own, link, launch = tmp_path / "own", tmp_path / "link", tmp_path / "launch"
    for folder in (own, link, launch):
        folder.mkdir()
    (own / "mine.yaml").write_text(f"token: {PASSWORD}\n", encoding="utf-8")
    (link / "first.yaml").write_text(f"hydra:\n  searchpath: ['file://{own}']\n", encoding="utf-8")
    filled = [argument.format(own=own, link=link) for argument in arguments]
    done = skillopt("model=simulated", *filled, cwd=launch)
    assert done.returncode == 2, done.stderr
    assert f"token in {own / 'mine.yaml'}".encode() in done.stderr
    assert list(launch.iterdir()) == []


def test_a_key_written_into_the_files_of_a_checkout_is_refused(tmp_path: Path) -> None:
    checkout, launch = tmp_path / "checkout", tmp_path / "launch"
    launch.mkdir()
    for folder in ("skillopt_exp", "conf"):
        shutil.copytree(ROOT / folder, checkout / folder, ignore=shutil.ignore_patterns("__pycache__"))
    file = checkout / "conf" / "model" / "target" / "deepseek.yaml"
    with file.open("a", encoding="utf-8") as text:
        text.write(f"api_key: {SHAPED_KEY}\n")
    done = skillopt("model=simulated", cwd=launch, PYTHONPATH=str(checkout))
    assert done.returncode == 2
    assert f"api_key in {file} looks like it holds a secret".encode() in done.stderr
    assert list(launch.iterdir()) == []


def test_a_file_of_ones_own_without_a_key_is_used(tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "model" / "target").mkdir(parents=True)
    (own / "model" / "target" / "mine.yaml").write_text(
        "defaults: [base_endpoint, _self_]\nname: mine\napi_key_env: MY_KEY\nmax_tokens: 77\n",
        encoding="utf-8",
    )
    arguments = ("--config-dir", str(own), "model/target=mine", "--cfg", "job", "-p", "model.target")
    done = skillopt(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert b"max_tokens: 77" in done.stdout


def test_a_key_from_a_package_on_the_search_path_stays_nowhere(tmp_path: Path) -> None:
    targets = tmp_path / "library" / "their_configs" / "model" / "target"
    targets.mkdir(parents=True)
    for folder in (targets, *targets.parents[:2]):
        (folder / "__init__.py").touch()
    (targets / "theirs.yaml").write_text(
        f"{MODEL}base_url: https://me:{PASSWORD}@host/v1\n", encoding="utf-8"
    )
    launch = tmp_path / "launch"
    launch.mkdir()
    done = skillopt(
        "hydra.searchpath=[pkg://their_configs]",
        "model/target=theirs",
        cwd=launch,
        PYTHONPATH=f"{ROOT}{os.pathsep}{tmp_path / 'library'}",
    )
    assert done.returncode == 2
    assert b"model.target.base_url looks like it holds a secret" in done.stderr
    assert [path for path in launch.rglob("*") if path.is_file()] == []
    assert leaks(launch, done) == []


@pytest.fixture
def echoing() -> Iterator[MisbehavingServer]:
    """The simulated models behind a server that now and then fails, and then tells all the secrets."""
    config = compose(["dataset=demo", "dataset.limit=30"])
    served = simulation.simulation(data.load(config.dataset, base=Path.cwd()).knowledge)
    server = MisbehavingServer()

    def decide(asked: Asked) -> Answer:
        if len(server.asked) % 9 == 3:
            return refuses(503, ECHO, headers={"retry-after": "0"})
        if "temperature" in asked.body:
            return refuses(400, f"Unsupported parameter: temperature ({ECHO})", param="temperature")
        reply = served.handle("POST", asked.path, json.dumps(asked.body).encode())
        return Answer(reply.body.decode(), reply.status)

    server.decide = decide
    yield server
    server.close()


def roles(server: MisbehavingServer) -> list[str]:
    keys = {"target": "WAY_TO_THE_PROVIDER", "optimizer": "DEEPSEEK_API_KEY"}
    return [
        f"model.{role}.{setting}"
        for role, variable in keys.items()
        for setting in (
            f"base_url={server.url}",
            f"name=simulated-{role}",
            f"api_key_env={variable}",
            "temperature=0.5",
        )
    ]


def test_a_whole_run_leaves_no_secret_anywhere(echoing: MisbehavingServer, tmp_path: Path) -> None:
    common = ["dataset=demo", "dataset.limit=30", "train.num_epochs=1", "model=openai_compatible"]
    common += [*roles(echoing), "model.max_error_rate=0.9", "hydra.verbose=true"]
    finished = skillopt(*common, cwd=tmp_path, **KEYS)
    assert finished.returncode == 0, finished.stderr.decode()[-3000:]
    sent = {asked.headers["Authorization"] for asked in echoing.asked}
    assert sent == {f"Bearer {key}" for key in KEYS.values()}, "the keys were used"
    assert leaks(tmp_path, finished) == []
    (log,) = tmp_path.glob("outputs/*/*/skillopt_exp.log")
    assert BLANK in log.read_text(encoding="utf-8"), "the server's words were logged"

    echoing.decide = lambda asked: refuses(401, ECHO)
    failed = skillopt(*common, "cache.mode=none", cwd=tmp_path, **KEYS)
    assert failed.returncode == 4, failed.stderr.decode()[-3000:]
    assert BLANK.encode() in failed.stderr
    assert (tmp_path / "mlflow.db").stat().st_size > 0
    assert leaks(tmp_path, failed) == []


def test_a_key_that_the_configuration_resolves_to_is_not_written(tmp_path: Path) -> None:
    done = skillopt(
        "dataset=demo",
        "dataset.limit=30",
        "train.num_epochs=0",
        "model=simulated",
        "dataset.instruction=${oc.env:DEEPSEEK_API_KEY}",
        cwd=tmp_path,
        **KEYS,
    )
    assert done.returncode == 0, done.stderr
    # The user put it into the prompts, and those are kept word by word; nothing else may hold it.
    prompts = ("selection.jsonl", "test/")
    found = leaks(tmp_path, done)
    assert [leak for leak in found if not any(name in leak for name in prompts)] == []
    assert found, "the key did reach the prompts"
