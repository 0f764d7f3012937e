"""Odd input by the dozen: one message that says what is wrong, a code that says who acts, nothing left."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from skillopt_exp.__main__ import main
from skillopt_exp.runs.folder import RunFolder

ROOT = Path(__file__).parents[2]
QUICK = ("model=simulated", "dataset.limit=40", "train.num_epochs=0", "tracking=none")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch folder with things that are no files, and some that are not what they are taken for."""
    os.mkfifo(tmp_path / "pipe")
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "endless.md").symlink_to("/dev/zero")
    (tmp_path / "loop").symlink_to("loop")
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(20 * 10**9)
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.md").write_text("- Be brief.\n", encoding="utf-8")
    for name, target in (("piped", "pipe"), ("endlessly", "/dev/zero")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "reflect.md").symlink_to(tmp_path / target)
    (tmp_path / "own" / "dataset").mkdir(parents=True)
    (tmp_path / "own" / "dataset" / "torn.yaml").write_text("name: [a\n", encoding="utf-8")
    (tmp_path / "piping" / "dataset").mkdir(parents=True)
    os.mkfifo(tmp_path / "piping" / "dataset" / "x.yaml")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)


def in_a_process(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
    return subprocess.run(
        [sys.executable, "-m", "skillopt_exp", *arguments],
        cwd=cwd,
        env=clean | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def check_refused(done: subprocess.CompletedProcess[str], said: str, code: int = 2) -> None:
    assert done.returncode == code, done.stderr
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert said in done.stderr


def refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """What ``main`` exits with and says; anything that it raises ends the test."""
    code = main(arguments)
    said = capsys.readouterr()
    assert said.err.startswith("error: ")
    assert said.err.count("error: ") == 1
    return code, said.err


NO_FILES = {
    "/dev/zero": "it is a device",
    "/dev/null": "it is a device",
    "pipe": "it is a pipe",
    "folder": "folder",
    "endless.md": "it is a device",
    "huge.md": "it is larger than 2 MB",
    "gone.md": "No such file",
    "loop": "Too many levels",
    "x" * 300: "File name too long",
    "~nobody-of-that-name/x.md": "names no place",
}


SKILLS = {
    "plan": ("plan", "model=simulated", "train.skill_init={}"),
    "eval": ("eval", "skill={}", *QUICK),
    "compare": ("compare", "a=none", "b={}", *QUICK),
    "transfer": ("transfer", "skill={}", *QUICK),
}


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        (SKILLS[verb], given)
        for verb in SKILLS
        for given in NO_FILES
        if verb in ("plan", "eval") or given in ("/dev/zero", "pipe")
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else value[0],
)
def test_a_skill_is_a_regular_file_of_a_sane_size(
    arguments: tuple[str, ...], given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if given.startswith("~") and arguments[0] == "plan":
        arguments = (*arguments[:2], "train.skill_init='{}'")
    code, said = refusal(capsys, *(each.format(given) for each in arguments))
    assert code == 2
    if given == "folder" and arguments[0] != "plan":
        assert "not a run's" in said
    else:
        assert NO_FILES[given] in said


@pytest.mark.parametrize("given", ["/dev/zero", "pipe.jsonl", "endless.md", "loop", "x" * 300, "folder"])
def test_a_data_set_is_a_regular_file(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refusal(capsys, "plan", "model=simulated", "dataset=qa", f"dataset.path={given}")
    assert code in (2, 3)
    assert "dataset.path" in said
    table = main(["transfer", "skill=notes.md", f"datasets=[qa:{given}]", "model=simulated", "tracking=none"])
    assert table in (2, 3)


@pytest.mark.parametrize("folder", ["piped", "endlessly"])
def test_a_template_is_a_regular_file(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, said = refusal(capsys, "plan", "model=simulated", f"optimizer.prompts_dir={folder}")
    assert (code, "reflect.md cannot be read" in said) == (2, True)


@pytest.mark.parametrize("given", ["/dev/zero", "pipe"])
def test_training_neither_hangs_nor_fills_the_memory(given: str, tmp_path: Path) -> None:
    check_refused(in_a_process(*QUICK, f"train.skill_init={given}", cwd=tmp_path), "cannot be read")
    assert not (tmp_path / "outputs").exists()


IMPOSSIBLE_FOLDERS = ("/proc/foo", "notes.md", "notes.md/x", "x" * 300, "x/" * 3000, "loop")


@pytest.mark.parametrize("given", IMPOSSIBLE_FOLDERS, ids=lambda given: given[:12])
@pytest.mark.parametrize("key", ["hydra.run.dir", "hydra.sweep.dir"])
def test_an_impossible_folder_is_told_by_its_key(
    key: str, given: str, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ["-m"] if key == "hydra.sweep.dir" else []
    code, said = refusal(capsys, *sweep, *QUICK, f"{key}={given}")
    assert (code, f"{key}=..." in said) == (2, True)
    assert len(said) < 500


def test_a_refused_run_takes_nothing_away_with_it(tmp_path: Path) -> None:
    before = {path: path.lstat().st_mtime_ns for path in (tmp_path / "folder", tmp_path / "notes.md")}
    for given in (".", "folder"):
        check_refused(
            in_a_process(*QUICK, f"hydra.run.dir={given}", "train.batch_size=999", cwd=tmp_path), "999"
        )
    assert {path for path in before if path.exists()} >= {tmp_path / "notes.md"}
    assert not list(tmp_path.rglob("*.log"))


COMPOSED = [
    *((f"{group}={value}", f"{group} is a group")
      for group in ("model", "dataset", "optimizer", "rule", "gate", "tracking", "model/target", "hydra")
      for value in ("null", "3", "{a:1}")),
    ("dataset=[demo,qa]", "an experiment has one dataset"),
    *((f"{node}={value}", f"{node} is a group of keys")
      for node in ("train", "budget", "dataset.fields", "model.target", "model.target.price")
      for value in ("null", "3", "[1]")),
    ("train={a:1}", "there is no key 'train.a'"),
    ("hydra.run.dir=null", "hydra.run.dir cannot be null"),
    ("hydra.sweep.subdir=null", "cannot be null"),
    ("rule.bands=null", "rule.bands cannot be null"),
    ("train.seed=null", "train.seed cannot be null"),
    ("~train", "cannot be taken out"),
    ("~train.seed", "cannot be taken out"),
    ("~model", "model has no value yet"),
    ("train.seed=", "train.seed"),
    ("train.seed=" + "9" * 5000, "more than 4,300 digits"),
    ("train.seed=${train.seed}", "train.seed"),
    ("train.seed=${nope}", "train.seed"),
    ("dataset.name=${oc.env:NOPE_NOT_THERE}", "NOPE_NOT_THERE"),
    ("=", "names no key"),
    ("=x", "names no key"),
    ("dataset.name=../../x", "dataset.name"),
    ("dataset.name=", "dataset.name"),
    ("dataset.name='a\nb'", "dataset.name"),
    ("dataset.name=a b\nc", "quote it"),
    ("gate=nope", "names no file of conf/gate"),
    ("model=deepsek", "did you mean deepseek?"),
    ("model.target.name=", "name of a model"),
    ("model.target.api_key_env=not-a-name", "no name of an environment variable"),
]  # fmt: skip


OF_ANY_VERB = [each for each in COMPOSED if not each[0].startswith("hydra.")][::3]


@pytest.mark.parametrize(
    ("verb", "override", "said"),
    [("train", *each) for each in COMPOSED] + [("plan", *each) for each in OF_ANY_VERB],
    ids=lambda value: value[:30],
)
def test_an_override_that_cannot_be_gets_one_message(
    verb: str, override: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = refusal(capsys, verb, *QUICK[:3], override)
    assert (code, said in told) == (2, True), told
    assert "object_type" not in told
    assert not list((tmp_path / "outputs").rglob("*.*"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["trian"], "did you mean train? The verbs are train, resume, plan"),
        (["trian", "dataset=demo"], "did you mean train?"),
        (["Resume", "run=x"], "did you mean resume?"),
        (["model=simulated", "trian"], "did you mean train?"),
        (["-m", "trian", "train.seed=1,2"], "did you mean train?"),
        (["train", "plan"], "a verb comes first"),
        ([""], "there is no verb ''"),
        (["plan", "-m"], "is an option of training's"),
        (["--cgf", "job"], "did you mean --cfg"),
        (["-c"], "expected one argument"),
        (["--config-dir", "gone"], "gone"),
        (["--config-dir", "own", "dataset=torn"], "torn.yaml:2: not valid YAML"),
        (["--config-dir", "piping"], "it is a pipe"),
        (["--config-name", "gone"], "gone"),
        (["rule", "train_size=" + "9" * 5000], "too many digits"),
        (["rule", "train_size=5", "rule=../gate/strict"], "there is no rule"),
        (["rule", "train_size=5", "num_epochs=-1"], "num_epochs is -1"),
        (["plan", *QUICK, "seconds_per_call=inf"], "seconds_per_call is inf"),
        (["gate-selftest", "val_sizes=[99999999999999]"], "from 1 to 100,000"),
        (["gate-selftest", "val_sizes=[]"], "val_sizes is empty"),
        (["--experimental-rerun", "x"], "resume goes on"),
        (["transfer", "skill=notes.md", "models=[{a: 1}]"], "a list of plain values"),
        (["eval", "skill=none", *QUICK, "out=" + "x" * 300], "File name too long"),
        (["eval", "skill=none", *QUICK, "out=/proc/foo"], "out=..."),
        (["serve-simulated", "port=99999"], "port is 99999"),
        (["serve-simulated", "host=nowhere.invalid"], "nothing can listen"),
        (["serve-simulated", "log=/proc/foo/x"], "log="),
        (["resume", "run=folder"], "not a run's folder"),
        (["resume", "run=notes.md"], "not a run's folder"),
        (["resume", "run=/dev/null"], "not a run's folder"),
        (["resume", "run=loop"], "Too many levels"),
        (["resume", "run=" + "x" * 300], "File name too long"),
        (["resume", 'run="a\\0b"'], "names no place"),
        (["export-calls", "run=folder", "out=x"], "not a run's folder"),
    ],
)  # fmt: skip
def test_an_odd_command_gets_one_message(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, told = refusal(capsys, *arguments)
    assert (code, said in told) == (2, True), told
    assert "quote it" not in told


STORES = {
    "folder": "is a folder",
    "/dev/null": "is a device or a pipe",
    "pipe": "is a device or a pipe",
    "notes.md": "is no SQLite database",
    "notes.md/x": "is no folder",
    "": "is a folder",
    "mlflow.db": "database of something else",
}


@pytest.mark.parametrize(
    ("given", "mode"),
    # There is nothing to read below a file, and where nothing is made nothing is wrong.
    [
        (each, mode)
        for each in STORES
        for mode in ("readwrite", "read")
        if (each, mode) != ("notes.md/x", "read")
    ],
)
def test_what_is_no_store_of_answers_is_told_by_its_key(
    given: str, mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if given == "mlflow.db":
        make_other_database(tmp_path / given)
    store = ("eval", "skill=none", *QUICK, f"cache.path={given}", f"cache.mode={mode}")
    code, said = refusal(capsys, *store)
    assert (code, "cache.path" in said, STORES[given] in said) == (2, True, True), said
    assert not (tmp_path / "outputs").exists()


def test_training_refuses_a_store_before_it_has_a_folder(tmp_path: Path) -> None:
    for bad in ("cache.path=folder", "cache.path=notes.md"):
        check_refused(in_a_process(*QUICK, bad, cwd=tmp_path), "cache.path")
    bad = "tracking.uri=sqlite:///notes.md"
    check_refused(in_a_process(*QUICK[:3], bad, cwd=tmp_path), "tracking.uri")
    assert not (tmp_path / "outputs").exists()


def make_other_database(file: Path) -> None:
    import sqlite3
    from contextlib import closing

    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE mine (x)")
        connection.commit()


@contextmanager
def read_only(*folders: Path) -> Iterator[None]:
    """Nobody can write in ``folders``, not even root, whom permissions do not hold."""
    as_root = os.geteuid() == 0
    if as_root and shutil.which("chattr") is None:
        pytest.skip("root can write everywhere, and there is no chattr")
    try:
        for folder in folders:
            if not as_root:
                folder.chmod(0o555)
            elif subprocess.run(["chattr", "+i", folder], check=False).returncode:
                pytest.skip("the file system knows no chattr")
        yield
    finally:
        for folder in folders:
            if as_root:
                subprocess.run(["chattr", "-i", folder], check=False)
            else:
                folder.chmod(0o755)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX's")
def test_a_folder_that_may_not_be_written_in_is_told(tmp_path: Path) -> None:
    run, launch = tmp_path / "run", tmp_path / "launch"
    launch.mkdir()
    unstored = (*QUICK, "cache.mode=none")
    begun = in_a_process(*unstored, f"hydra.run.dir={run}", "budget.calls=3", cwd=tmp_path)
    assert begun.returncode == 5, begun.stderr
    (run / "run.lock").unlink()
    with read_only(run, launch):
        check_refused(in_a_process(*unstored, cwd=launch), "hydra.run.dir=...")
        check_refused(in_a_process(*unstored, f"hydra.run.dir={run}/new", cwd=launch), "hydra.run.dir=...")
        check_refused(in_a_process("resume", f"run={run}", cwd=launch), "run.lock cannot be written")
        check_refused(in_a_process("eval", "skill=none", *QUICK, cwd=launch), "cache.path")
        tracked = in_a_process("eval", "skill=none", *QUICK[:3], "cache.mode=none", cwd=launch)
        check_refused(tracked, "tracking.uri")
        out = ("eval", "skill=none", *unstored, f"out={launch}/out")
        check_refused(in_a_process(*out, cwd=tmp_path), "out=...")


def test_two_runs_given_one_folder_at_once_do_not_mix(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "skillopt_exp", *QUICK, "hydra.run.dir=shared"]
    both = [
        subprocess.Popen(
            [*command, f"train.seed={seed}"],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in (1, 2)
    ]
    errors = [each.communicate(timeout=60)[1] for each in both]
    codes = [each.returncode for each in both]
    assert sorted(codes) == [0, 2], errors
    assert "already holds a run" in errors[codes.index(2)]
    winner = codes.index(0) + 1
    for name in ("config.yaml", ".hydra/config.yaml"):
        assert f"seed: {winner}\n" in (tmp_path / "shared" / name).read_text(encoding="utf-8")


def test_a_run_that_another_process_is_at_work_on_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = in_a_process(*QUICK, "budget.calls=3", "cache.mode=none", "hydra.run.dir=run", cwd=tmp_path)
    assert done.returncode == 5, done.stderr
    shutil.rmtree(tmp_path / "folder")
    with RunFolder.open(tmp_path / "run").lock():
        check_refused(in_a_process("resume", "run=run", cwd=tmp_path), "another process is at work on")
    assert main(["resume", "run=run", "budget.calls=null"]) == 0
    assert main(["resume", "run=run"]) == 0
    assert "is complete" in capsys.readouterr().out
