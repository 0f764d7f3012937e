"""What a user may name as a skill: a Markdown file, a run's folder, or ``none``."""

from dataclasses import dataclass
from pathlib import Path

from skillopt_exp.errors import UsageError
from skillopt_exp.reading import named_path, read_text, why
from skillopt_exp.records import Skill
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.state import read_skill_text

NONE = "none"


@dataclass(frozen=True, slots=True)
class NamedSkill:
    """A skill with what it is called; ``run`` is the run whose best skill it is, if it is one's."""

    label: str
    skill: Skill
    run: RunFolder | None = None

    @property
    def described(self) -> str:
        """The label with the length of the text, in characters."""
        size = len(self.skill.text)
        if self.label == NONE:
            return "no skill"
        about = f"{size:,} characters" if size else "empty: the same as no skill"
        return f"{self.label} ({about})"


NO_SKILL = NamedSkill(NONE, Skill())


def find_skill(given: str, *, key: str, base: Path) -> NamedSkill:
    """The skill that ``key=given`` names; relative paths start from ``base``.

    Raises:
        UsageError: nothing can be read there, or the folder is no run's, or has no skill yet.
        DataError: the run's skill is not UTF-8.
    """
    if given == NONE:
        return NO_SKILL
    path = named_path(given, base=base, key=key)
    if path.is_dir():
        return _of_run(given, path, key)
    try:
        text = read_text(path)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"{key}={given}: {path} cannot be read ({why(error)}); "
            f"give a Markdown file, a run's folder, or {NONE}"
        ) from error
    return NamedSkill(given, Skill(body=text.strip()))


def _of_run(given: str, path: Path, key: str) -> NamedSkill:
    if not RunFolder.is_run(path):
        raise UsageError(
            f"{key}={given}: {path} is a folder, but not a run's: run.json is missing; give the folder that "
            "holds it, or a Markdown file"
        )
    run = RunFolder.open(path)
    if not run.best_skill.exists():
        raise UsageError(
            f"{key}={given}: the run has no {run.best_skill.name} yet: it has not scored its first skill; "
            "resume it, or give another"
        )
    return NamedSkill(given, Skill(body=read_skill_text(run.best_skill)), run)
