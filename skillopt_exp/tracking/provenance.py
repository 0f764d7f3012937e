"""What every MLflow run of this package says of itself, whether it trains or evaluates."""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp import __version__
from skillopt_exp.config.tracking import TrackingConfig
from skillopt_exp.records import Split
from skillopt_exp.tracking.session import TrackedRun
from skillopt_exp.tracking.source import git_commit
from skillopt_exp.tracking.store import Store

if TYPE_CHECKING:
    from mlflow.entities import Run

WHAT_SCORES_ARE = "Scores are of three kinds: " + ", ".join(
    f"{split}/ is {split.meaning}" for split in Split
) + "; selection in a metric's name is val."  # fmt: skip


def experiment_name(config: TrackingConfig, dataset: str) -> str:
    """The experiment that runs on ``dataset`` are compared in, unless the user names one."""
    return f"skillopt/{dataset}" if config.experiment is None else config.experiment


def tracked(store: Store, run: "Run") -> TrackedRun:
    """Where ``run`` is found."""
    experiment_id, run_id = run.info.experiment_id, run.info.run_id
    return TrackedRun(
        uri=store.shown,
        experiment_id=experiment_id,
        run_id=run_id,
        ui_command=store.ui_command,
        link=store.link(experiment_id, run_id),
    )


def provenance(*, folder: Path, base: Path, manifest_json: str, called: str) -> dict[str, str]:
    """Tags: the splits, the version, the commit, and the folder under the name ``called``, relative to
    ``base`` where it lies inside. The run's description says what its scores are."""
    whole, commit = folder.absolute(), git_commit(base)
    return {
        "manifest_sha256": sha256(manifest_json.encode()).hexdigest(),
        "skillopt_exp": __version__,
        called: str(whole.relative_to(base) if whole.is_relative_to(base) else whole),
        "mlflow.note.content": WHAT_SCORES_ARE,
        **({} if commit is None else {"mlflow.source.git.commit": commit}),
    }
