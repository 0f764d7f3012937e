"""Several candidates of one step, made of different choices among the same proposals."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import history, run
from scripted import ScriptedChat, append, patch_reply
from test_loop import HARMFUL, USEFUL, USELESS, always, make, nearly

from skillopt_exp.errors import UsageError
from skillopt_exp.llm.base import Stage
from skillopt_exp.records import Edit, Message, Outcome, Patch, Skill
from skillopt_exp.stages.variants import variants


def edits(count: int) -> tuple[Edit, ...]:
    return tuple(Edit("append", None, f"- Rule {number}") for number in range(count))


@given(st.integers(0, 6), st.integers(0, 6), st.integers(1, 16))
def test_the_first_choice_is_what_was_selected_and_no_two_are_equal(
    num_selected: int, num_spare: int, count: int
) -> None:
    pool = edits(num_selected + num_spare)
    selected = Patch(pool[:num_selected])
    choices = variants(selected, Patch(pool), count)
    assert choices[0] == selected
    assert len(choices) <= count
    assert len({choice.edits for choice in choices}) == len(choices)
    for choice in choices[1:]:
        assert set(choice.edits) <= set(pool)
        assert 0 < len(choice.edits) <= num_selected
    if num_selected > 1:
        assert len(choices) == min(count, 1 + num_spare + num_selected)


async def test_the_gate_takes_the_best_candidate_of_a_step() -> None:
    # The ranking puts the harmful rule beside the useful one; without it the skill is better.
    both = patch_reply(append(USEFUL), append(HARMFUL))
    alone, _ = make(always(both), nearly, learning_rate=2)
    state = await alone.train(Skill())
    assert state.current.skill == Skill(), "what a single candidate with both comes to"

    several, listener = make(always(both), nearly, learning_rate=2, num_candidates=3)
    state = await several.train(Skill())
    assert state.current.skill.body == USEFUL
    first = listener.traces[0]
    assert first.judged.verdict.outcome is Outcome.accepted
    assert first.record.other_verdicts == ("rejected(by: score)", "rejected(by: score)")
    assert isinstance(several.target, ScriptedChat)
    assert first.record.num_selection == 6
    assert first.record.other_selection == 12


async def test_equal_candidates_are_tried_once_and_the_first_stands_where_none_passes() -> None:
    trainer, listener = make(
        always(patch_reply(append(USELESS), append(USELESS))), num_candidates=4, learning_rate=1
    )
    await trainer.train(Skill())
    first = listener.traces[0]
    assert first.record.other_verdicts == ()
    assert first.judged.verdict.outcome is Outcome.rejected
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.selection) == 6 + 6


async def test_a_tie_goes_to_the_choice_of_the_ranking() -> None:
    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        return patch_reply(append(USEFUL), append(USELESS))

    trainer, listener = make(optimizer, nearly, num_candidates=3)
    await trainer.train(Skill())
    first = listener.traces[0]
    assert first.judged.candidate.skill.body.splitlines() == [USEFUL, USELESS]
    assert first.record.other_verdicts.count("accepted") == 1, "the other one passed, too"


def test_the_candidates_of_a_step_lie_beside_each_other_and_are_known_again(tmp_path: Path) -> None:
    keys = ("optimizer.num_candidates=3", "gradient.minibatch_size=1", "train.batch_size=8")
    run(tmp_path, *keys)
    rows = history(tmp_path)
    several = [row for row in rows if row["other_verdicts"]]
    assert several
    for row in several:
        step = tmp_path / "steps" / f"step_{row['step']:04d}"
        for number in range(2, 2 + len(row["other_verdicts"])):
            assert (step / f"candidate_{number}.md").exists()
            assert (step / f"verdict_{number}.json").exists()
        lines = sum(
            len((step / f"selection_{number}.jsonl").read_text(encoding="utf-8").splitlines())
            for number in range(2, 2 + len(row["other_verdicts"]))
        )
        assert lines == row["other_selection"]


def test_candidates_that_cannot_be_counted_are_refused(tmp_path: Path) -> None:
    for number in ("0", "17"):
        with pytest.raises(UsageError, match=rf"num_candidates is {number}; give 1 to 16"):
            run(tmp_path, f"optimizer.num_candidates={number}")
