"""How often a provider failed is told at the end, and kept."""

import json
from pathlib import Path

from llm.misbehaving import Answer, Asked, MisbehavingServer, refuses
from serving import roles_at, skillopt

from skillopt_exp import data, simulation
from skillopt_exp.commands.composing import compose


def test_a_run_tells_how_many_requests_failed_and_with_which_status(tmp_path: Path) -> None:
    config = compose(["dataset=demo", "model=simulated"])
    models = simulation.simulation(data.load(config.dataset, base=tmp_path).knowledge)
    failing = {
        # The seed skill on the 12 items of val: whatever comes after it, these are asked of the target.
        3: refuses(429, "slow down", headers={"retry-after": "0"}),
        6: refuses(429, "slow down", headers={"retry-after": "0"}),
        9: refuses(503, "down", headers={"retry-after": "0"}),
        11: Answer("", drop=True),
    }

    def decide(asked: Asked) -> Answer:
        return failing.get(len(server.asked)) or Answer(models.complete(asked.body).body.decode())

    server = MisbehavingServer()
    server.decide = decide
    try:
        done = skillopt(
            *roles_at(server.url), "dataset=demo", "dataset.limit=40", "train.num_epochs=1", "tracking=none",
            "model.target.max_concurrency=1", cwd=tmp_path,
        )  # fmt: skip
    finally:
        server.close()
    assert done.returncode == 0, done.stderr
    (folder,) = (tmp_path / "outputs").glob("*/*")
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["failed_requests"] == {"target": {"429": 2, "503": 1, "no answer": 1}}
    assert "failed requests  target: 2 × 429, 1 × 503, 1 × no answer" in done.stdout
    assert sum(usage["calls"] for usage in summary["usage"].values()) == len(server.asked) - 4
