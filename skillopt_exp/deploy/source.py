"""What is deployed: the best skill of a run, or any Markdown file."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillopt_exp import __version__
from skillopt_exp.deploy.package import MOST_DESCRIPTION, split_front_matter
from skillopt_exp.errors import DataError, UsageError
from skillopt_exp.reading import named_path, read_text, why
from skillopt_exp.records import Evidence, Skill, Summary
from skillopt_exp.runs.files import read_record
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.recorder import Provenance
from skillopt_exp.runs.state import read_skill_text


@dataclass(frozen=True, slots=True)
class Source:
    """A skill to deploy. ``body`` is its text without front matter, ``before`` what training began with.

    ``name`` and ``description`` are what its own front matter says, or a fit default; None where there is
    none. ``digest`` is the SHA-256 of the whole text; ``remarks`` are what to know before it is used.
    """

    label: str
    body: str
    before: str
    digest: str
    name: str | None
    description: str | None
    metadata: Mapping[str, str]
    remarks: tuple[str, ...] = ()


def of_run(run: RunFolder) -> Source:
    """The best skill of ``run``.

    Raises:
        UsageError: it has none yet, or it is empty.
        DataError: the file is not the skill that was scored.
    """
    if not run.best_skill.exists() or not run.best_provenance.exists():
        raise UsageError(
            f"{run.path} has no {run.best_skill.name} yet: it has not scored its first skill; resume it, or "
            "give another run"
        )
    text = read_skill_text(run.best_skill)
    provenance = read_record(Provenance, run.best_provenance)
    digest = Skill(body=text).digest
    if digest != provenance.digest:
        raise DataError(
            f"{run.best_skill} is not the skill that was scored (SHA-256 {digest[:12]}, scored "
            f"{provenance.digest[:12]}): it was changed. Restore it, or deploy the changed text as what it "
            f"is: skill={run.best_skill}"
        )
    summary = run.read_summary()
    head, body = split_front_matter(text, str(run.best_skill))
    before = read_skill_text(run.skill(0)) if run.skill(0).exists() else ""
    return Source(
        label=str(run.path),
        body=_filled(body, str(run.best_skill)),
        before=before,
        digest=digest,
        name=None,
        description=_text(head, "description") or _described(provenance.dataset),
        metadata=_metadata(run, provenance, summary, digest),
        remarks=tuple(_remarks(provenance, summary, digest)),
    )


def of_file(given: str, *, base: Path) -> Source:
    """The Markdown file that ``skill=given`` names. Nobody knows where it comes from, so all of it is new.

    Raises:
        UsageError: it cannot be read, or is empty.
    """
    path = named_path(given, base=base, key="skill")
    try:
        text = read_text(path).strip("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"skill={given}: {path} cannot be read ({why(error)}); give a Markdown file"
        ) from error
    head, body = split_front_matter(text, str(path))
    digest = Skill(body=text).digest
    return Source(
        label=str(path),
        body=_filled(body, str(path)),
        before="",
        digest=digest,
        name=_text(head, "name"),
        description=_text(head, "description"),
        metadata={"version": f"skillopt_exp {__version__}", "skill_sha256": digest},
    )


def _filled(body: str, where: str) -> str:
    if not body.strip():
        raise UsageError(f"{where} is empty: there is nothing to deploy")
    return body


def _text(head: Mapping[str, object], field: str) -> str | None:
    value = head.get(field)
    return " ".join(value.split()) if isinstance(value, str) and value.strip() else None


def _described(dataset: str) -> str:
    """From the name of the data set alone: no word of a model goes into front matter."""
    said = (
        f"Instructions for tasks like those of the {dataset} data set, trained and tested on them. "
        "Use when a question of that kind is to be answered."
    )
    return said[:MOST_DESCRIPTION]


def _metadata(
    run: RunFolder, provenance: Provenance, summary: Summary | None, digest: str
) -> Mapping[str, str]:
    known = {
        "version": f"skillopt_exp {provenance.skillopt_exp}",
        "run": run.path.name,
        "dataset": provenance.dataset,
        "target": provenance.target,
        "optimizer": provenance.optimizer,
        "simulated": "true" if provenance.simulated else None,
        "val_hard": _share(provenance.selection_hard),
        "test_hard": None if summary is None else _share(summary.test_hard),
        "baseline_test_hard": None if summary is None else _share(summary.baseline_test_hard),
        "evidence": None if summary is None or summary.evidence is None else str(summary.evidence),
        "skill_sha256": digest,
    }
    return {name: value for name, value in known.items() if value is not None}


def _share(value: float | None) -> str | None:
    return None if value is None else f"{value:.4f}"


def _remarks(provenance: Provenance, summary: Summary | None, digest: str) -> list[str]:
    remarks = []
    if provenance.simulated:
        remarks.append("the models of this run were simulated: its scores say nothing about real ones")
    if digest == provenance.seed_digest:
        remarks.append("training changed nothing: this is the skill that it began with")
    if summary is None or summary.test_hard is None:
        remarks.append(
            "the run is not tested: nobody knows what the skill gains on items that it was not chosen on"
        )
    elif summary.evidence is not Evidence.clear or (summary.test_delta_hard or 0.0) <= 0:
        remarks.append(f"the run does not show that the skill helps: {summary.verdict}")
    return remarks
