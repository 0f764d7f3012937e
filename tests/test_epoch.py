"""The end of an epoch: two skills on the same tasks, guidance for the skill, advice to the optimizer."""

import json
import zlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from scripted import ScriptedChat, append, patch_reply
from test_loop import HARMFUL, USEFUL, USELESS, Listener, make, nearly

from skillopt_exp.epoch import EpochSettings
from skillopt_exp.llm.base import Stage
from skillopt_exp.loop import Trainer
from skillopt_exp.records import (
    Change,
    Message,
    Outcome,
    PairPolicy,
    Progress,
    Skill,
    TrainState,
)

ALL = EpochSettings(slow_update=True, meta_skill=True, samples=5)


class Coach:
    """An optimizer that proposes ``edit`` in each step, and at the end of epochs writes what it is given."""

    def __init__(
        self, *edits: str, guidance: Sequence[str] = (), advice: Sequence[str] = ("Read twice.",)
    ) -> None:
        self.edits = edits
        self.guidance, self.advice = list(guidance), list(advice)
        self.looked_back: list[str] = []
        self.steps: list[str] = []

    def __call__(self, messages: Sequence[Message], stage: Stage) -> str:
        prompt = messages[0].content
        if '<pairs kind="slow_update">' in prompt:
            self.looked_back.append(prompt)
            number = self.number_of(prompt, "slow_update")
            return json.dumps(
                {"reasoning": "so", "slow_update_content": self.guidance[number % len(self.guidance)]}
            )
        if '<pairs kind="meta_skill">' in prompt:
            self.looked_back.append(prompt)
            number = self.number_of(prompt, "meta_skill")
            return json.dumps(
                {"reasoning": "so", "meta_skill_content": self.advice[number % len(self.advice)]}
            )
        self.steps.append(prompt)
        return patch_reply(*map(append, self.edits))

    def number_of(self, prompt: str, kind: str) -> int:
        return [each for each in self.looked_back if f'"{kind}"' in each].index(prompt)


def coached(coach: Coach, settings: EpochSettings = ALL, **changes: object) -> tuple[Trainer, Listener]:
    return make(coach, **{"num_epochs": 3, "batch_size": 4, "epoch_end": settings, **changes})  # type: ignore[arg-type]


def pairs_in(prompt: str, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(prompt.split(f'<pairs kind="{kind}">')[1].split("</pairs>")[0])
    return found


async def test_only_the_last_step_of_an_epoch_has_an_end_and_the_first_epoch_has_none() -> None:
    trainer, listener = coached(Coach(guidance=["Mind the gap."]))
    await trainer.train(Skill())
    assert [trace.epoch_end is not None for trace in listener.traces] == [
        False,
        False,
        False,
        True,
        False,
        True,
    ]
    assert len(listener.traces) == 6, "the ends of epochs are no steps"


async def test_good_guidance_passes_the_gate_and_becomes_current_and_best() -> None:
    trainer, listener = coached(Coach(guidance=[USEFUL]))
    state = await trainer.train(Skill(body="seed"))
    end = listener.traces[3].record.epoch_end
    assert end is not None
    assert (end.outcome, end.candidate_hard, end.margin) == (Outcome.accepted, 1.0, 3.0)
    assert state.best.skill == Skill(body="seed", guidance=USEFUL)
    assert (state.best.step, state.best.epoch_end, state.ungated) == (4, True, False)
    assert listener.traces[3].record.outcome is Outcome.unchanged, "the step's own verdict stays its own"
    assert listener.traces[3].record.best_hard == 1.0


async def test_bad_guidance_is_rejected_at_the_gate() -> None:
    trainer, listener = coached(Coach(guidance=[HARMFUL]))
    state = await trainer.train(Skill())
    assert state.current.skill == Skill()
    assert [
        str(trace.epoch_end.judged.verdict)
        for trace in listener.traces
        if trace.epoch_end and trace.epoch_end.judged
    ] == ["rejected(by: score)"] * 2
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.selection) == 6 + 6, "the same guidance again costs no calls"


async def test_ungated_guidance_is_kept_whatever_it_scores_and_is_not_the_best_for_it() -> None:
    trainer, listener = coached(Coach(guidance=[HARMFUL]), replace(ALL, gated=False))
    state = await trainer.train(Skill())
    assert state.current.skill.guidance == HARMFUL
    assert state.best.skill == Skill()
    assert state.ungated
    end = listener.traces[3].record.epoch_end
    assert end is not None
    assert (end.outcome, end.by, end.margin) == (Outcome.accepted, "ungated", -3.0)
    later = listener.traces[4].record
    assert (later.current_hard, later.best_hard) == (0.0, 0.5)


async def test_ungated_guidance_that_beats_the_best_is_promoted() -> None:
    trainer, _ = coached(Coach(guidance=[USEFUL]), replace(ALL, gated=False))
    state = await trainer.train(Skill())
    assert state.best == state.current
    assert state.best.skill.guidance == USEFUL


async def test_steps_never_touch_the_guidance_and_build_on_it() -> None:
    trainer, listener = coached(Coach("- Be kind.", guidance=[USEFUL]), failure_only=False, target=nearly)
    await trainer.train(Skill())
    after = [trace.judged.candidate.skill for trace in listener.traces[4:]]
    assert {skill.guidance for skill in after} == {USEFUL}
    assert {skill.body for skill in after} == {"- Be kind."}


async def test_both_skills_meet_the_same_items_and_what_changed_is_sorted() -> None:
    coach = Coach(USEFUL, guidance=["Mind the gap."])
    trainer, listener = coached(coach, num_epochs=2, batch_size=8, failure_only=True, target=nearly)
    # Epoch 1 ends with the useful rule; in epoch 2 nothing fails, so the skill stays what it was.
    await trainer.train(Skill())
    end = listener.traces[1].epoch_end
    assert end is not None
    assert [pair.before.item.id for pair in end.pairs] == [pair.after.item.id for pair in end.pairs]
    assert {pair.change for pair in end.pairs} == {Change.still_solved}
    assert isinstance(trainer.target, ScriptedChat)
    rollouts = trainer.target.count(Stage.rollout)
    assert rollouts == 8 + 8 + 5, "equal skills are asked once"


async def test_what_improved_and_regressed_is_shown_with_both_attempts() -> None:
    # The first epoch ends as it began; the second one finds the useful rule.
    def late(messages: Sequence[Message], stage: Stage) -> str:
        prompt = messages[0].content
        if "<pairs" in prompt:
            return coach(messages, stage)
        return patch_reply(append(USEFUL if calls_so_far() > 8 else USELESS))

    coach = Coach(guidance=["Mind the gap."])
    trainer, listener = make(late, num_epochs=2, batch_size=8, epoch_end=replace(ALL, samples=8))

    def calls_so_far() -> int:
        assert isinstance(trainer.target, ScriptedChat)
        return trainer.target.count(Stage.rollout)

    await trainer.train(Skill())
    end = listener.traces[1].record.epoch_end
    assert end is not None
    assert end.pairs == {"improved": 4, "still_solved": 4}
    shown = pairs_in(coach.looked_back[0], "slow_update")
    assert [pair["change"] for pair in shown] == ["improved"] * 4 + ["still_solved"] * 4
    first = shown[0]
    assert (first["before"]["prediction"], first["after"]["prediction"]) == ("no", "yes")
    assert (first["before"]["feedback"], first["gold"]) == ("expected yes", ["yes"])
    assert first["task"].startswith("question a")
    assert "task" not in first["before"]


@pytest.mark.parametrize(
    ("policy", "shown"), [(PairPolicy.mixed, 5), (PairPolicy.changed, 0), (PairPolicy.unchanged, 5)]
)
async def test_the_policy_says_which_pairs_are_shown(policy: PairPolicy, shown: int) -> None:
    coach = Coach(guidance=["Mind the gap."])
    trainer, listener = coached(coach, replace(ALL, pair_policy=policy), num_epochs=2)
    await trainer.train(Skill())
    end = listener.traces[-1].record.epoch_end
    assert end is not None
    assert (sum(end.pairs.values()), end.pairs_shown) == (5, shown)
    assert len(coach.looked_back) == bool(shown), "nothing to show, nothing to ask"


async def test_the_meta_skill_is_shown_to_the_optimizer_alone_and_from_the_next_epoch_on() -> None:
    coach = Coach(USELESS, guidance=[""], advice=["Look at units.", "Look at names."])
    trainer, listener = coached(coach, num_epochs=4)
    state = await trainer.train(Skill())
    assert state.meta_skill == "Look at names."
    shown = [("Look at units." in prompt, "Look at names." in prompt) for prompt in coach.steps]
    assert list(dict.fromkeys(shown)) == [(False, False), (True, False), (False, True)]
    assert isinstance(trainer.target, ScriptedChat)
    assert not any("Look at" in message.content for _, asked in trainer.target.asked for message in asked)
    assert "Look at units." in [prompt for prompt in coach.looked_back if "meta_skill" in prompt][1]
    last = listener.traces[-1].epoch_end
    assert last is not None
    assert last.meta_skill is None, "nobody would read it after the last epoch"


async def test_the_meta_skill_sees_the_epochs_steps_and_no_scores() -> None:
    coach = Coach(HARMFUL, guidance=[""])
    trainer, _ = coached(coach, num_epochs=3)
    await trainer.train(Skill())
    (prompt,) = [prompt for prompt in coach.looked_back if '"meta_skill"' in prompt]
    memory = json.loads(prompt.split("<memory>")[1].split("</memory>")[0])
    assert [(step["step"], step["outcome"]) for step in memory] == [(3, "rejected"), (4, "rejected")]
    assert set(memory[0]) == {"step", "outcome", "failures", "rejected_edits"}


@pytest.mark.parametrize(
    "reply", ["I have no idea.", '{"slow_update_content": 3, "meta_skill_content": null}']
)
async def test_replies_that_cannot_be_read_change_nothing_and_are_counted(reply: str) -> None:
    def optimizer(messages: Sequence[Message], stage: Stage) -> str:
        return reply if "<pairs" in messages[0].content else patch_reply()

    trainer, listener = make(optimizer, num_epochs=3, epoch_end=ALL)
    state = await trainer.train(Skill())
    assert (state.current.skill, state.meta_skill) == (Skill(), "")
    end = listener.traces[3].record.epoch_end
    assert end is not None
    assert (end.parse_paths, end.outcome) == ({"failed": 2}, None)


async def test_guidance_that_is_no_clean_part_is_refused_by_name() -> None:
    trainer, listener = coached(Coach(guidance=["- Read the {hint}."]))
    state = await trainer.train(Skill(body="seed"))
    assert state.current.skill.guidance == ""
    end = listener.traces[3].epoch_end
    assert end is not None
    assert end.slow_update is not None
    assert end.slow_update.dropped == ("the guidance was refused: placeholders",)
    assert end.judged is None


async def test_ungated_guidance_is_refused_all_the_same_where_it_is_too_long() -> None:
    long = " ".join(f"word{number}" for number in range(40))
    trainer, listener = coached(Coach(guidance=[long]), replace(ALL, gated=False), max_skill_tokens=20)
    state = await trainer.train(Skill())
    end = listener.traces[3].record.epoch_end
    assert end is not None
    assert (end.outcome, end.by) == (Outcome.rejected, "length")
    assert not state.ungated


async def test_the_marks_of_the_part_are_no_part_of_the_guidance() -> None:
    written = f"{Skill.GUIDANCE_START}\n{USEFUL}\n{Skill.GUIDANCE_END}"
    trainer, _ = coached(Coach(guidance=[written]))
    state = await trainer.train(Skill())
    assert state.current.skill.guidance == USEFUL


@pytest.mark.parametrize(
    ("settings", "looked_back", "attempts"),
    [
        (EpochSettings(), 0, 0),
        (replace(ALL, slow_update=False), 1, 5),
        (replace(ALL, meta_skill=False), 2, 10),
        (ALL, 3, 10),
    ],
)
async def test_what_is_switched_off_costs_nothing(
    settings: EpochSettings, looked_back: int, attempts: int
) -> None:
    coach = Coach(guidance=[""])
    trainer, _ = coached(coach, settings)
    await trainer.train(Skill())
    assert len(coach.looked_back) == looked_back
    assert isinstance(trainer.target, ScriptedChat)
    assert trainer.target.count(Stage.rollout) == 3 * 8 + attempts


def fickle(messages: Sequence[Message], stage: Stage) -> str:
    """An optimizer whose replies follow from the prompt alone, and differ from prompt to prompt."""
    prompt = messages[0].content
    choice = zlib.crc32(prompt.encode())
    rule = f"- Rule {choice % 3}."
    text = (USEFUL, HARMFUL, USELESS, "", rule)[choice % 5]
    if "<pairs" in prompt:
        return json.dumps({"slow_update_content": text, "meta_skill_content": f"Look at {choice % 4}."})
    return patch_reply(append(rule if choice % 2 else text), {"op": "delete", "target": "- Rule 1."})


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gated", [True, False])
async def test_a_run_that_goes_on_after_any_step_ends_as_if_it_had_never_stopped(
    seed: int, gated: bool
) -> None:
    def training() -> tuple[Trainer, Listener]:
        return make(fickle, nearly, num_epochs=4, seed=seed, epoch_end=replace(ALL, gated=gated))

    trainer, whole = training()
    end = await trainer.train(Skill())
    assert whole.seed is not None
    records = [trace.record for trace in whole.traces]
    assert any(trace.epoch_end and trace.epoch_end.judged for trace in whole.traces)
    for done in range(len(records)):
        resumed, rest = training()
        progress = Progress(
            seed=whole.seed,
            records=tuple(records[:done]),
            state=whole.traces[done - 1].state if done else TrainState(0, whole.seed, whole.seed),
            # What a run's folder knows of its steps: the candidates whose rollouts it holds.
            scored=(
                whole.seed,
                *(trace.judged.candidate for trace in whole.traces[:done] if trace.judged.selection),
            ),
        )
        assert await resumed.train(Skill(), progress) == end
        assert [trace.record for trace in rest.traces] == records[done:]
        assert [trace.judged.selection for trace in rest.traces] == [
            trace.judged.selection for trace in whole.traces[done:]
        ]
