import shlex

import pytest
from documents import ROOT, Block, blocks, coded, table

from skillopt_exp import commands
from skillopt_exp.commands.gate_selftest import GateSelftestArguments
from skillopt_exp.errors import UsageError
from skillopt_exp.stats.criterion import Criterion, GateRule
from skillopt_exp.stats.power import Answers, smallest_gain, wins_needed
from skillopt_exp.summary import SEED_RULE_ACCEPTS, SEED_RULE_DELTA

PAGE = ROOT / "docs" / "gate.md"
QUICK = ("runs=50", "val_sizes=[10,200]", "steps=5")


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert commands.run(["gate-selftest", *arguments]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("gate", ["strict", "significant", "soft", "accept_all"])
def test_the_tables_fit_the_terminal(
    gate: str, columns: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = printed(capsys, f"gate={gate}", *QUICK)
    assert all(len(line.rstrip()) <= columns for line in out.splitlines())
    assert "…" not in out, "nothing is cut"
    for words in ("in one", "once or more", "twice or", "above truth", "seed rule", "gain of"):
        assert words in out
    assert ("items to win" in out) is (gate != "soft"), "what is exact for hard scores alone"


def test_the_keys_of_the_gate_are_taken(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(
        capsys, "gate=significant", "gate.alpha=0.1", "gate.alpha_per=run", "gate.no_regression=1", *QUICK
    )
    assert "at most 2 % of comparisons" in " ".join(out.split()), "0.1 shared by 5 steps"
    assert "at most 1 val items" in " ".join(out.split())


def test_sizes_gains_baseline_and_churn_are_what_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(
        capsys, "val_sizes=[7]", "gains=[0.3]", "baseline=0.6", "churn=0.1", "runs=20", "test_size=40"
    )
    assert "60 % of the items are solved; asked again, 10 % of them change" in " ".join(out.split())
    assert "30 points" in out
    assert "here of 40 items" in " ".join(out.split())
    assert [line.split()[0] for line in out.splitlines() if line.strip().startswith("7 ")] == ["7", "7"]


def test_one_seed_prints_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, *QUICK) == printed(capsys, *QUICK)
    assert printed(capsys, *QUICK) != printed(capsys, *QUICK, "seed=1")


def test_help_answers_without_simulating(capsys: pytest.CaptureFixture[str]) -> None:
    out = printed(capsys, "--help")
    assert "val_sizes" in out
    assert "gate=significant gate.alpha=0.01" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("train.seed=3", r"gate-selftest has no key 'train\.seed'; did you mean seed"),
        ("gate.alhpa=3", r"did you mean gate\.alpha"),
        ("runs=0", r"must be from 1"),
        ("val_sizes=[30,0]", r"each of val_sizes must be from 1"),
        ("seed=-1", r"seed is -1; give 0 or more"),
        (
            "gains=[0.7]",
            r"a gain of 0\.7 is none that a baseline of 0\.5 leaves room for; give gains from 0 to 0\.5",
        ),
        ("baseline=2", r"the baseline is 2"),
        ("churn=0.7", r"the churn is 0\.7; where 0\.5 of the items are solved, give 0 to 0\.5"),
        ("gate.alpha=0.1", r"gate\.rule=strict does not read it"),
        ("+model=openai", r"has no key '\+model'"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_what_to_do(arguments: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        commands.run(["gate-selftest", *arguments.split()])


def outputs() -> list[Block]:
    """The blocks of the page that show what the command printed: the command first."""
    return [block for block in blocks(PAGE) if "gate-selftest" in block.text]


@pytest.mark.parametrize("block", outputs(), ids=lambda block: block.where)
def test_the_page_shows_what_the_command_prints(
    block: Block, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    command, *shown = block.text.splitlines()
    arguments = shlex.split(command.removeprefix("$ python -m skillopt_exp gate-selftest"))
    said = [line.rstrip() for line in printed(capsys, *arguments).splitlines()]
    for line in shown:
        assert line == "..." or line.rstrip() in said, line


def test_the_page_names_the_seed_rule_as_the_summary_has_it() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"over {100 * SEED_RULE_DELTA:g} points on test and at least {SEED_RULE_ACCEPTS} accepted" in text


def test_the_page_is_right_about_the_items_to_be_won() -> None:
    for lost, *needed in table(PAGE, "lost", "alpha = 0.05", "alpha = 0.05 / 45"):
        for alpha, wins in zip((0.05, 0.05 / 45), needed, strict=True):
            criterion = Criterion(GateRule.significant, alpha=alpha)
            assert wins_needed(criterion, 1000, losses=int(lost)) == int(wins)


def test_the_page_is_right_about_the_gains_that_are_seen() -> None:
    gates = [("strict", Criterion()), ("alpha = 0.05", Criterion(GateRule.significant, alpha=0.05))]
    cases = [(name, criterion, churn) for name, criterion in gates for churn in (0.1, 0.5)]
    columns = [f"{name}, churn {churn:g}" for name, _, churn in cases]
    for items, *gains in table(PAGE, "val items", *columns):
        for (_, criterion, churn), shown in zip(cases, gains, strict=True):
            gain = smallest_gain(criterion, int(items), Answers(0.5, churn))
            assert shown == ("never" if gain is None else f"{100 * gain:.1f}")


def test_the_page_lists_the_keys_of_the_verb() -> None:
    listed = [coded(name)[0] for name, _ in table(PAGE, "key", "is")]
    assert listed == list(GateSelftestArguments.__dataclass_fields__)
