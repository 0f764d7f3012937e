"""Runs that MLflow takes for running although their process is gone: killed, without a word."""

from pathlib import Path
from typing import TYPE_CHECKING

from skillopt_exp.runs.folder import RunFolder

if TYPE_CHECKING:
    from mlflow import MlflowClient

_MOST = 1000


def mark_stale(client: "MlflowClient", experiment_id: str, base: Path, *, own: str = "") -> tuple[str, ...]:
    """End (KILLED, with the tag ``cause``) the running runs of the experiment whose folder nobody holds.

    ``own`` is the id of the caller's run, which is left alone.

    Only folders that are found from ``base`` are judged: another host's run may well be alive.
    Returns the ids of the runs that were marked. Resuming such a run makes it RUNNING again.
    """
    marked = []
    for run in client.search_runs([experiment_id], "attributes.status = 'RUNNING'", max_results=_MOST):
        if run.info.run_id == own:
            continue
        folder = base / run.data.tags.get("run_folder", "")
        if "run_folder" in run.data.tags and RunFolder.is_run(folder) and not RunFolder.open(folder).in_use:
            client.set_tag(
                run.info.run_id, "cause", "its process ended without a word; resume goes on with it"
            )
            client.set_tag(run.info.run_id, "status", "stale")
            client.set_terminated(run.info.run_id, "KILLED")
            marked.append(run.info.run_id)
    return tuple(marked)
