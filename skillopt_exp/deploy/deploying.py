"""Deploying a skill, and taking it back: each step of it checked before anything is written."""

from dataclasses import dataclass

from skillopt_exp.deploy.findings import Finding, new_findings
from skillopt_exp.deploy.journal import Action, Journal, Origin, Receipt
from skillopt_exp.deploy.loading import as_loaded_unchanged, dollars
from skillopt_exp.deploy.package import (
    ADVISED_TOKENS,
    SKILL_FILE,
    Package,
    check_description,
    parse,
)
from skillopt_exp.deploy.place import Place
from skillopt_exp.deploy.source import Source
from skillopt_exp.deploy.tree import File, Tree, write_tree
from skillopt_exp.errors import UsageError
from skillopt_exp.skill import num_tokens


@dataclass(frozen=True, slots=True)
class Plan:
    """What would be written where. ``findings`` are those that need the user's word."""

    place: Place
    source: Source
    package: Package
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]

    @property
    def content(self) -> bytes:
        """The bytes of SKILL.md."""
        return self.package.text.encode("utf-8")


def plan(source: Source, place: Place, description: str | None) -> Plan:
    """The package for ``place``, checked against the specification and the agent's own rules.

    Raises:
        UsageError: a rule that it breaks, in words.
    """
    chosen = source.description if description is None else description
    if chosen is None:
        raise UsageError(
            "description is missing: agents choose a skill by it. Say what it does and when to use it: "
            "description='...'"
        )
    check_description(chosen)
    try:
        source.body.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(f"{source.label}: half a character cannot be written ({error.reason})") from error
    package = Package(place.name, chosen, source.metadata, as_loaded_unchanged(source.body, place.agent))
    _check_length(package, place)
    if parse(package.text, SKILL_FILE) != package:
        raise UsageError(
            f"{source.label} does not come back as it was from a SKILL.md; please report this with the skill"
        )
    return Plan(
        place,
        source,
        package,
        new_findings(source.body, source.before),
        (*source.remarks, *_notes(package, place)),
    )


def deploy(planned: Plan, *, confirmed: bool) -> Receipt:
    """Write the package, keep what it replaces, and read it back.

    Raises:
        UsageError: there are findings and ``confirmed`` is not set, the disk does not take it, or what was
            written cannot be read back; nothing is changed then.
    """
    if planned.findings and not confirmed:
        raise unconfirmed(planned.findings)
    journal = Journal(planned.place)
    with journal.locked():
        before = journal.current()
        origin = Origin(planned.source.label, planned.source.digest, tuple(map(str, planned.findings)))
        receipt = journal.change(Action.deploy, {SKILL_FILE: File(planned.content)}, origin)
        _read_back(planned, before)
    return receipt


def undeploy(place: Place, *, confirmed: bool) -> Receipt:
    """Take the skill away: what stood there before its first deployment is there again, or nothing.

    Raises:
        UsageError: it was not deployed from here, or was changed since and ``confirmed`` is not set.
    """
    return _undo(place, Action.undeploy, which=0, confirmed=confirmed)


def rollback(place: Place, *, confirmed: bool) -> Receipt:
    """Undo the last deployment that stands: what it replaced is there again, or nothing.

    Raises:
        UsageError: nothing is deployed, or it was changed since and ``confirmed`` is not set.
    """
    return _undo(place, Action.rollback, which=-1, confirmed=confirmed)


def unconfirmed(findings: tuple[Finding, ...]) -> UsageError:
    """The refusal that shows what was found."""
    listed = "".join(f"\n  {finding}" for finding in findings)
    return UsageError(
        f"training brought into the skill what an agent could act on; nothing was written:{listed}\n"
        "Read these lines. If they are what you want, say confirm=true"
    )


def _undo(place: Place, action: Action, *, which: int, confirmed: bool) -> Receipt:
    if not place.kept.is_dir():
        raise _nothing(place)
    journal = Journal(place)
    with journal.locked():
        deployments = journal.deployments()
        if not deployments:
            raise _nothing(place)
        if journal.changed_since(deployments[-1]) and not confirmed:
            raise UsageError(
                f"{place.folder} was changed since it was deployed; confirm=true replaces it all the same "
                "and keeps what stands there now as a backup"
            )
        undone = deployments[which]
        return journal.change(action, journal.backup_of(undone), Origin(f"before deployment {undone.number}"))


def _nothing(place: Place) -> UsageError:
    return UsageError(
        f"no deployment of {place.name} is known in {place.root}; name the agent and scope, or the dir, that "
        "it was deployed with"
    )


def _read_back(planned: Plan, before: Tree) -> None:
    """What is on the disk, read as an agent would; a difference takes the old skill back."""
    file = planned.place.file
    try:
        found = parse(file.read_bytes().decode("utf-8"), str(file))
        problem = None if found == planned.package else "it is not what was written"
    except (OSError, UnicodeDecodeError, UsageError) as error:
        problem = str(error)
    if problem is not None:
        write_tree(planned.place.folder, before)
        raise UsageError(f"{file} could not be read back ({problem}); what stood there before is there again")


def _check_length(package: Package, place: Place) -> None:
    most = None if place.agent is None else place.agent.most_chars
    if most is not None and place.agent is not None and len(package.text) > most:
        raise UsageError(
            f"the skill has {len(package.text):,} characters; {place.agent.title} loads at most {most:,}. "
            "Train with a lower optimizer.max_skill_tokens, or shorten a copy and deploy it with skill=<file>"
        )


def _notes(package: Package, place: Place) -> list[str]:
    notes = []
    size = num_tokens(package.body)
    if size > ADVISED_TOKENS:
        notes.append(f"about {size:,} tokens; the specification advises under {ADVISED_TOKENS:,}")
    filled = dollars(package.body)
    if filled and place.agent is None:
        notes.append(f"Claude Code would fill in {', '.join(filled)}; for it deploy with agent=claude-code")
    elif filled and place.agent is not None and place.agent.fills_dollars:
        notes.append(
            f"{', '.join(filled)} stand with a backslash, which {place.agent.title} takes away; another "
            "agent that reads this folder sees it"
        )
    remark = (
        None
        if place.agent is None or place.agent.remark is None or place.scope is None
        else (place.agent.remark.get(place.scope))
    )
    return [*notes, *([remark] if remark else [])]
