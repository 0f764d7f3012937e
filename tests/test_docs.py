"""What the documentation says is so: its commands run, its tables agree with the code, its links resolve.

When one of these fails after a change of the product, the page is what has to change.
"""

import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from documents import (
    PAGES,
    ROOT,
    Block,
    Command,
    anchors,
    blocks,
    coded,
    commands,
    links,
    prose_of,
    table,
    tables,
)
from omegaconf import OmegaConf
from running import all_files, run
from scripted import ScriptedChat
from test_loop import always

from skillopt_exp import errors, rules, stats
from skillopt_exp.commands.rule import load_table
from skillopt_exp.config.dataset import Scorer
from skillopt_exp.config.reference import reference
from skillopt_exp.config.root import schema_keys
from skillopt_exp.prompts import BUILT_IN
from skillopt_exp.records import Edit, Fault, Outcome, ParsePath, Rejection, Skill, StepRecord, Summary
from skillopt_exp.runs.rollouts import RolloutLine
from skillopt_exp.schedule import Scheduler, edit_budget
from skillopt_exp.skill import apply_edit
from skillopt_exp.stages.rewrite import by_one_rewrite
from skillopt_exp.tasks.scoring import score

DOCS = ROOT / "docs"
SHARED = ROOT.parent / "shared" / "data"

FREE = (("diff",), ("gate-selftest",), ("plan",), ("rule",))
"""Verbs that ask no model, whatever the configuration says."""
OF_A_RUN = (("resume",), ("export-calls",), ("deploy",), ("report",))
"""Verbs that need a run."""
TAKING_BACK = (("rollback",), ("undeploy",))
"""Verbs that need a deployed skill."""
WHOLE_DEMO = ("dataset.limit=", "--cfg")
"""Beginnings of arguments that keep a command on the bundled data short."""
SHORT = ("dataset.limit=40", "train.num_epochs=1")


def console_blocks() -> Iterator[Any]:
    """Every block with commands of ours; marked slow where they are."""
    for page in PAGES:
        for block in blocks(page):
            if block.language == "console" and commands(block):
                slow = any(map(is_long, commands(block)))
                yield pytest.param(block, id=block.where, marks=[pytest.mark.slow] if slow else [])


def is_long(command: Command) -> bool:
    words = command.arguments
    served = "serve-simulated" in words or any("127.0.0.1" in word for word in words)
    whole_demo = "dataset=demo" in words and not any(word.startswith(WHOLE_DEMO) for word in words)
    return served or "-m" in words or "resume" in words or (whole_demo and "model=simulated" in words)


@pytest.mark.parametrize("block", list(console_blocks()))
def test_the_commands_in_the_documentation_run_and_print_what_is_shown(block: Block, tmp_path: Path) -> None:
    make_samples(block.page, tmp_path)
    port = str(free_port())
    with ExitStack() as servers:
        for command in commands(block):
            arguments = tuple(word.replace("8765", port) for word in command.arguments)
            if "serve-simulated" in arguments:
                said = servers.enter_context(served(arguments, cwd=tmp_path))
            else:
                said = follow(Command(arguments, command.shown), cwd=tmp_path)
            for line in command.shown:
                assert line == "..." or squeezed(line).replace("8765", port) in squeezed(said), said


def follow(command: Command, *, cwd: Path) -> str:
    """Run ``command``; one that would ask a paid model is composed as it stands, then run without it."""
    arguments = command.arguments
    if command.fails:
        return ran(*arguments, cwd=cwd, succeeds=False)
    if arguments[1:2] in TAKING_BACK:
        place = [word for word in arguments if word.startswith(("name=", "agent=", "dir=", "scope="))]
        ran("skillopt_exp", "deploy", "skill=best_skill.md", "description=d", *place, cwd=cwd)
        return ran(*arguments, cwd=cwd)
    if arguments[1:2] in OF_A_RUN and any(word.startswith("run=") for word in arguments):
        others = [word for word in arguments if not word.startswith("run=")]
        return ran(*others, f"run={interrupted(cwd)}", cwd=cwd)
    asks_nobody = arguments[0] != "skillopt_exp" or "--cfg" in arguments or arguments[1:2] in FREE
    free = {"model=simulated", "models=[simulated]"}
    at_hand = bool(free & set(arguments)) or any("127.0.0.1" in word for word in arguments)
    if asks_nobody:
        return ran(*arguments, cwd=cwd)
    if at_hand:
        tracking = () if any(word.startswith("tracking") for word in arguments) else ("tracking=none",)
        return ran(*arguments, *tracking, cwd=cwd)
    assert not command.shown, f"nobody can check what this prints: {' '.join(arguments)}"
    ran(*arguments, "--cfg", "job", cwd=cwd)
    kept = [word for word in arguments if not word.startswith(("model=", "model/", "model.", "tracking"))]
    short = SHORT if "dataset=demo" in arguments else SHORT[1:]
    return ran(*kept, *short, "model=simulated", "tracking=none", cwd=cwd)


def ran(*arguments: str, cwd: Path, succeeds: bool = True) -> str:
    """What the command printed. It never has a key, so nothing can be paid for."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env=bare_environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def interrupted(cwd: Path) -> Path:
    """A run that was stopped after its first step."""
    arguments = ["skillopt_exp", "dataset=demo", "model=simulated", "tracking=none"]
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env=bare_environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while process.poll() is None and not list(cwd.glob("outputs/*/*/steps/step_0001/verdict.json")):
        time.sleep(0.01)
    process.terminate()
    assert process.wait(timeout=30) == errors.InterruptedRun.exit_code
    (folder,) = cwd.glob("outputs/*/*")
    return folder


@contextmanager
def served(arguments: tuple[str, ...], *, cwd: Path) -> Iterator[str]:
    """A server while the rest of its block runs, and the two lines that it begins with."""
    process = subprocess.Popen(
        [sys.executable, "-m", *arguments],
        cwd=cwd,
        env=bare_environment(),
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline() + process.stdout.readline()
    finally:
        process.terminate()
        process.communicate(timeout=20)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def bare_environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    return kept | {"PYTHONPATH": str(ROOT), "COLUMNS": "200"}


def squeezed(text: str) -> str:
    return " ".join(text.split())


def make_samples(page: Path, folder: Path) -> None:
    """The files that the pages name: those that a page tells its reader to save, and stand-ins for data."""
    pairs = [(f"Which colour has ball {i}?", ("red", "dark blue", "green")[i % 3]) for i in range(24)]
    own = [{"input": question, "target": answer} for question, answer in pairs]
    quiz = [
        {
            "id": str(i),
            "question": question,
            "answers": [answer],
            "context": f"[DOC] [TLE] Ball {i} [PAR] {answer}",
        }
        for i, (question, answer) in enumerate(pairs)
    ]
    letters = [
        {"input": f"Ball {i}?\nOptions:\n(A) red\n(B) blue\n(C) green", "target": f"({'ABC'[i % 3]})"}
        for i in range(24)
    ]
    sums = [
        {"question": f"What is {i} plus {i}?", "answer": f"{i} + {i} = {2 * i}\n#### {2 * i}"}
        for i in range(24)
    ]
    write_lines(folder / "my.jsonl", own)
    write_lines(folder / "searchqa.jsonl", quiz)
    (folder / "best_skill.md").write_text("- Answer with the bare name.\n", encoding="utf-8")
    write_lines(folder / "test.jsonl", sums)
    (folder / "date_understanding.json").write_text(json.dumps({"examples": letters}), encoding="utf-8")
    csv = "".join(f"{question},{answer}\n" for question, answer in pairs)
    (folder / "my.csv").write_text(f"input,target\n{csv}", encoding="utf-8")
    for split, part in (("train", quiz[:12]), ("val", quiz[12:18]), ("test", quiz[18:])):
        (folder / "splits" / split).mkdir(parents=True)
        (folder / "splits" / split / "items.json").write_text(json.dumps(part), encoding="utf-8")
    for block in blocks(page):
        if block.name:
            (folder / block.name).write_text(block.text, encoding="utf-8")


def write_lines(path: Path, records: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_inside_of_the_documentation_resolve(page: Path) -> None:
    for link in links(page):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_keys_that_the_documentation_names_exist(page: Path) -> None:
    known = schema_keys()
    groups = {name.split(".")[0] for name in known}
    for name in re.findall(rf"`((?:{'|'.join(groups)})\.[\w.]+)(?:=[^`]*)?`", prose_of(page)):
        if not name.endswith((".json", ".csv")):
            assert name in known or any(each.startswith(f"{name}.") for each in known), name


def test_the_page_of_keys_is_what_its_generator_makes() -> None:
    assert (DOCS / "keys.md").read_text(encoding="utf-8") == reference()


def test_the_scorers_judge_the_examples_as_the_page_says() -> None:
    rows = table(DOCS / "data.md", "scorer", "gold", "answer", "hard", "soft", "feedback")
    for scorer, gold, answer, hard, soft, feedback in rows:
        found = score(Scorer[coded(scorer)[0]], coded(gold), coded(answer)[0])
        assert (found.hard, round(found.soft, 2), found.feedback) == (float(hard), float(soft), feedback)
    named = [coded(scorer)[0] for scorer, *_ in rows]
    assert {name for name in Scorer.__members__ if named.count(name) < 2} == set(), "two examples are needed"


def test_the_page_says_how_a_split_is_derived() -> None:
    for items, ratio, cap in table(DOCS / "data.md", "items", "train : val : test", "test items at most"):
        sizes = (3, 999) if items.startswith("under") else (1000, 50_000)
        for size in sizes:
            derived = rules.default_split(size)
            assert ratio == " : ".join(map(str, derived.ratio))
            assert cap == ("all" if derived.test_cap is None else f"{derived.test_cap:,}")


def test_the_page_names_the_data_sets_that_there_are() -> None:
    rows = table(DOCS / "data.md", "dataset", "expects", "scorer")
    named = {coded(name)[0]: coded(scorer)[0] for name, _, scorer in rows}
    files = {path.stem: OmegaConf.load(path) for path in (ROOT / "conf" / "dataset").glob("*.yaml")}
    assert named == {name: OmegaConf.select(file, "scorer") or "exact" for name, file in files.items()}


def test_the_page_lists_the_rule_as_its_file_has_it() -> None:
    rule = load_table("seed")
    shown = []
    for index, band in enumerate(rule.bands):
        is_last = band is rule.bands[-1]
        items = f"{band.at_least} " + ("and more" if is_last else f"to {rule.bands[index + 1].at_least - 1}")
        size = "a tenth of the train split" if band.batch_size is None else span(band.batch_size)
        shown.append((items, size, span(band.learning_rate), span(band.steps)))
    columns = ("train items", "batch size", "learning rate", "steps an epoch that it aims at")
    assert table(DOCS / "algorithm.md", *columns) == shown


def span(ends: tuple[int, int]) -> str:
    return f"{ends[0]} to {ends[1]}"


def test_the_rule_derives_the_worked_values_of_the_page() -> None:
    for row in table(DOCS / "algorithm.md", "train items", "batch size", "learning rate"):
        num_train, batch_size, learning_rate = map(int, row)
        derived = rules.derive(load_table("seed"), num_train)
        assert (derived.batch_size, derived.learning_rate) == (batch_size, learning_rate)


def test_the_schedules_give_the_worked_values_of_the_page() -> None:
    rows = table(DOCS / "algorithm.md", "schedule", "Lmax", "Lmin", "L at steps 1 to 10")
    assert {coded(row[0])[0] for row in rows} == set(Scheduler.__members__)
    for schedule, first, last, budgets in rows:
        scheduler = Scheduler[coded(schedule)[0]]
        found = [
            edit_budget(step, 10, scheduler=scheduler, first=int(first), last=int(last))
            for step in range(1, 11)
        ]
        assert found == [int(budget) for budget in budgets.split()]


def test_every_reason_to_reject_an_edit_has_an_example_that_holds() -> None:
    rows = table(DOCS / "algorithm.md", "reason", "skill", "edit")
    for reason, body, edit in rows:
        skill = Skill(body=coded(body)[0])
        assert apply_edit(skill, Edit(**json.loads(coded(edit)[0]))) == (skill, Rejection[coded(reason)[0]])
    rewrites = table(DOCS / "algorithm.md", "reason", "skill", "reply to a rewrite")
    assert {coded(reason)[0] for reason, *_ in (*rows, *rewrites)} == set(Rejection.__members__)


async def test_every_reason_to_refuse_a_rewrite_has_an_example_that_holds() -> None:
    for reason, body, reply in table(DOCS / "algorithm.md", "reason", "skill", "reply to a rewrite"):
        skill, suggestion, said = (
            Skill(body=coded(body)[0]),
            Edit("clarify", None, "Say it."),
            coded(reply)[0],
        )
        applied = await by_one_rewrite(ScriptedChat(always(said)), skill, (suggestion,), BUILT_IN)
        assert applied.skill == skill
        assert [each.rejection for each in applied.results] == [Rejection[coded(reason)[0]]]


def test_the_page_is_right_about_what_test_items_can_show() -> None:
    for items, *gains in table(DOCS / "algorithm.md", "test items", "d = 0.1", "d = 0.2", "d = 0.5"):
        for share, gain in zip((0.1, 0.2, 0.5), gains, strict=True):
            assert gain == f"{100 * stats.detectable_gain(int(items), share):.1f} points"
    assert stats.detectable_gain(79, 0.0) <= stats.LARGE_GAIN < stats.detectable_gain(78, 0.0)
    for won, lost, p in table(DOCS / "algorithm.md", "won", "lost", "p"):
        assert p == f"{stats.mcnemar(int(won), int(lost)):.4f}"


def test_the_page_lists_the_presets_with_their_addresses_and_keys() -> None:
    rows = table(DOCS / "models.md", "model", "address", "key from", "names")
    presets = {coded(row[0])[0]: row for row in rows}
    folder = ROOT / "conf" / "model"
    assert set(presets) == {path.stem for path in folder.glob("*.yaml")}
    for name, (_, address, key, names) in presets.items():
        for role in ("target", "optimizer"):
            file = OmegaConf.to_container(OmegaConf.load(folder / role / f"{name}.yaml"))
            assert isinstance(file, dict)
            assert coded(key) == ([] if file["api_key_env"] is None else [file["api_key_env"]])
            assert file["name"] == "???" or file["name"] in coded(names)
            if file["base_url"] is not None and "${" not in file["base_url"]:
                assert file["base_url"] in coded(address)


def test_the_page_lists_the_faults_of_replies_and_the_exit_codes() -> None:
    rows = table(DOCS / "models.md", "reason", "what happened")
    assert [coded(reason)[0] for reason, _ in rows] == [fault.value for fault in Fault]
    codes = {int(code) for code, *_ in table(DOCS / "models.md", "code", "meaning", "who acts")}
    tree = [value for value in vars(errors).values() if isinstance(value, type)]
    ours = {each.exit_code for each in tree if issubclass(each, errors.SkillOptError)}
    assert codes == ours | {0, 1}


@pytest.mark.parametrize("record", [RolloutLine, StepRecord, Summary])
def test_the_page_lists_every_field_of_a_run_s_records(record: Any) -> None:
    names = {each.name for each in fields(record)}
    listed = max(_field_lists(DOCS / "run-folder.md"), key=lambda each: len(each & names))
    assert sorted(listed - names) == [], f"listed in docs/run-folder.md, but not in {record.__name__}"
    assert sorted(names - listed) == [], f"in {record.__name__}, but not listed in docs/run-folder.md"


def _field_lists(page: Path) -> list[set[str]]:
    """The names in the first column of each table with the columns field and is."""
    return [{name for row in rows for name in coded(row[0])} for rows in tables(page, "field", "is")]


@pytest.fixture(scope="module")
def launched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The launch folder of a small run on the command line, kept in MLflow."""
    folder = tmp_path_factory.mktemp("launched")
    ran("skillopt_exp", "dataset=demo", "model=simulated", *SHORT, cwd=folder)
    return folder


def documented_files() -> dict[str, str]:
    """The pattern of each file, and whether equal runs write the same."""
    rows = table(DOCS / "run-folder.md", "file", "same", "what it is")
    return {numbered(coded(file)[0]): same for file, same, _ in rows}


def numbered(path: str) -> str:
    return re.sub(r"\d{4}", "0000", path)


def test_a_run_leaves_the_files_that_the_page_lists_and_no_others(launched: Path) -> None:
    (folder,) = launched.glob("outputs/demo/*")
    assert {numbered(name) for name in all_files(folder)} == set(documented_files())


def test_equal_runs_write_the_same_files_as_the_page_says(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        run(folder, "dataset.limit=40", "cache.mode=none", base=tmp_path)
    first, second = all_files(one), all_files(other)
    assert first.keys() == second.keys()
    same = {name for name, answer in documented_files().items() if answer == "yes"}
    assert {name for name in first if first[name] != second[name] and numbered(name) in same} == set()


def test_mlflow_has_the_metrics_and_tags_that_the_page_lists(launched: Path) -> None:
    with closing(sqlite3.connect(launched / "mlflow.db")) as database:
        metrics = {name for (name,) in database.execute("select distinct key from metrics")}
        tags = {name for (name,) in database.execute("select distinct key from tags")}
    listed = [re.compile(pattern) for pattern in map(_expanded, _metric_names(DOCS / "run-folder.md"))]
    for name in metrics:
        assert any(pattern.fullmatch(name) for pattern in listed), f"docs/run-folder.md does not list {name}"
    for pattern in listed:
        assert any(pattern.fullmatch(name) for name in metrics), f"no run has the metric {pattern.pattern}"
    sentence = next(
        line for line in prose_of(DOCS / "run-folder.md").splitlines() if line.startswith("**Tags**")
    )
    known = {tag.partition(".")[0] if tag.startswith("choice.") else tag for tag in coded(sentence)}
    for tag in tags:
        plain = "choice" if tag.startswith("choice.") else tag
        assert plain in known or tag.startswith("mlflow."), f"docs/run-folder.md does not list the tag {tag}"


def _metric_names(page: Path) -> list[str]:
    return [name for rows in tables(page, "metric", "is") for row in rows for name in coded(row[0])]


def _expanded(name: str) -> str:
    """The pattern of a documented name: its words in angle brackets stand for what the code has."""
    meant = {
        "<outcome>": [each.value for each in Outcome],
        "<reason>": [each.value for each in Rejection],
        "<path>": [each.value for each in ParsePath],
        "<skill>": ["control", "baseline", "best", "final"],
        "<pair>": [r"\w+_minus_\w+"],
        "<group>": [r"[\w ]+"],
        "<took>": ["input_tokens", "output_tokens", "seconds"],
        "<role>": ["target", "optimizer"],
        "<stage>": [r"\w+"],
        "<what>": [r"\w+"],
    }
    pattern = re.escape(name).replace(r"\<", "<").replace(r"\>", ">")
    for word, values in meant.items():
        pattern = pattern.replace(word, f"(?:{'|'.join(values)})")
    return pattern


@pytest.mark.slow
def test_the_demo_prints_what_the_readme_shows(tmp_path: Path) -> None:
    (block,) = (each for each in blocks(ROOT / "README.md") if "SIMULATED" in each.text)
    said = squeezed(ran("skillopt_exp", "dataset=demo", "model=simulated", cwd=tmp_path))
    for line in filter(str.strip, block.text.splitlines()):
        if not line.startswith(("skill ", "items ", "MLflow")):
            assert squeezed(line) in said, line


@pytest.mark.slow
def test_the_simulated_models_score_what_the_page_says(tmp_path: Path) -> None:
    page = DOCS / "simulation.md"
    make_samples(page, tmp_path)
    columns = ("data", "test items", "no skill", "irrelevant.md", "good.md", "trained, 3 epochs")
    for data, num_test, nothing, irrelevant, good, trained in table(page, *columns):
        source = sources_of(data)
        if source is None:
            continue
        summary = measured(tmp_path, *source)
        assert str(summary.num_test_items) == num_test
        assert (percent(summary.baseline_test_hard), percent(summary.test_hard)) == (nothing, trained)
        for skill, shown in (("irrelevant.md", irrelevant), ("good.md", good)):
            scored = measured(tmp_path, *source, "train.num_epochs=0", f"train.skill_init={skill}")
            assert percent(scored.test_hard) == shown
    for seed, trained, accepts in table(page, "seed", "trained", "accepted steps"):
        summary = measured(tmp_path, "dataset=demo", f"train.seed={seed}")
        assert (percent(summary.test_hard), str(summary.total_accepts)) == (trained, accepts)
    for data, nothing, trained, headline in table(page, "data", "no skill", "trained, 3 epochs", "headline"):
        source = sources_of(data)
        if source is not None:
            summary = measured(tmp_path, *source, "dataset.shuffle_answers=true")
            assert (percent(summary.baseline_test_hard), percent(summary.test_hard)) == (nothing, trained)
            assert summary.verdict == headline


def sources_of(data: str) -> tuple[str, ...] | None:
    """The overrides that choose a data set of the page; None where its file is not on this machine."""
    if data == "`demo`":
        return ("dataset=demo",)
    group, path = ("gsm8k", "gsm8k/test.jsonl") if data == "GSM8K" else ("bbh", f"bbh/{coded(data)[0]}.json")
    return (f"dataset={group}", f"dataset.path={SHARED / path}") if (SHARED / path).exists() else None


def measured(base: Path, *overrides: str) -> Summary:
    """The result of a whole run in a folder of its own under ``base``."""
    folder = base / f"run{len(list(base.glob('run*')))}"
    whole = ("dataset.limit=null",)
    epochs = () if any(each.startswith("train.num_epochs") for each in overrides) else ("train.num_epochs=3",)
    return run(folder, *whole, *epochs, *overrides, base=base)


def percent(share: float | None) -> str:
    assert share is not None
    return f"{100 * share:.1f} %"


@pytest.mark.slow
@pytest.mark.parametrize("script", ["startup.py", "calls.py"])
def test_the_benchmarks_print_their_tables(script: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / script)],
        cwd=tmp_path,
        env=bare_environment(),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert len(done.stdout.splitlines()) >= 3
