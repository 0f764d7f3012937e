"""The simulated models as a server: a process of its own, trained against over HTTP."""

from pathlib import Path

from running import all_files, run
from serving import requests, roles_at, served


def test_training_over_http_is_training_in_process(tmp_path: Path) -> None:
    over_http, embedded = tmp_path / "over_http", tmp_path / "embedded"
    over_http.mkdir()
    embedded.mkdir()
    common = ("dataset.limit=40", "cache.mode=none")
    with served(tmp_path) as (address, log):
        summary = run(over_http, *roles_at(address), *common)
        asked = requests(log)
    run(embedded, *common)
    for name in ("best_skill.md", "history.jsonl"):
        assert all_files(over_http)[name] == all_files(embedded)[name]
    assert {row["model"] for row in asked} == {"simulated-target", "simulated-optimizer"}
    assert len(asked) == sum(usage.calls for usage in summary.usage.values())
