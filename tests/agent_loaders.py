"""How each agent finds and reads skills, written from its documentation and apart from the code under test.

Each takes the project, the home and a name, and returns what the agent would be told; None where it finds
nothing or refuses what it finds.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml


@dataclass(frozen=True)
class Told:
    """What an agent knows of a skill: its list shows the description, the body comes when it is used."""

    name: str
    description: str
    body: str


def front_matter(text: str) -> tuple[Mapping[str, object], str]:
    lines = text.split("\n")
    assert lines[0] == "---"
    end = lines.index("---", 1)
    fields = yaml.safe_load("\n".join(lines[1:end]))
    assert isinstance(fields, dict)
    return fields, "\n".join(lines[end + 1 :]).strip()


def first(roots: list[Path], name: str) -> Path | None:
    return next((root / name / "SKILL.md" for root in roots if (root / name / "SKILL.md").is_file()), None)


def parents(project: Path, folder: str) -> Iterator[Path]:
    """The folder in the project and in what is above it, up to the root of its repository."""
    for at in (project, *project.parents):
        yield at / folder
        if (at / ".git").exists():
            return


def claude_code(project: Path, home: Path, name: str) -> Told | None:
    file = first([home / ".claude/skills", *parents(project, ".claude/skills")], name)
    if file is None or name == "synced":
        return None
    fields, body = front_matter(file.read_text(encoding="utf-8"))
    assert re.search(r"!`[^`]+`", body) is None, "it would be run"
    # A backslash escapes; two do not. No arguments were given: what is filled in becomes empty.
    body = re.sub(r"(?<!\\)\$(?:ARGUMENTS(?:\[\d+\])?|\d+)", "", body)
    body = re.sub(r"(?<!\\)\\(\$(?:ARGUMENTS|\d))", r"\1", body)
    body = re.sub(r"\$\{CLAUDE_[A-Z_]+\}", "/somewhere", body)
    return Told(file.parent.name, str(fields["description"])[:1536], body)


def codex(project: Path, home: Path, name: str) -> Told | None:
    file = first([*parents(project, ".agents/skills"), home / ".agents/skills"], name)
    if file is None:
        return None
    fields, body = front_matter(file.read_text(encoding="utf-8"))
    description = " ".join(str(fields["description"]).split())
    if len(str(fields["name"])) > 64 or len(description) > 1024:
        return None
    return Told(str(fields["name"]), description, body)


def hermes(project: Path, home: Path, name: str) -> Told | None:
    """With a project that is trusted."""
    file = first([project / ".hermes/skills", project / ".agents/skills", home / ".hermes/skills"], name)
    if file is None:
        return None
    text = file.read_text(encoding="utf-8")
    fields, body = front_matter(text)
    sound = re.fullmatch(r"[a-z0-9][a-z0-9._-]{0,63}", str(fields["name"])) and body and len(text) <= 100_000
    if not sound or len(str(fields["description"])) > 1024:
        return None
    return Told(str(fields["name"]), str(fields["description"]), body.replace("${HERMES_SKILL_DIR}", "/x"))


def openclaw(project: Path, home: Path, name: str) -> Told | None:
    """By its fallback, which reads one line at a time and no YAML."""
    roots = [project / "skills", project / ".agents/skills", home / ".agents/skills"]
    file = first([*roots, home / ".openclaw/skills"], name)
    if file is None or not file.resolve().is_relative_to(file.parents[1].resolve()):
        return None
    text = file.read_text(encoding="utf-8")
    head, body = re.fullmatch(r"---\n(.*?)\n---\n(.*)", text, re.DOTALL).groups()  # type: ignore[union-attr]
    fields = {}
    for line in head.split("\n"):
        key, _, value = line.partition(":")
        assert re.fullmatch(r"[a-z-]+", key), "every line is a field of its own"
        fields[key] = value.strip()
    return Told(yaml.safe_load(fields["name"]), yaml.safe_load(fields["description"]), body.strip())


def opencode(project: Path, home: Path, name: str) -> Told | None:
    folders = (".opencode/skills", ".claude/skills", ".agents/skills")
    roots = [root for folder in folders for root in parents(project, folder)]
    file = first([*roots, home / ".config/opencode/skills", home / ".claude/skills"], name)
    if file is None:
        return None
    fields, body = front_matter(file.read_text(encoding="utf-8"))
    named = str(fields["name"])
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", named) or len(named) > 64 or named != file.parent.name:
        return None
    return Told(named, str(fields["description"]), body)


LOADERS = {
    "claude-code": claude_code,
    "codex": codex,
    "hermes": hermes,
    "openclaw": openclaw,
    "opencode": opencode,
}
