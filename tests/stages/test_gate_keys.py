"""The keys of the gate: what each changes in a run, and which values are refused."""

from pathlib import Path

import pytest
from running import history, run

from skillopt_exp.commands.composing import compose
from skillopt_exp.errors import UsageError
from skillopt_exp.records import Metric
from skillopt_exp.stats.criterion import AlphaPer, GateRule

SMALL = ("gradient.minibatch_size=1", "train.batch_size=8")


def outcomes(folder: Path, *overrides: str) -> list[str]:
    folder.mkdir()
    run(folder, *SMALL, *overrides)
    return [f"{row['outcome']}(by: {row['by']})" if row["by"] else row["outcome"] for row in history(folder)]


def first_difference(one: list[str], other: list[str]) -> tuple[int, str, str]:
    """The first step, from 1, whose verdicts differ."""
    pairs = zip(one, other, strict=True)
    return next((step, a, b) for step, (a, b) in enumerate(pairs, 1) if a != b)


@pytest.mark.parametrize(
    ("base", "switch", "before", "after"),
    [
        ("gate=margin", "gate.margin=0.05", "accepted", "rejected(by: score)"),
        ("gate=significant", "gate.alpha=0.4", "rejected(by: score)", "accepted"),
        ("gate=significant gate.alpha=0.4", "gate.alpha_per=run", "accepted", "rejected(by: score)"),
        ("gate=accept_all", "gate.no_regression=0", "accepted", "rejected(by: regression)"),
    ],
)
def test_each_key_changes_the_verdicts_it_is_for(
    tmp_path: Path, base: str, switch: str, before: str, after: str
) -> None:
    one = outcomes(tmp_path / "one", *base.split())
    other = outcomes(tmp_path / "other", *base.split(), switch)
    assert first_difference(one, other)[1:] == (before, after)


@pytest.mark.parametrize(
    ("preset", "metric", "rule"),
    [
        ("strict", Metric.hard, GateRule.strict),
        ("soft", Metric.soft, GateRule.strict),
        ("mixed", Metric.mixed, GateRule.strict),
        ("margin", Metric.hard, GateRule.margin),
        ("significant", Metric.hard, GateRule.significant),
        ("accept_all", Metric.hard, GateRule.accept_all),
    ],
)
def test_the_presets_are_a_metric_and_a_rule(preset: str, metric: Metric, rule: GateRule) -> None:
    config = compose(["model=simulated", f"gate={preset}"]).gate
    assert (config.metric, config.rule, config.no_regression) == (metric, rule, None)
    assert config.alpha_per is AlphaPer.comparison


@pytest.mark.parametrize("metric", list(Metric))
@pytest.mark.parametrize("preset", ["strict", "margin", "significant", "accept_all"])
def test_any_rule_goes_with_any_metric(preset: str, metric: Metric) -> None:
    config = compose(["model=simulated", f"gate={preset}", f"gate.metric={metric}", "gate.no_regression=2"])
    assert (config.gate.metric, config.gate.no_regression) == (metric, 2)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ("gate.rule=margin", r"gate\.rule=margin needs gate\.margin"),
        (
            "gate.margin=0.02",
            r"gate\.margin is 0\.02, but gate\.rule=strict does not read it; choose gate=margin",
        ),
        ("gate=margin gate.alpha=0.1", r"gate\.alpha is 0\.1, but gate\.rule=margin does not read it"),
        ("gate=soft gate.alpha_per=run", r"gate\.alpha_per is run, but gate\.rule=strict does not"),
        ("gate=margin gate.margin=2", r"gate\.margin is 2\.0; give a fraction from 0 to under 1"),
        ("gate=margin gate.margin=-0.1", r"gate\.margin is -0\.1"),
        ("gate=margin gate.margin=nan", r"gate\.margin is nan"),
        ("gate=significant gate.alpha=0", r"gate\.alpha is 0\.0; give a chance above 0 and under 0\.5"),
        ("gate=significant gate.alpha=0.5", r"gate\.alpha is 0\.5"),
        ("gate.no_regression=-1", r"gate\.no_regression is -1; give 0 or more items, or null"),
        ("gate.rule=strickt", r"strickt"),
    ],
)
def test_a_value_that_means_nothing_is_refused_with_what_to_do(overrides: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compose(["model=simulated", *overrides.split()])


def test_every_verdict_is_told_alike_by_record_file_and_summary(tmp_path: Path) -> None:
    summary = run(tmp_path, *SMALL, "gate=accept_all", "gate.no_regression=0")
    rows = history(tmp_path)
    for row in rows:
        kept = (tmp_path / f"steps/step_{row['step']:04d}/verdict.json").read_text(encoding="utf-8")
        assert f'"outcome": "{row["outcome"]}"' in kept
        assert f'"by": "{row["by"]}"' in kept
    assert summary.total_accepts == sum(row["outcome"] == "accepted" for row in rows)
    assert summary.total_rejects == sum(row["outcome"] == "rejected" for row in rows)
