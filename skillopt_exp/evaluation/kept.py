"""What a run has already found out about a skill: its own attempts at test, and which items it has seen."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from omegaconf import OmegaConf

from skillopt_exp import __version__
from skillopt_exp.config.key import Affects
from skillopt_exp.config.resolved import flat
from skillopt_exp.config.root import schema_fields
from skillopt_exp.data.manifest import Manifest
from skillopt_exp.evaluation.bench import Bench
from skillopt_exp.records import Skill, Split
from skillopt_exp.runs.codec import from_json
from skillopt_exp.runs.files import read_text
from skillopt_exp.runs.folder import RunFolder
from skillopt_exp.runs.rollouts import RolloutLine, read_rollouts

_PLACES = ("dataset.path", "dataset.split_dir")
"""Where items come from is compared by what they say, not by the path."""


@dataclass(frozen=True, slots=True)
class Attempts:
    """One attempt an item, in the bench's order; ``origin`` is the file that they were read from."""

    lines: tuple[RolloutLine, ...]
    origin: str


@dataclass(frozen=True, slots=True)
class Kept:
    """Attempts that need not be made again, by the digest of their skill.

    ``why_not`` says why there are none where one might expect them.
    """

    by_digest: Mapping[str, Attempts] = field(default_factory=dict)
    why_not: str = ""


def kept_by(run: RunFolder, bench: Bench) -> Kept:
    """The run's attempts at exactly the items of ``bench``, by the same target in the same way.

    Raises:
        DataError: a file of the run is damaged.
    """
    if bench.split is not Split.test:
        return Kept()
    why_not = next(_obstacles(run, bench), "")
    if why_not:
        return Kept(why_not=why_not)
    summary = run.read_summary()
    assert summary is not None, "a finished run has a summary"
    wanted = [(item.id, number) for item, number in bench.attempts]
    found = {}
    tested = {"control": Skill().digest, "baseline": summary.seed_digest, "best": summary.best_digest}
    for which, digest in tested.items():
        if which == "control" and not run.test(which).exists():
            continue
        lines = read_rollouts(run.test(which))
        if [(line.id, line.attempt) for line in lines] != wanted:
            return Kept(why_not=f"{run.test(which)} holds other items")
        found[digest] = Attempts(lines, str(run.test(which)))
    return Kept(found)


def seen_by(run: RunFolder, bench: Bench) -> int:
    """How many items of ``bench`` the run trained on or chose its skill by. Ids count within one source only.

    Raises:
        DataError: the run's split manifest is damaged.
    """
    manifest = _manifest(run)
    if manifest is None or not _sources(manifest) & _sources(bench.prepared.loaded.manifest):
        return 0
    seen = {*manifest.train.ids, *manifest.val.ids}
    return sum(item.id in seen for item in bench.items)


def _obstacles(run: RunFolder, bench: Bench) -> Iterator[str]:
    summary = run.read_summary()
    if summary is None or not summary.complete:
        yield "the run is not finished"
    if run.marker.skillopt_exp != __version__:
        yield f"the run was made by skillopt_exp {run.marker.skillopt_exp}, this is {__version__}"
    manifest, own = _manifest(run), bench.prepared.loaded.manifest
    if manifest is None or manifest.test != own.test:
        yield "its test items are others"
    old = flat(OmegaConf.create(read_text(run.config))) if run.config.exists() else {}
    new = bench.resolved.flat
    for name in _decisive():
        if old.get(name) != new.get(name):
            yield f"{name} is {new.get(name)} now and was {old.get(name)} then"


def _decisive() -> Iterator[str]:
    """The keys that an attempt at a given item depends on."""
    for name, each in schema_fields():
        asked = name.startswith(("dataset.", "model.target.")) and each.metadata["affects"] is Affects.result
        if (asked and name not in _PLACES) or name == "evaluation.test_limit":
            yield name


def _manifest(run: RunFolder) -> Manifest | None:
    if not run.manifest.exists():
        return None
    return from_json(Manifest, read_text(run.manifest), str(run.manifest))


def _sources(manifest: Manifest) -> set[str]:
    return {source.sha256 for source in manifest.sources}
