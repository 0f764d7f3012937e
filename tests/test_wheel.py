"""What people install: the wheel carries the configuration, the prompts and the demo data."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skillopt_exp.config.locate import conf_dir, data_file

ROOT = Path(__file__).parents[1]


def test_a_checkout_finds_the_configuration_beside_the_package() -> None:
    assert conf_dir() == ROOT / "conf"
    assert data_file("demo/items.jsonl").is_file()


@pytest.mark.slow
def test_the_demo_runs_from_the_wheel_in_an_empty_folder(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(tmp_path / "dist"), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    installed, empty = tmp_path / "installed", tmp_path / "empty"
    empty.mkdir()
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--target",
            str(installed),
            str(wheel),
        ],
        check=True,
        capture_output=True,
    )
    shown = subprocess.run(
        [
            sys.executable,
            "-P",
            "-c",
            f"import sys; sys.path.insert(0, {str(installed)!r}); "
            "import skillopt_exp; print(skillopt_exp.__file__); "
            "from skillopt_exp.__main__ import main; "
            "sys.exit(main(['dataset=demo', 'model=simulated', 'train.num_epochs=1']))",
        ],
        cwd=empty,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    assert str(installed) in shown.stdout.splitlines()[0]
    for plugin in ("__init__.py", "sweeper.py"):
        assert (installed / "hydra_plugins" / "skillopt_sweeper" / plugin).is_file()
    assert not (installed / "hydra_plugins" / "__init__.py").exists(), "other plugins have a place beside it"
    (summary,) = empty.glob("outputs/demo/*/summary.json")
    assert json.loads(summary.read_text(encoding="utf-8"))["status"] == "finished"
