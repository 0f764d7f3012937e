"""Skills scored by the simulated target, and by a served one over real HTTP."""

from dataclasses import replace
from pathlib import Path

import pytest
from evaluation.benches import BLUE, RED, asks, colours, obeys, silent, simulated
from llm.misbehaving import Answer, Asked, MisbehavingServer, refuses, says
from running import SMALL, run

from skillopt_exp.errors import BudgetError, InterruptedRun, ProviderError
from skillopt_exp.evaluation.evaluate import Question, evaluate
from skillopt_exp.evaluation.source import NO_SKILL, NamedSkill, find_skill
from skillopt_exp.records import ACall, Evidence, Skill, Split


def test_what_a_run_found_on_test_is_found_again(tmp_path: Path) -> None:
    assert "dataset.limit=80" in SMALL
    summary = run(tmp_path / "r", base=tmp_path)
    found = evaluate(
        asks(find_skill("r", key="skill", base=tmp_path), reuse=False), simulated(tmp_path), silent
    )
    assert found.difference is not None
    assert found.standings["skill"].hard == summary.test_hard
    assert found.standings["control"].hard == summary.baseline_test_hard
    assert found.difference.gain.hard == summary.test_delta_hard
    assert found.difference.gain.hard_interval == summary.test_delta_interval
    assert found.difference.gain.evidence is summary.evidence
    assert found.usage.calls == 2 * summary.num_test_items


def test_the_figures_are_those_of_the_balls(tmp_path: Path, server: MisbehavingServer) -> None:
    found = evaluate(asks(RED), colours(tmp_path, server), silent)
    assert [each.id for each in found.scored["skill"].attempts] == [f"ball{i}" for i in range(2, 60, 3)]
    assert found.standings["skill"].hard == 0.5
    assert found.standings["control"].hard == 0.0
    assert found.difference is not None
    assert (len(found.difference.won), len(found.difference.lost), found.difference.num_tied) == (10, 0, 10)
    assert found.difference.gain.evidence is Evidence.clear
    assert found.scored["skill"].answered_by == ("served-model-0813",)


def test_the_tokens_that_a_skill_costs_a_call_are_said(tmp_path: Path, server: MisbehavingServer) -> None:
    found = evaluate(asks(RED), colours(tmp_path, server), silent)
    assert found.extra_a_call is not None
    assert replace(found.extra_a_call, seconds=None) == ACall(20, 2.0, 0.0), "two words"
    assert found.extra_a_call.seconds is not None, "each call was waited for"
    assert found.usage.input_tokens == sum(_words(body["messages"]) for body in server.bodies)


def _words(messages: list[dict[str, str]]) -> int:
    return sum(len(message["content"].split()) for message in messages)


def test_answers_that_were_paid_for_are_not_paid_for_again(tmp_path: Path, server: MisbehavingServer) -> None:
    bench = colours(tmp_path, server)
    first = evaluate(asks(RED), bench, silent)
    assert (first.usage.calls, first.usage.reused, len(server.asked)) == (40, 0, 40)
    again = evaluate(asks(RED), bench, silent)
    assert (again.usage.calls, again.usage.reused, len(server.asked)) == (0, 40, 40)
    assert again.usage.input_tokens == 0
    assert first.extra_a_call is not None
    known = replace(first.extra_a_call, seconds=None)
    assert again.extra_a_call == known, "what a call takes is known all the same, but for the time"
    assert again.standings == first.standings
    without = colours(tmp_path, server, "cache.mode=none")
    assert evaluate(asks(RED), without, silent).usage.calls == 40


def test_one_text_under_two_names_is_asked_about_once(tmp_path: Path, server: MisbehavingServer) -> None:
    twin = NamedSkill("twin.md", RED.skill)
    question = Question("compare", {"a": RED, "b": twin, "control": NO_SKILL}, ("b", "a"))
    found = evaluate(question, colours(tmp_path, server, "cache.mode=none"), silent)
    assert len(server.asked) == 40
    assert found.usage.calls == 40
    assert found.difference is not None
    assert (found.difference.num_tied, found.difference.gain.hard) == (20, 0.0)
    assert found.extra_a_call == ACall(20, 0.0, 0.0, 0.0)
    assert "b was not asked again: the same text as a" in found.notes


@pytest.mark.parametrize(("split", "count"), [(Split.train, 20), (Split.val, 20), (Split.test, 20)])
def test_the_split_is_the_users(split: Split, count: int, tmp_path: Path, server: MisbehavingServer) -> None:
    found = evaluate(asks(RED), colours(tmp_path, server, split=split), silent)
    first = {Split.train: 0, Split.val: 1, Split.test: 2}[split]
    assert [each.id for each in found.scored["skill"].attempts] == [f"ball{i}" for i in range(first, 60, 3)]
    assert any("is not held out" in note for note in found.notes) is (split is not Split.test)
    assert found.standings["skill"].num_items == count


def test_limits_hold(tmp_path: Path, server: MisbehavingServer) -> None:
    limits = ("evaluation.test_limit=3", "evaluation.val_limit=2")
    assert evaluate(asks(RED), colours(tmp_path, server, *limits), silent).standings["skill"].num_items == 3
    val = colours(tmp_path, server, *limits, split=Split.val)
    assert evaluate(asks(RED), val, silent).standings["skill"].num_items == 2


def test_replies_that_cannot_be_used_are_counted_apart(tmp_path: Path, server: MisbehavingServer) -> None:
    def answer(asked: Asked) -> Answer:
        text = str(asked.body["messages"])
        if "Say red." in text and "ball 2?" in text:
            return says("cut off", finish="length", usage={"prompt_tokens": 1, "completion_tokens": 9})
        if "Say red." in text and "ball 5?" in text:
            return says("", finish="content_filter")
        return obeys(asked)

    server.decide = answer
    found = evaluate(asks(RED), colours(tmp_path, server), silent)
    assert found.standings["skill"].faults == {"content_filter": 1, "truncated": 1}
    assert found.standings["control"].faults == {}
    said = " ".join(found.notes)
    assert "2 replies under skill could not be used and scored 0" in said
    assert "more frequent under skill than under control" in said
    assert found.extra_a_call is not None
    assert found.extra_a_call.input is None, "one call did not report its tokens"


def test_progress_is_told_item_by_item(tmp_path: Path, server: MisbehavingServer) -> None:
    told: list[tuple[str, int]] = []
    evaluate(asks(RED), colours(tmp_path, server), lambda name, ended: told.append((name, ended)))
    assert told == [("skill", i) for i in range(1, 21)] + [("control", i) for i in range(1, 21)]


def test_a_provider_that_refuses_ends_the_evaluation(tmp_path: Path, server: MisbehavingServer) -> None:
    server.decide = lambda asked: refuses(401, "no such key")
    with pytest.raises(ProviderError, match=r"model\.target"):
        evaluate(asks(RED), colours(tmp_path, server), silent)


def test_an_outage_says_how_to_go_on(tmp_path: Path, server: MisbehavingServer) -> None:
    server.decide = lambda asked: refuses(503, "down")
    bench = colours(tmp_path, server, "model.target.max_retries=0", "model.max_error_rate=0")
    with pytest.raises(InterruptedRun, match="give the same command again"):
        evaluate(asks(RED), bench, silent)


def test_the_optimizer_is_never_asked(tmp_path: Path, server: MisbehavingServer) -> None:
    bench = colours(
        tmp_path, server, "model.optimizer.name=other", "model.optimizer.api_key_env=NOT_SET_ANYWHERE"
    )
    evaluate(asks(BLUE), bench, silent)
    assert {body["model"] for body in server.bodies} == {"small"}
    assert bench.resolved.flat["model.optimizer.name"] == "other", "the configuration is kept as it was given"


def test_a_cap_holds_for_all_skills_together_and_a_higher_one_goes_on(
    tmp_path: Path, server: MisbehavingServer
) -> None:
    with pytest.raises(BudgetError, match=r"the same command with budget\.calls=\d+"):
        evaluate(asks(RED), colours(tmp_path, server, "budget.calls=30"), silent)
    assert len(server.asked) == 30
    found = evaluate(asks(RED), colours(tmp_path, server, "budget.calls=60"), silent)
    assert (found.usage.calls, found.usage.reused) == (10, 30)
    assert (found.scored["skill"].usage.calls, found.scored["control"].usage.calls) == (0, 10)


def test_a_cap_on_money_asks_for_the_price_of_the_target_alone(
    tmp_path: Path, server: MisbehavingServer
) -> None:
    with pytest.raises(BudgetError, match=r"model\.target") as refused:
        colours(tmp_path, server, "budget.usd=1")
    assert "optimizer" not in str(refused.value)
    prices = ("model.target.price.input=1", "model.target.price.output=2", "model.target.max_tokens=50")
    found = evaluate(asks(RED), colours(tmp_path, server, "budget.usd=1", *prices), silent)
    tokens = found.usage.input_tokens, found.usage.output_tokens
    assert found.usage.cost_usd == pytest.approx((tokens[0] + 2 * tokens[1]) / 1e6)  # type: ignore[operator]


def test_simulated_answers_need_no_store(tmp_path: Path) -> None:
    evaluate(asks(NamedSkill("s", Skill("- Answer with the bare name."))), simulated(tmp_path), silent)
    assert list(tmp_path.iterdir()) == []


def test_the_same_question_has_the_same_answer_whatever_the_concurrency(tmp_path: Path) -> None:
    named = NamedSkill("s", Skill("- Answer with the bare name."))
    results = []
    for slots in (1, 8, 64):
        bench = simulated(tmp_path, f"model.target.max_concurrency={slots}")
        results.append(evaluate(asks(named), bench, silent))
    assert results[0].scored == results[1].scored == results[2].scored
    assert results[0].difference == results[1].difference == results[2].difference


def test_a_retired_model_and_shuffled_answers_are_warned_of(
    tmp_path: Path, server: MisbehavingServer
) -> None:
    bench = colours(tmp_path, server, "model.target.name=deepseek-chat", "dataset.shuffle_answers=true")
    assert any("was retired" in warning for warning in bench.warnings)
    assert any("a control, no result" in warning for warning in bench.warnings)
    assert not any("too few failures" in warning for warning in bench.warnings), "that is about training"
    assert replace(bench, split=Split.val).split.meaning == "selection"
