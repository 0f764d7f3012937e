"""What a report advises fits what happened, and its commands can be given."""

import inspect
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace

import pytest
import sample_run
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp import summary as summaries
from skillopt_exp.commands.composing import compose_raw
from skillopt_exp.records import Evidence, Interval, Summary
from skillopt_exp.report.diff import Kind, diff
from skillopt_exp.report.story import BY_CAUSE, Mood, command_of, tell

OVERRIDES = ("dataset=demo", "model=simulated", "gate=strict")


def finished(evidence: Evidence | None, delta: float, cause: str = "", *, simulated: bool = False) -> Summary:
    return replace(
        sample_run.summary(sample_run.SAMPLE.traces),
        status="finished",
        verdict="as it is",
        evidence=evidence,
        test_delta_hard=delta,
        test_delta_interval=Interval(delta, delta - 0.1, delta + 0.1),
        cause=cause,
        simulated=simulated,
    )


def words_of(summary: Summary | None, overrides: Sequence[str] | None = OVERRIDES) -> str:
    story = tell(summary, overrides, "/runs/my run", 3)
    return "\n".join(f"{each.words} {each.command or ''}" for each in story.advice)


def test_a_clear_gain_leads_to_deploying() -> None:
    assert tell(finished(Evidence.clear, 0.1), OVERRIDES, "/r", 3).mood is Mood.good
    words = words_of(finished(Evidence.clear, 0.1))
    assert "deploy run='/runs/my run' name=demo-v1 agent=claude-code dry_run=true" in words


def test_a_clear_loss_says_not_to_use_it() -> None:
    assert tell(finished(Evidence.clear, -0.1), OVERRIDES, "/r", 3).mood is Mood.bad
    assert "Do not use this skill" in words_of(finished(Evidence.clear, -0.1))
    assert "deploy run=" not in words_of(finished(Evidence.clear, -0.1))


@pytest.mark.parametrize("evidence", [Evidence.within_noise, Evidence.underpowered])
def test_no_clear_gain_is_no_reason_to_deploy(evidence: Evidence) -> None:
    words = words_of(finished(evidence, 0.1, "gate too small: val has 12 items"))
    assert "no reason to deploy" in words
    assert "deploy run=" not in words
    assert "dataset.split=[4,3,3]" in words


def test_where_training_changed_nothing_there_is_nothing_to_deploy() -> None:
    summary = finished(Evidence.underpowered, 0.0, "no proposed edit helped on val")
    words = words_of(replace(summary, best_digest=summary.seed_digest))
    assert "nothing to deploy" in words
    assert "may be luck" not in words


def test_simulated_models_come_before_any_other_advice() -> None:
    assert words_of(finished(Evidence.clear, 0.5, simulated=True)).startswith("The models were simulated")


@pytest.mark.parametrize("status", ["stopped(user)", "stopped(budget)", "failed(ProviderError)"])
def test_a_run_that_ended_early_can_be_gone_on_with(status: str) -> None:
    words = words_of(replace(finished(None, 0.0), status=status))
    assert "python -m skillopt_exp resume run='/runs/my run'" in words
    assert words == words_of(replace(finished(None, 0.0), status=status), None)


def test_every_cause_that_a_summary_names_has_advice() -> None:
    source = inspect.getsource(summaries.Tally._cause)
    causes = {each for each in re.findall(r'"([a-z][^"]+)"', source) if " " in each}
    assert len(causes) == len(BY_CAUSE)
    assert all(any(cause.startswith(start) for start in BY_CAUSE) for cause in causes)


@pytest.mark.parametrize("cause", BY_CAUSE)
def test_what_is_advised_can_be_composed(cause: str) -> None:
    story = tell(finished(Evidence.within_noise, 0.0, cause), OVERRIDES, "/r", 3)
    for command in filter(None, (each.command for each in story.advice)):
        words = shlex.split(command)
        assert words[:3] == ["python", "-m", "skillopt_exp"]
        given = words[6:] if words[3:4] == ["compare"] else words[3:]
        compose_raw(given)


def test_what_is_set_anew_is_not_given_twice() -> None:
    assert (
        command_of(OVERRIDES, "gate=soft") == "python -m skillopt_exp dataset=demo model=simulated gate=soft"
    )
    assert command_of(None, "gate=soft") is None
    assert command_of(("note=it's",)) == """python -m skillopt_exp 'note=it'"'"'s'"""


TEXTS = st.lists(st.sampled_from("abcd"), max_size=12).map("\n".join)


@given(TEXTS, TEXTS)
def test_a_diff_tells_how_one_text_becomes_the_other(before: str, after: str) -> None:
    lines = diff(before, after)
    assert (lines == ()) is (before == after)
    removed = [line.text for line in lines if line.kind is Kind.removed]
    added = [line.text for line in lines if line.kind is Kind.added]
    same = sum(line.kind is Kind.same for line in lines)
    hidden = sum(int(line.text.split()[0]) for line in lines if line.kind is Kind.gap)
    if lines:
        assert len(removed) + same + hidden == len(before.split("\n") if before else [])
        assert len(added) + same + hidden == len(after.split("\n") if after else [])
