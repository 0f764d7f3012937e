"""How long the command line takes to answer a question about itself: ``python bench/startup.py``.

Each command runs in a process of its own, seven times, in turns; the median counts. A bare interpreter
is measured beside them, since it is part of each figure.
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUNS = 7
NOTHING = "python -c pass"
COMMANDS: dict[str, tuple[str, ...]] = {
    NOTHING: ("-c", "pass"),
    "skillopt_exp rule --help": ("-m", "skillopt_exp", "rule", "--help"),
    "skillopt_exp --help": ("-m", "skillopt_exp", "--help"),
}
LIMITS = {"skillopt_exp rule --help": 0.3, "skillopt_exp --help": 1.2}
"""Seconds in which a person should have the answer."""


def seconds(arguments: tuple[str, ...]) -> float:
    """Wall time of one process, from its start to its end."""
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return time.perf_counter() - start


def main() -> None:
    """Print the table."""
    for arguments in COMMANDS.values():
        seconds(arguments)  # the first run writes bytecode
    measured: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for _ in range(RUNS):
        for name, arguments in COMMANDS.items():
            measured[name].append(seconds(arguments))
    medians = {name: statistics.median(times) for name, times in measured.items()}
    lines = [f"{'command':<26}{'median':>9}{'limit':>8}{'of limit':>10}{'of bare python':>16}"]
    for name, median in medians.items():
        limit = LIMITS.get(name)
        shown = f"{'-':>8}{'-':>10}" if limit is None else f"{limit:>6g} s{median / limit:>10.2f}"
        lines.append(f"{name:<26}{median:>7.3f} s{shown}{median / medians[NOTHING]:>16.1f}")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
