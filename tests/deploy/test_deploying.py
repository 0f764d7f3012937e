"""A deployed skill is what an agent finds and reads, and whatever it replaced can be had back."""

import hashlib
import json
import os
import shutil
import stat
from pathlib import Path

import pytest
import yaml
from agent_loaders import LOADERS
from hypothesis import given
from hypothesis import strategies as st
from running import run as train

from skillopt_exp.__main__ import main
from skillopt_exp.deploy.agents import AGENTS, AgentName
from skillopt_exp.deploy.package import Package, check_description, check_name, parse
from skillopt_exp.errors import UsageError

PLAIN = "# How to answer\n\n- Give the bare name.\n- Keep the unit: 5 km."


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained") / "outputs" / "demo" / "run"
    folder.mkdir(parents=True)
    train(folder, "evaluation.test_limit=40")
    return folder


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository in which commands are given, and a home of its own beside it."""
    made = tmp_path / "project"
    (made / ".git").mkdir(parents=True)
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def home(project: Path) -> Path:
    return project.parent / "home"


def skill(project: Path, text: str = PLAIN, name: str = "skill.md") -> str:
    (project / name).write_text(f"{text}\n", encoding="utf-8")
    return f"skill={name}"


def deploy(*arguments: str, code: int = 0) -> None:
    assert main(["deploy", *arguments]) == code


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def refused(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 2) -> str:
    capsys.readouterr()
    assert main(list(arguments)) == code
    return capsys.readouterr().err


@pytest.mark.parametrize("scope", ["project", "user"])
@pytest.mark.parametrize("agent", LOADERS)
def test_each_agent_finds_and_reads_the_trained_skill(
    agent: str, scope: str, trained: Path, project: Path, home: Path
) -> None:
    deploy(f"run={trained}", "name=demo-v1", f"agent={agent}", f"scope={scope}")
    told = LOADERS[agent](project, home, "demo-v1")
    assert told is not None
    assert (told.name, "demo data set" in told.description) == ("demo-v1", True)
    assert told.body == (trained / "best_skill.md").read_text(encoding="utf-8").strip()
    root = Path(AGENTS[AgentName(agent)].roots[scope].replace("~", str(home)))  # type: ignore[index]
    assert stat.S_ISREG((project / root / "demo-v1" / "SKILL.md").lstat().st_mode)


def test_front_matter_says_as_text_where_the_skill_is_from(trained: Path, project: Path) -> None:
    deploy("run=" + str(trained), "name=demo-v1", "agent=codex", "description=Short: a \"test\" # of 'it'")
    text = (project / ".agents/skills/demo-v1/SKILL.md").read_text(encoding="utf-8")
    fields = yaml.safe_load(text.split("---\n")[1])
    summary = json.loads((trained / "summary.json").read_text(encoding="utf-8"))
    body = (trained / "best_skill.md").read_text(encoding="utf-8").strip()
    assert set(fields) == {"name", "description", "metadata"}
    assert fields["description"] == "Short: a \"test\" # of 'it'"
    assert all(isinstance(value, str) for value in fields["metadata"].values())
    told = fields["metadata"]
    assert (told["run"], told["dataset"], told["target"]) == ("run", "demo", "simulated-target")
    assert float(told["test_hard"]) == pytest.approx(summary["test_hard"], abs=1e-4)
    assert float(told["val_hard"]) == pytest.approx(summary["best_selection_hard"], abs=1e-4)
    assert told["skill_sha256"] == hashlib.sha256(body.encode()).hexdigest()


def test_a_dry_run_shows_path_and_content_and_writes_nothing(
    trained: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = everything(project.parent)
    deploy(f"run={trained}", "name=demo-v1", "agent=claude-code", "dry_run=true")
    said = capsys.readouterr().out
    assert str(project / ".claude/skills/demo-v1/SKILL.md") in said
    assert (trained / "best_skill.md").read_text(encoding="utf-8").strip() in said
    assert "simulated" in said
    assert everything(project.parent) == before


def test_latest_is_the_run_that_began_last(project: Path, trained: Path) -> None:
    for number, name in enumerate(("b", "a", "c")):
        folder = project / "outputs" / "demo" / name
        shutil.copytree(trained, folder)
        marker = json.loads((folder / "run.json").read_text())
        marker["created"] = f"2026-12-0{(1, 3, 2)[number]}T00:00:00+00:00"
        (folder / "run.json").write_text(json.dumps(marker))
    (project / "outputs" / "demo" / "broken").mkdir()
    (project / "outputs" / "demo" / "broken" / "run.json").write_text("{")
    deploy("run=latest", "name=x", "dir=there")
    text = (project / "there/x/SKILL.md").read_text(encoding="utf-8")
    assert yaml.safe_load(text.split("---\n")[1])["metadata"]["run"] == "a"


def test_what_stood_there_is_kept_and_comes_back_step_by_step(project: Path) -> None:
    old = project / ".claude/skills/mine"
    (old / "scripts").mkdir(parents=True)
    (old / "SKILL.md").write_text("---\nname: mine\ndescription: by hand\n---\nold\n", encoding="utf-8")
    (old / "scripts" / "go.sh").write_text("echo hi\n")
    (old / "scripts" / "go.sh").chmod(0o755)
    original = everything(old)
    first, second = (skill(project, f"- Rule {n}", f"{n}.md") for n in (1, 2))
    deploy(first, "name=mine", "agent=claude-code", "description=one")
    once = everything(old)
    assert len(once) == 1
    deploy(second, "name=mine", "agent=claude-code", "description=two")
    assert "- Rule 2" in (old / "SKILL.md").read_text()
    assert main(["rollback", "name=mine", "agent=claude-code"]) == 0
    assert everything(old) == once
    assert main(["rollback", "name=mine", "agent=claude-code"]) == 0
    assert everything(old) == original
    assert (old / "scripts" / "go.sh").stat().st_mode & 0o777 == 0o755
    assert main(["rollback", "name=mine", "agent=claude-code"]) == 2


def test_undeploying_brings_back_what_stood_there_first_or_nothing(project: Path) -> None:
    for number in (1, 2):
        deploy(skill(project, f"- Rule {number}"), "name=new", "agent=codex", "description=d")
    assert main(["undeploy", "name=new", "agent=codex"]) == 0
    assert not (project / ".agents/skills/new").exists()
    assert main(["undeploy", "name=new", "agent=codex"]) == 2


def test_a_skill_that_was_changed_by_hand_is_not_taken_away_unasked(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deploy(skill(project), "name=mine", "dir=there", "description=d")
    file = project / "there/mine/SKILL.md"
    file.write_text(file.read_text() + "by hand\n")
    assert "was changed since" in refused(capsys, "undeploy", "name=mine", "dir=there")
    assert "by hand" in file.read_text()
    assert main(["undeploy", "name=mine", "dir=there", "confirm=true"]) == 0
    assert not file.exists()
    assert len(list((project / "there/.skillopt/backups").glob("mine-*.zip"))) == 1


def test_every_deployment_leaves_a_receipt(trained: Path, project: Path) -> None:
    deploy(skill(project), "name=x", "dir=there", "description=d")
    deploy(f"run={trained}", "name=x", "dir=there")
    lines = (project / "there/.skillopt/receipts.jsonl").read_text(encoding="utf-8").splitlines()
    first, second = map(json.loads, lines)
    assert first["backup"] is None
    assert second["source"] == str(trained)
    assert second["replaced_sha256"] == first["file_sha256"]
    assert second["file_sha256"] == hashlib.sha256((project / "there/x/SKILL.md").read_bytes()).hexdigest()
    assert (project / "there/.skillopt" / second["backup"]).is_file()


def test_no_agent_takes_a_backup_for_a_skill(project: Path) -> None:
    for number in (1, 2):
        deploy(skill(project, f"- Rule {number}"), "name=x", "dir=there", "description=d")
    assert [path.parent.name for path in (project / "there").rglob("*.md")] == ["x"]


@pytest.mark.parametrize(
    "name",
    [
        "Demo",
        "demo_v1",
        "-demo",
        "demo-",
        "de--mo",
        "x" * 65,
        "con",
        "../up",
        "a/b",
        "",
        ".",
        "dé",
        "a:b",
        "a b",
    ],
)
def test_a_name_that_some_agent_or_system_refuses_is_refused_before_anything_is_written(
    name: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = skill(project)
    before = everything(project.parent)
    said = refused(capsys, "deploy", given, f'name="{name}"', "agent=codex", "description=d")
    assert "name=" in said
    assert everything(project.parent) == before


def test_names_kept_by_an_agent_and_names_that_differ_in_case_alone_are_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = skill(project)
    assert "kept for" in refused(capsys, "deploy", given, "name=synced", "agent=claude-code", "description=d")
    (project / "there" / "Mine").mkdir(parents=True)
    assert "case alone" in refused(capsys, "deploy", given, "name=mine", "dir=there", "description=d")


@pytest.mark.parametrize("description", ["", "  ", "x" * 1025, "two\nlines", "a <b> c", "zero\u200bwidth"])
def test_a_description_that_some_agent_refuses_is_refused(
    description: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = refused(capsys, "deploy", skill(project), "name=x", "dir=there", f"description={description}")
    assert "description" in said
    assert not (project / "there").exists()


def test_the_longest_names_and_descriptions_are_taken(project: Path, home: Path) -> None:
    name, description = "x" * 64, "ü" * 1024
    for agent, load in LOADERS.items():
        deploy(skill(project), f"name={name}", f"agent={agent}", f"description={description}")
        told = load(project, home, name)
        assert told is not None
        assert (told.name, told.description, told.body) == (name, description, PLAIN)


def test_a_skill_longer_than_an_agent_loads_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = skill(project, "- word\n" * 15_000)
    assert "100,000" in refused(capsys, "deploy", given, "name=x", "agent=hermes", "description=d")
    deploy(given, "name=x", "agent=codex", "description=d")
    assert "advises under" in capsys.readouterr().out


@pytest.mark.parametrize("where", [".claude", ".claude/skills"])
def test_a_root_that_is_a_link_out_of_the_project_is_refused(
    where: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "outside"
    (outside / "skills").mkdir(parents=True)
    (project / where).parent.mkdir(exist_ok=True)
    (project / where).symlink_to(outside, target_is_directory=True)
    said = refused(capsys, "deploy", skill(project), "name=x", "agent=claude-code", "description=d")
    assert "leads out of" in said
    assert everything(outside) == {}


@pytest.mark.parametrize("link", ["x", "x/SKILL.md", ".skillopt", "x/references"])
def test_nothing_is_written_through_a_link(
    link: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    at = project / "there" / link
    at.parent.mkdir(parents=True)
    at.symlink_to(outside / "precious" if link.endswith(".md") else outside)
    said = refused(capsys, "deploy", skill(project), "name=x", "dir=there", "description=d")
    assert "link" in said
    assert everything(outside) == {str(outside / "precious"): b"mine"}


def test_a_namesake_that_the_agent_loads_instead_is_told_of(
    project: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    deploy(skill(project), "name=x", "agent=claude-code", "scope=user", "description=d")
    capsys.readouterr()
    deploy(skill(project), "name=x", "agent=claude-code", "description=d")
    assert f"{home / '.claude/skills/x'}, too: that skill is the one that it loads" in capsys.readouterr().out


def test_a_skill_that_is_not_the_scored_one_is_refused(
    trained: Path, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(trained, project / "run")
    (project / "run/best_skill.md").write_text("- Something else.\n")
    said = refused(capsys, "deploy", "run=run", "name=x", "dir=there", code=3)
    assert "not the skill that was scored" in said
    assert not (project / "there").exists()


def test_the_front_matter_of_a_skill_is_used_and_not_put_there_twice(project: Path, home: Path) -> None:
    text = f"---\nname: own-name\ndescription: 'Its own: words'\nlicense: MIT\n---\n\n{PLAIN}"
    deploy(skill(project, text), "agent=codex")
    told = LOADERS["codex"](project, home, "own-name")
    assert told is not None
    assert (told.description, told.body) == ("Its own: words", PLAIN)


def test_a_body_that_begins_with_a_rule_of_dashes_stays_whole(project: Path, home: Path) -> None:
    for text in ("---\n\nBetween rules\n\n---\n\nafter", "---\nonly one"):
        deploy(skill(project, text), "name=x", "agent=codex", "description=d")
        told = LOADERS["codex"](project, home, "x")
        assert told is not None
        assert told.body == text


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["name=x", "agent=codex"], "say what to deploy"),
        (["run=latest", "name=x", "agent=codex"], "no run is below"),
        (["skill=gone.md", "name=x", "agent=codex"], "cannot be read"),
        (["skill=empty.md", "name=x", "agent=codex", "description=d"], "is empty"),
        (["skill=skill.md", "name=x", "agent=cursor"], "use one of claude-code"),
        (["skill=skill.md", "name=x"], "where the skill goes"),
        (["skill=skill.md", "name=x", "agent=codex", "dir=y"], "where the skill goes"),
        (["skill=skill.md", "name=x", "dir=y", "scope=user"], "scope belongs to agent"),
        (["skill=skill.md", "agent=codex"], "name is missing"),
        (["skill=skill.md", "name=x", "agent=codex"], "description is missing"),
        (["skill=skill.md", "name=x", "dir=skill.md", "description=d"], "is no folder"),
        (["skill=skill.md", "name=x", "dir=/proc/foo", "description=d"], "cannot be written"),
        (["skill=skill.md", "name=${x}", "dir=y", "description=d"], "name="),
        (["skill=bad.md", "name=x", "dir=y", "description=d"], "not valid YAML"),
    ],
)
def test_a_command_that_cannot_be_followed_gets_one_message(
    arguments: list[str], said: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    skill(project)
    (project / "empty.md").write_text("\n")
    (project / "bad.md").write_text("---\nname: [\n---\nbody\n")
    before = everything(project.parent)
    told = refused(capsys, "deploy", *arguments)
    assert (said in told, told.count("error: ")) == (True, 1), told
    assert everything(project.parent) == before


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="this user may write anywhere")
def test_a_folder_that_cannot_be_written_gets_one_message(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "there").mkdir(mode=0o500)
    assert "cannot be written" in refused(
        capsys, "deploy", skill(project), "name=x", "dir=there", "description=d"
    )


NAMES = st.from_regex(r"\A[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}\Z").filter(
    lambda name: name not in {"con", "prn", "aux", "nul"} and name[:3] not in {"com", "lpt"}
)
WRITABLE = st.text(st.characters(codec="utf-8", exclude_characters="\r"), max_size=300)


@given(
    name=NAMES, description=WRITABLE, metadata=st.dictionaries(WRITABLE, WRITABLE, max_size=4), body=WRITABLE
)
def test_any_package_comes_back_as_it_was_written(
    name: str, description: str, metadata: dict[str, str], body: str
) -> None:
    try:
        check_name(name)
        check_description(description)
    except UsageError:
        return
    package = Package(name, description, metadata, body.strip("\n"))
    assert parse(package.text, "here") == package
    head = package.text.split("---\n")[1] if "---" not in description else ""
    assert all(
        line.partition(":")[0] in ("name", "description", "metadata") for line in head.split("\n")[:-1]
    )
