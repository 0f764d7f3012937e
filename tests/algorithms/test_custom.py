"""``optimizer=custom``: the documented example is kept and resumed like the built-in optimizers."""

import io
import json
import sys
from pathlib import Path

import pytest
from documents import ROOT, blocks
from rich.console import Console
from running import SMALL, all_files, history

from skillopt_exp import commands
from skillopt_exp.commands.composing import compose, compose_raw
from skillopt_exp.commands.running import Launch, go_on, start
from skillopt_exp.decide import decide
from skillopt_exp.errors import BudgetError, UsageError
from skillopt_exp.records import Split
from skillopt_exp.runs.folder import RunFolder

GOOD = "- Answer with the bare name, never with a sentence."
SKILLS = ("- Take care.", GOOD, "- Explain your answer at length.")
CUSTOM = ("optimizer=custom", "optimizer.factory=random_search:RandomSearch")
SEARCH = (*SMALL, *CUSTOM, f"+optimizer.options.skills={json.dumps(SKILLS)}")


@pytest.fixture(autouse=True)
def _importable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = (
        block for block in blocks(ROOT / "docs" / "algorithm.md") if block.name == "random_search.py"
    )
    (tmp_path / example.name).write_text(example.text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "random_search", raising=False)


def launched_from(base: Path) -> Launch:
    return Launch(base=base, choices={}, console=Console(file=io.StringIO()))


def test_its_steps_are_judged_kept_and_summed_up(tmp_path: Path) -> None:
    summary = start(compose_raw(SEARCH), tmp_path / "run", launched_from(tmp_path))
    rows = history(tmp_path / "run")
    (accepted,) = (row for row in rows if row["outcome"] == "accepted")
    assert {row["outcome"] for row in rows if row is not accepted} == {"rejected"}
    assert (summary.total_steps, summary.total_accepts, summary.best_step) == (3, 1, accepted["step"])
    assert "the optimizer proposed no edits" not in summary.cause
    assert all_files(tmp_path / "run")["best_skill.md"].decode() == f"{GOOD}\n"


def test_it_goes_on_from_what_was_done(tmp_path: Path) -> None:
    launch = launched_from(tmp_path)
    start(compose_raw([*SEARCH, "cache.mode=none"]), tmp_path / "whole", launch)
    stopped = tmp_path / "stopped"
    with pytest.raises(BudgetError):
        # The seed and two of the three skills on 24 val items.
        start(compose_raw([*SEARCH, "cache.mode=none", "budget.calls=73"]), stopped, launch)
    assert len(history(stopped)) == 2
    go_on(compose_raw([*SEARCH, "cache.mode=none"]), RunFolder.open(stopped), launch)
    assert all_files(stopped)["history.jsonl"] == all_files(tmp_path / "whole")["history.jsonl"]


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("nowhere_at_all:make", "nowhere_at_all cannot be imported"),
        ("random_search:random", "has nothing to call that is named 'random'"),
        ("random_search:gone", "has nothing to call that is named 'gone'"),
        ("random_search", "give package.module:name"),
    ],
)
def test_what_makes_no_optimizer_is_refused_before_the_run(factory: str, said: str) -> None:
    config = compose(["model=simulated", "optimizer=custom", f"optimizer.factory={factory}"])
    with pytest.raises(UsageError, match=said):
        decide(config, dict.fromkeys(Split, 100))


def test_an_option_is_added_with_a_plus() -> None:
    with pytest.raises(UsageError, match=r"add it with \+optimizer\.options\.size=\.\.\."):
        compose([*CUSTOM, "optimizer.options.size=3"])
    assert compose([*CUSTOM, "+optimizer.options.size=3"]).optimizer.options == {"size": 3}


def test_its_plan_is_not_known() -> None:
    with pytest.raises(UsageError, match=r"is not known before; cap it with budget\.calls"):
        commands.run(["plan", "dataset=demo", "model=simulated", *CUSTOM])
