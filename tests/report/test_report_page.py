"""The report of a run: what it says is what the run's files say, and nothing in them can change the page."""

import csv
import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import yaml
from running import run as train

from skillopt_exp.__main__ import main
from skillopt_exp.display import percent, points
from skillopt_exp.errors import BudgetError
from skillopt_exp.report.keeper import write_report
from skillopt_exp.runs.folder import RunFolder

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
VOID = {"meta", "img", "br", "path", "use"}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    train(folder, "train.num_epochs=2", "evaluation.test_limit=40")
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


class Page(HTMLParser):
    """A page as a reader and a browser see it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            # An end of a list item or a cell may be implied; ours are all written.
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def page_of(folder: Path) -> Page:
    write_report(RunFolder.open(folder))
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def summary_of(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    return loaded


def test_a_run_leaves_a_report_with_its_verdict_and_its_figures(finished: Path) -> None:
    summary = summary_of(finished)
    page = Page((finished / "report.html").read_text(encoding="utf-8"))
    assert summary["verdict"].lower() in page.text.lower()
    assert percent(summary["test_hard"]) in page.text
    assert percent(summary["baseline_test_hard"]) in page.text
    interval = summary["test_delta_interval"]
    gain = f"{points(summary['test_delta_hard'])} points (95 % interval {points(interval['low'])} to"
    assert gain in page.text
    assert f"evidence: {summary['evidence'].replace('_', ' ')}" in page.text
    assert f"seed rule: {'met' if summary['meets_seed_rule'] else 'not met'}" in page.text
    assert f"{summary['total_accepts']} of {summary['total_steps']} steps accepted" in page.text
    for line in (finished / "best_skill.md").read_text(encoding="utf-8").splitlines():
        assert line in page.text


def test_it_says_that_models_were_simulated(finished: Path) -> None:
    assert "Simulated. No model was asked." in page_of(finished).text


def test_it_loads_and_runs_nothing(finished: Path) -> None:
    page = page_of(finished)
    assert "script" not in page.tags
    for name, value in page.attributes:
        assert not name.startswith("on")
        if name in ("src", "href", "xlink:href"):
            assert value.startswith(("#", "data:image/png;base64,")), value
    text = (finished / "report.html").read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []


def test_the_page_is_the_same_each_time(copied: Path) -> None:
    page_of(copied)
    before = (copied / "report.html").read_bytes()
    page_of(copied)
    assert (copied / "report.html").read_bytes() == before


def test_every_accepted_step_shows_its_reason_its_change_and_what_it_won(finished: Path) -> None:
    page = page_of(finished)
    with (finished / "items.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = (finished / "history.jsonl").read_text(encoding="utf-8").splitlines()
    accepted = [each for each in map(json.loads, lines) if each["outcome"] == "accepted"]
    assert accepted
    for record in accepted:
        name = f"step_{record['step']:04d}"
        won = [row["id"] for row in rows if name in row["fixed_by"].split()]
        lost = [row["id"] for row in rows if name in row["broken_by"].split()]
        assert f"{len(won)} val items won, {len(lost)} lost" in page.text
        assert all(item in page.text for item in won[:30])
        patches = json.loads((finished / "steps" / name / "patches.json").read_text(encoding="utf-8"))
        assert any(patch["failure_summary"] in page.text for patch in patches)
        for edit in json.loads((finished / "steps" / name / "edits.json").read_text(encoding="utf-8")):
            if edit["rejection"] is None and edit["edit"]["content"]:
                assert " ".join(edit["edit"]["content"].split()) in page.text


def test_evaluations_that_ended_early_are_drawn_at_what_they_could_have_reached(finished: Path) -> None:
    lines = (finished / "history.jsonl").read_text(encoding="utf-8").splitlines()
    assert any(record["candidate_at_most"] is not None for record in map(json.loads, lines))
    assert page_of(finished).text.count("rejected early, at most") == 2  # for wide and for narrow screens


def test_cost_data_settings_and_the_command_are_there(finished: Path) -> None:
    page, summary = page_of(finished), summary_of(finished)
    calls = sum(usage["calls"] for usage in summary["usage"].values())
    assert f"{calls:,}" in page.text
    manifest = json.loads((finished / "split_manifest.json").read_text(encoding="utf-8"))
    assert f"{manifest['train']['num_items']:,} items" in page.text
    for origin in json.loads((finished / "origins.json").read_text(encoding="utf-8")):
        assert f"{origin['key']} {origin['value']} {origin['source']}" in page.text
    assert "model.target.max_concurrency" in page.text


def test_the_command_that_began_the_run_is_shown_as_it_can_be_copied(copied: Path) -> None:
    overrides = ["dataset=demo", "model=simulated", "dataset.path=my items.jsonl"]
    (copied / ".hydra").mkdir(exist_ok=True)
    (copied / ".hydra" / "overrides.yaml").write_text(yaml.safe_dump(overrides), encoding="utf-8")
    expected = "python -m skillopt_exp dataset=demo model=simulated 'dataset.path=my items.jsonl'"
    assert expected in page_of(copied).text


SIDE_FILES = (
    "best_skill.md",
    "config.yaml",
    "origins.json",
    "split_manifest.json",
    "items.csv",
    "items.png",
    "baseline/selection.jsonl",
    "steps/step_0001/patches.json",
    "steps/step_0001/edits.json",
    "steps/step_0001/candidate.md",
    "epochs/epoch_0002/epoch.json",
    "summary.json",
)


@pytest.mark.parametrize("name", SIDE_FILES)
def test_a_report_tells_less_where_a_file_is_missing(name: str, copied: Path) -> None:
    (copied / name).unlink()
    assert "The skill" in page_of(copied).text


@pytest.mark.parametrize("name", [each for each in SIDE_FILES if each != "summary.json"])
def test_a_report_tells_less_where_a_file_is_damaged(name: str, copied: Path) -> None:
    (copied / name).write_bytes(b'{"\xff\x00')
    assert "The skill" in page_of(copied).text


@pytest.mark.parametrize("name", ["history.jsonl", "runtime_state.json", "summary.json"])
def test_what_a_run_stands_on_is_refused_by_name_where_it_is_damaged(
    name: str, copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (copied / name).write_text("{\n")
    assert main(["report", f"run={copied}"]) == 3
    said = capsys.readouterr().err
    assert (name in said, said.count("error: ")) == (True, 1)


def test_a_run_that_was_killed_is_told_as_far_as_it_came(copied: Path) -> None:
    for gone in ("summary.json", "items.csv", "items.png"):
        (copied / gone).unlink()
    page = page_of(copied)
    assert "Not finished" in page.text
    assert f"python -m skillopt_exp resume run={copied}" in page.text


def test_a_run_that_was_stopped_leaves_a_report(tmp_path: Path) -> None:
    with pytest.raises(BudgetError):
        train(tmp_path, "budget.calls=150")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "stopped(budget)" in page.text
    assert "resume run=" in page.text


def test_a_run_that_trains_nothing_has_a_report_too(tmp_path: Path) -> None:
    train(tmp_path, "optimizer=none", "evaluation.test_limit=20")
    text = Page((tmp_path / "report.html").read_text(encoding="utf-8")).text
    assert "test items that no decision has seen" in text
    assert "How it came about" not in text


def test_the_verb_writes_the_page_of_the_latest_run(
    copied: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report"]) == 2
    assert "no run is below" in capsys.readouterr().err
    shutil.copytree(copied, tmp_path / "outputs" / "demo" / "one")
    (tmp_path / "outputs/demo/one/report.html").unlink()
    assert main(["report", "run=latest"]) == 0
    assert capsys.readouterr().out.strip() == str(tmp_path / "outputs/demo/one/report.html")
    assert (tmp_path / "outputs/demo/one/report.html").is_file()


HOSTILE = (
    "</pre></code></style></script><script>alert(1)</script><img src=x onerror=alert(2)> \"'><h1>big</h1>"
    " {{ 7 * 7 }} {% raw %} &lt; <!-- ]]> \u202egnp.exe \u200b\x07 " + "W" * 400
)


def put(value: Any, change: Callable[[dict[str, Any]], None]) -> Any:
    for each in value if isinstance(value, list) else [value]:
        change(each)
    return value


def tampered(folder: Path, words: str) -> Page:
    """The run with ``words`` wherever data or a model could have written them."""

    def rewrite(name: str, change: Callable[[dict[str, Any]], None]) -> None:
        for file in folder.glob(name):
            loaded = json.loads(file.read_text(encoding="utf-8"))
            file.write_text(json.dumps(put(loaded, change)), encoding="utf-8")

    rewrite("steps/*/patches.json", lambda patch: patch.update(failure_summary=words))
    rewrite("steps/*/edits.json", lambda edit: edit.update(rejection="anchor_missing"))
    rewrite("steps/*/edits.json", lambda edit: edit["edit"].update(op=words))
    rewrite("summary.json", lambda summary: summary.update(dataset=words, target=words, cause=words))
    rewrite("summary.json", lambda summary: summary.update(notes=[words], gate=words))
    rewrite(
        "summary.json", lambda s: s.update(test_by_group={words: next(iter(s["test_by_group"].values()))})
    )
    rewrite("summary.json", lambda summary: summary.update(failed_requests={"target": {words: 1}}))
    rewrite("split_manifest.json", lambda manifest: manifest["sources"][0].update(path=words))
    rewrite("origins.json", lambda origin: origin.update(source=words))
    for skill in (folder / "best_skill.md", *folder.glob("steps/*/candidate.md")):
        skill.write_text(f"- {words}\n", encoding="utf-8")
    with (folder / "items.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / "items.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows([{**row, "id": words} for row in rows])
    (folder / ".hydra").mkdir(exist_ok=True)
    (folder / ".hydra/overrides.yaml").write_text(yaml.safe_dump([f"dataset.path={words}"]), encoding="utf-8")
    config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    config["dataset"]["path"] = words
    (folder / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    return page_of(folder)


def test_nothing_that_data_or_models_wrote_becomes_a_part_of_the_page(copied: Path, tmp_path: Path) -> None:
    plain = tampered(Path(shutil.copytree(copied, tmp_path / "plain")), "plain words")
    hostile = tampered(copied, HOSTILE)
    assert hostile.tags == plain.tags
    assert [name for name, _ in hostile.attributes] == [name for name, _ in plain.attributes]
    assert "<script>alert(1)</script>" in hostile.text  # as words
    assert "{{ 7 * 7 }}" in hostile.text
    raw = (copied / "report.html").read_text(encoding="utf-8")
    assert not set(raw) & {"\u202e", "\u200b", "\x07"}
    assert "[U+202E]" in raw


def test_a_key_that_stands_in_a_file_does_not_stand_in_the_page(copied: Path) -> None:
    tampered(copied, "sk-abcdefghijklmnopqrstuvwx")
    raw = (copied / "report.html").read_text(encoding="utf-8")
    assert "sk-abcdef" not in raw
    assert "[redacted]" in raw


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")
@pytest.mark.parametrize("width", [500, 1280])  # Chromium's windows are not narrower than 500
@pytest.mark.parametrize("words", ["plain words", HOSTILE])
def test_the_page_fits_its_window(words: str, width: int, copied: Path, tmp_path: Path) -> None:
    tampered(copied, words)
    page = (copied / "report.html").read_text(encoding="utf-8")
    page = re.sub(r"<meta http-equiv=[^>]+>", "", page)
    measure = "<script>document.title = document.documentElement.scrollWidth</script></body>"
    (tmp_path / "page.html").write_text(page.replace("</body>", measure), encoding="utf-8")
    done = subprocess.run(
        [
            str(CHROMIUM),
            "--headless=new",
            "--no-sandbox",
            "--hide-scrollbars",
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},2000",
            "--dump-dom",
            (tmp_path / "page.html").as_uri(),
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
        timeout=120,
    )
    found = re.search(r"<title>(\d+)</title>", done.stdout)
    assert found is not None
    assert int(found[1]) <= width
