"""Lapses of the model told from defects of the skill: notes in the appendix, and what keeps them short."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import history, run
from scripted import Answer, ScriptedChat, append
from test_loop import HARMFUL, USEFUL, Listener, failing, make

from skillopt_exp.commands.composing import compose
from skillopt_exp.decide import decide
from skillopt_exp.errors import UsageError
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Trainer
from skillopt_exp.prompts import BUILT_IN
from skillopt_exp.records import (
    Edit,
    Message,
    Outcome,
    Progress,
    RateControl,
    Rejection,
    Skill,
    Split,
    Summary,
    UpdateMode,
)
from skillopt_exp.runs.exchanges import read_exchanges
from skillopt_exp.runs.state import load_state, save_state
from skillopt_exp.skill import apply_edits, notes_of, with_notes, with_other_notes

TEXTS = st.text(alphabet="ab -\n#é{}<!", max_size=12)


def aware(optimizer: Answer, **changes: object) -> tuple[Trainer, Listener]:
    return make(optimizer, **{"skill_aware": True, "batch_size": 8, **changes})  # type: ignore[arg-type]


def noting(*notes: str, **fields: Any) -> str:
    """A reply with nothing but notes, unless ``fields`` has more."""
    return json.dumps({"failure_summary": "forgotten", "appendix_notes": list(notes), **fields})


def asked(trainer: Trainer, stage: Stage) -> list[str]:
    assert isinstance(trainer.optimizer, ScriptedChat)
    return [messages[0].content for asked, messages in trainer.optimizer.asked if asked is stage]


async def test_lapses_alone_make_a_candidate_that_passes_the_gate_like_any_other() -> None:
    trainer, listener = aware(lambda messages, stage: noting("Say yes."))
    state = await trainer.train(Skill(body="- Old."))
    assert state.best.skill == Skill(body="- Old.", appendix=USEFUL)
    assert state.best.skill.text == f"- Old.\n\n{Skill.APPENDIX_START}\n{USEFUL}\n{Skill.APPENDIX_END}"
    record = listener.traces[0].record
    assert (record.outcome, record.edits_proposed) == (Outcome.accepted, 0)
    assert (record.notes_proposed, record.notes_added) == (2, 1)
    assert record.notes_rejected == {Rejection.duplicate: 1}, "two minibatches, one note"


@pytest.mark.parametrize("mode", UpdateMode)
async def test_notes_stand_beside_what_is_proposed_in_every_update_mode(mode: UpdateMode) -> None:
    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        return noting(
            "Mind the rule.",
            edits=[append(USEFUL)],
            revise_suggestions=[{"type": "add_rule", "instruction": "Say yes."}],
            skill_candidates=[{"new_skill": USEFUL}],
            new_skill=USEFUL,
        )

    control = RateControl.fixed if mode.budgeted else RateControl.none
    trainer, listener = aware(optimizer, update_mode=mode, rate_control=control)
    state = await trainer.train(Skill())
    assert state.best.skill == Skill(body=USEFUL, appendix="- Mind the rule.")
    record = listener.traces[0].record
    assert (record.edits_applied, record.notes_added) == (1, 1)
    assert "has the skill a rule that prevents it" in asked(trainer, Stage.reflect)[0]
    assert '"appendix_notes": [' in asked(trainer, Stage.reflect)[0]


async def test_where_it_is_off_notes_are_not_asked_for_and_not_taken() -> None:
    trainer, listener = make(lambda messages, stage: noting("Say yes.", edits=[]))
    state = await trainer.train(Skill())
    assert state.current.skill == Skill()
    assert listener.traces[0].record.notes_proposed == 0
    assert not any("appendix_notes" in prompt for prompt in asked(trainer, Stage.reflect))


async def test_what_was_solved_shows_no_lapse() -> None:
    trainer, listener = aware(lambda messages, stage: noting("Mind it.", edits=[]), failure_only=False)
    await trainer.train(Skill())
    by_source = {str(patch.source): patch.notes for patch in listener.traces[0].patches}
    assert by_source == {"failure": ("Mind it.",), "success": ()}
    assert sum("appendix_notes" in prompt for prompt in asked(trainer, Stage.reflect)) == 2


async def test_added_and_rejected_notes_add_up_to_the_proposed_ones_and_more_than_three_are_dropped() -> None:
    unfit = ("- old rule", '{"note": "x"}', Skill.APPENDIX_END, "Mind the {word}.", "Mind\n this.")
    replies = [noting(*unfit[:3]), noting(*unfit[3:], "Mind\n that.", "One more.")]
    trainer, listener = aware(lambda messages, stage: replies.pop(0), target=failing, minibatch_size=4)
    await trainer.train(Skill(body="- Old rule"))
    trace, record = listener.traces[0], listener.traces[0].record
    assert record.notes_rejected == {
        Rejection.duplicate: 1,
        Rejection.bad_content: 1,
        Rejection.protected: 1,
        Rejection.placeholders: 1,
    }
    assert record.notes_added + sum(record.notes_rejected.values()) == record.notes_proposed == 6
    assert trace.patches[1].dropped == ("more than the 3 asked for: note 'One more.'",)
    assert trace.judged.candidate.skill.appendix == "- Mind this.\n- Mind that."


@given(st.lists(TEXTS, max_size=6), TEXTS, TEXTS)
def test_any_notes_leave_a_report_of_each_and_the_rest_of_the_skill(
    notes: list[str], body: str, appendix: str
) -> None:
    before = Skill(body, "- Keep calm.", appendix)
    after, results = with_notes(before, notes)
    assert [result.edit.content for result in results] == notes
    assert (after.body, after.guidance) == (before.body, before.guidance)
    added = sum(result.applied for result in results)
    assert len(notes_of(after)) == len(notes_of(before)) + added
    assert (after.text == before.text) is (added == 0)


@given(st.lists(st.builds(Edit, st.sampled_from(["append", "delete", "replace"]), TEXTS, TEXTS), max_size=5))
def test_no_edit_of_the_body_reaches_the_appendix(edits: list[Edit]) -> None:
    skill = Skill("- a\n- b", "- Keep calm.", "- ab\n- ba")
    assert apply_edits(skill, edits)[0].appendix == skill.appendix


async def test_notes_that_were_not_kept_are_remembered() -> None:
    trainer, listener = aware(lambda messages, stage: noting("Say no."), batch_size=4)
    await trainer.train(Skill())
    assert str(listener.traces[0].judged.verdict) == "rejected(by: score)"
    memory = json.loads(asked(trainer, Stage.reflect)[-1].split("<memory>")[1].split("</memory>")[0])
    assert memory[0]["rejected_notes"] == ["Say no."]
    assert memory[0]["rejected_edits"] == []


LONG = Skill(body="- Old.", appendix="- Mind one.\n- Mind two.")


def compacting(reply: str, *notes: str) -> Answer:
    return lambda messages, stage: reply if stage is Stage.compact else noting(*notes)


async def test_an_appendix_of_too_many_notes_is_said_in_fewer_by_one_call() -> None:
    trainer, listener = aware(compacting(noting("Mind all.", "Say yes."), "Say yes."), max_notes=2)
    state = await trainer.train(LONG)
    assert state.best.skill.appendix == f"- Mind all.\n{USEFUL}"
    (prompt,) = asked(trainer, Stage.compact)
    assert '["Mind one.", "Mind two.", "Say yes."]' in prompt
    compaction = listener.traces[0].record.notes_compaction
    assert compaction is not None
    assert compaction.after is not None
    assert compaction.after < compaction.before


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("They are all needed.", "no JSON"),
        (noting("One.", "Two.", "Three."), "3 notes of 3 are not fewer"),
        (noting(), "0 notes of 3 are not fewer"),
        (noting("Old."), "the shorter appendix was refused: duplicate"),
        (noting("One.", "One."), "the shorter appendix was refused: duplicate"),
        (noting("Mind {it}."), "the shorter appendix was refused: placeholders"),
        (noting(Skill.GUIDANCE_START), "the shorter appendix was refused: protected"),
    ],
)
async def test_an_answer_that_is_no_use_leaves_the_notes_as_they_are(reply: str, problem: str) -> None:
    trainer, listener = aware(compacting(reply, "Say yes."), max_notes=2)
    state = await trainer.train(LONG)
    assert state.best.skill.appendix == f"{LONG.appendix}\n{USEFUL}"
    compaction = listener.traces[0].record.notes_compaction
    assert compaction is not None
    assert compaction.after is None
    assert problem in compaction.problem


@pytest.mark.parametrize(("notes", "most"), [(("Mind one.",), 1), (("Say yes.",), 3), (("Say yes.",), None)])
async def test_nobody_is_asked_where_no_note_is_new_or_there_is_room(
    notes: tuple[str, ...], most: int | None
) -> None:
    trainer, _ = aware(compacting(noting("Mind all."), *notes), max_notes=most)
    await trainer.train(LONG)
    assert asked(trainer, Stage.compact) == []


def test_other_notes_take_the_place_of_all_or_of_none() -> None:
    assert with_other_notes(LONG, ["Mind both."]) == (replace(LONG, appendix="- Mind both."), None)
    assert with_other_notes(LONG, ["Mind both.", " "]) == (LONG, Rejection.bad_content)
    assert with_other_notes(LONG, []) == (LONG, Rejection.bad_content)
    assert with_other_notes(LONG, ["Mind one.", "Mind two."]) == (LONG, Rejection.no_change)


def fickle(messages: Sequence[Message], stage: Stage) -> str:
    """An optimizer whose replies follow from the prompt alone, and differ from prompt to prompt."""
    choice = zlib.crc32(messages[0].content.encode())
    text = (USEFUL, HARMFUL, f"- Rule {choice % 3}.", "")[choice % 4]
    return noting(f"Mind {choice % 7}.", f"Mind {choice % 5}!", edits=[append(text)] if text else [])


async def test_a_run_that_goes_on_keeps_the_appendix_byte_for_byte(tmp_path: Path) -> None:
    def training() -> tuple[Trainer, Listener]:
        return aware(fickle, num_epochs=4, batch_size=4, max_notes=3)

    trainer, whole = training()
    end = await trainer.train(Skill())
    assert whole.seed is not None
    assert end.current.skill.appendix
    assert any(trace.notes_compaction for trace in whole.traces)
    for done, trace in enumerate(whole.traces, 1):
        folder = tmp_path / str(done)
        folder.mkdir()
        save_state(folder, folder / "state.json", trace.state)
        scored = tuple(each.judged.candidate for each in whole.traces[:done] if each.judged.selection)
        progress = Progress(whole.seed, (), load_state(folder, folder / "state.json"), (whole.seed, *scored))
        resumed, rest = training()
        assert await resumed.train(Skill(), progress) == end
        assert [each.record for each in rest.traces] == [each.record for each in whole.traces[done:]]


def noted_run(folder: Path, *overrides: str) -> Summary:
    """A real run whose seed skill speaks of flaws that show all the same, and has a note."""
    folder.mkdir(exist_ok=True)
    seed = Skill("- There are sentences, full names and alternatives.", appendix="- Stay calm.")
    (folder / "seed.md").write_text(seed.text, encoding="utf-8")
    on = ("optimizer.use_skill_aware_reflection=true", f"train.skill_init={folder / 'seed.md'}")
    return run(folder, "dataset.limit=60", "gradient.minibatch_size=2", *on, *overrides)


def test_a_run_keeps_what_became_of_its_notes_and_whose_calls_they_took(tmp_path: Path) -> None:
    summary = noted_run(
        tmp_path,
        "train.num_epochs=2",
        "optimizer.skill_aware_consolidate_threshold=1",
        "optimizer.skill_update_mode=rewrite_from_suggestions",
    )
    rows = history(tmp_path)
    assert sum(row["notes_added"] for row in rows)
    for number, row in enumerate(rows, 1):
        kept = tmp_path / "steps" / f"step_{number:04d}" / "notes.json"
        assert kept.exists() is bool(row["notes_proposed"])
        if kept.exists():
            notes = json.loads(kept.read_text(encoding="utf-8"))
            assert sum(note["rejection"] is None for note in notes) == row["notes_added"]
            assert len(notes) == row["notes_proposed"]
    exchanges = [
        each for file in sorted(tmp_path.glob("steps/*/optimizer.jsonl")) for each in read_exchanges(file)
    ]
    stages = {exchange.stage for exchange in exchanges}
    assert stages >= {"reflect", "rewrite", "compact", "slow_update"}
    assert {f"optimizer/{stage}" for stage in stages} <= summary.usage.keys()


def test_the_threshold_shows_first_in_the_step_whose_notes_are_too_many(tmp_path: Path) -> None:
    rows = []
    for most in ("1", "null"):
        noted_run(tmp_path / most, f"optimizer.skill_aware_consolidate_threshold={most}")
        rows.append(history(tmp_path / most))
    first = next(number for number, row in enumerate(rows[0]) if row["notes_compaction"])
    assert rows[0][:first] == rows[1][:first]
    assert rows[0][first]["candidate_digest"] != rows[1][first]["candidate_digest"]
    assert not any(row["notes_compaction"] for row in rows[1])


def test_a_template_of_ones_own_that_never_asks_for_lapses_is_refused(tmp_path: Path) -> None:
    own = (
        BUILT_IN.sources["reflect"]
        .replace('{% include "_lapses" %}', "")
        .replace('{% include "_notes" %}', "")
    )
    (tmp_path / "reflect.md").write_text(own, encoding="utf-8")
    overrides = ["model=simulated", f"optimizer.prompts_dir={tmp_path}"]
    decide(compose(overrides), dict.fromkeys(Split, 100))
    config = compose([*overrides, "optimizer.use_skill_aware_reflection=true"])
    with pytest.raises(UsageError, match=r"reflect\.md lacks the variable 'lapses'"):
        decide(config, dict.fromkeys(Split, 100))


def test_a_threshold_of_no_notes_is_refused() -> None:
    with pytest.raises(UsageError, match=r"skill_aware_consolidate_threshold is 0.*null"):
        compose(["model=simulated", "optimizer.skill_aware_consolidate_threshold=0"])
