"""Which code a run was started with."""

import subprocess
from pathlib import Path


def git_commit(folder: Path) -> str | None:
    """The commit that is checked out at ``folder``, 40 hex digits; None outside of git or without it."""
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return answer.stdout.strip()
