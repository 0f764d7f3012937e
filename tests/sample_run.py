"""A made-up run, as a watcher is told of it: for tests of those who keep a run."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skillopt_exp.records import (
    Advice,
    Edit,
    EditLimit,
    EditResult,
    EpochTrace,
    Evidence,
    Fault,
    Interval,
    Item,
    Judged,
    Message,
    Metric,
    Outcome,
    Pair,
    ParsePath,
    Patch,
    Rejection,
    Remembered,
    Rollout,
    Score,
    ScoredSkill,
    Skill,
    Source,
    Split,
    StepTrace,
    Summary,
    TrainState,
    Usage,
    Verdict,
)
from skillopt_exp.transitions import after_epoch
from skillopt_exp.watch import Opening, Origin, Watcher

VAL_ITEMS = 4
EPOCH_ENDS_AFTER = 3


def rollouts(prefix: str, hards: Sequence[float]) -> tuple[Rollout, ...]:
    """One rollout an item; the one that scored 0 first was cut off."""
    made = []
    for index, hard in enumerate(hards):
        item = Item(f"{prefix}{index}", f"What is {index}?\nTwo lines.", ("zwölf", "12"))
        messages = (Message("user", item.question), Message("assistant", "<answer>12</answer>", "hm\u2028so"))
        made.append(
            Rollout(item, 1, messages, "12", Score(hard, (1 + hard) / 3, "" if hard else "expected zwölf"))
        )
    wrong = next((index for index, hard in enumerate(hards) if not hard), None)
    if wrong is not None:
        made[wrong] = replace(made[wrong], fault=Fault.truncated)
    return tuple(made)


def scored(skill: Skill, num_solved: int, step: int) -> ScoredSkill:
    """The skill with the first ``num_solved`` val items solved."""
    return ScoredSkill(skill, tuple(each.score for each in selection(num_solved)), step)


def selection(num_solved: int) -> tuple[Rollout, ...]:
    return rollouts("val", [float(index < num_solved) for index in range(VAL_ITEMS)])


def seed() -> ScoredSkill:
    """Solves nothing: its score is a true 0.0."""
    return scored(Skill(), 0, 0)


def epoch_end(state: TrainState) -> EpochTrace:
    """Guidance that changes the text and is rejected, and advice; one item of two was shown."""
    skill = replace(state.current.skill, guidance="Mind the gap.")
    pairs = tuple(map(Pair, rollouts("train", [0.0, 1.0]), rollouts("train", [1.0, 1.0])))
    candidate = replace(scored(skill, 0, state.step), epoch_end=True)
    return EpochTrace(
        pairs=pairs,
        shown=pairs[:1],
        slow_update=Advice("Mind the gap.", "seen twice", (ParsePath.strict,)),
        meta_skill=Advice("Look at ünits.", "", (ParsePath.repaired,), ("one",)),
        judged=Judged(candidate, selection(0), Verdict(Outcome.rejected, "score", -1.0)),
    )


def ending_an_epoch(trace: StepTrace) -> StepTrace:
    """The same step as the last of its epoch."""
    end = epoch_end(trace.state)
    return replace(trace, epoch_end=end, state=after_epoch(trace.state, end, Metric.hard))


def next_trace(state: TrainState, outcome: Outcome) -> StepTrace:
    """The step after ``state``; an accepted candidate solves one val item more."""
    step = state.step + 1
    solved = int(sum(score.hard for score in state.current.scores))
    kept, lost = Edit("append", None, f"- Rule {step}"), Edit("delete", "- nowhere")
    skill = state.current.skill
    chosen: tuple[Rollout, ...] = ()
    if outcome is not Outcome.unchanged:
        skill, chosen = replace(skill, body=f"{skill.body}\n- Rule {step}".strip()), selection(solved)
    if outcome is Outcome.accepted:
        chosen = selection(solved + 1)
    candidate = scored(skill, solved + (outcome is Outcome.accepted), step)
    edits = (EditResult(kept), EditResult(lost, Rejection.anchor_missing))
    patch = Patch(
        (kept, lost), Source.failure, "because", "units lost", (ParsePath.repaired,), ("one too long",)
    )
    accepted = outcome is Outcome.accepted
    return StepTrace(
        epoch=1,
        rollouts=rollouts("train", [1.0, 0.0, 0.0]),
        patches=(patch,),
        merged=patch,
        limit=EditLimit(3),
        selected=patch,
        edits=edits,
        judged=Judged(
            candidate,
            chosen,
            Verdict(outcome, "score" if outcome is Outcome.rejected else "", float(accepted)),
        ),
        state=replace(
            state,
            step=step,
            current=candidate if accepted else state.current,
            best=candidate if accepted else state.best,
            step_buffer=(*state.step_buffer, Remembered(step, ("units lost",), (edits[1],), outcome)),
        ),
    )


def traces(*outcomes: Outcome) -> tuple[StepTrace, ...]:
    """One step after the other, from the seed on."""
    state, made = TrainState(0, seed(), seed()), []
    for number, outcome in enumerate(outcomes, 1):
        trace = next_trace(state, outcome)
        made.append(ending_an_epoch(trace) if number == EPOCH_ENDS_AFTER else trace)
        state = made[-1].state
    return tuple(made)


def opening(folder: Path) -> Opening:
    return Opening(
        folder=folder,
        choices={"model": "simulated", "model/target": "simulated"},
        dataset="demo",
        target="sim-target",
        optimizer="sim-optimizer",
        simulated=True,
        sizes={Split.train: 3, Split.val: VAL_ITEMS, Split.test: 2},
        num_epochs=1,
        steps_per_epoch=4,
        config_yaml="train:\n  seed: 42\n",
        params={"train.seed": "42", "train.batch_size": "3", "dataset.split": "null"},
        manifest_json='{"train": ["ü"]}\n',
        origins=(Origin("train.batch_size", "3", "from rule seed"),),
        warnings=(),
    )


def summary(made: Sequence[StepTrace]) -> Summary:
    """What the made-up run came to."""
    outcomes = [trace.judged.verdict.outcome for trace in made]
    best = made[-1].state.best if made else seed()
    return Summary(
        format=1,
        status="finished",
        verdict="no clear gain",
        evidence=Evidence.underpowered,
        meets_seed_rule=False,
        cause="",
        dataset="demo",
        target="sim-target",
        optimizer="sim-optimizer",
        simulated=True,
        seed=42,
        baseline_selection_hard=0.0,
        best_selection_hard=best.mean(Metric.hard),
        best_step=best.step,
        baseline_test_hard=0.0,
        test_hard=0.5,
        test_delta_hard=0.5,
        test_delta_interval=Interval(0.5, 0.1, 0.9),
        final_test_hard=None,
        num_test_items=2,
        total_steps=len(made),
        total_accepts=outcomes.count(Outcome.accepted),
        total_rejects=outcomes.count(Outcome.rejected),
        val_attempts_not_needed=4,
        outcomes={str(outcome): outcomes.count(outcome) for outcome in Outcome},
        seed_digest=Skill().digest,
        best_digest=best.skill.digest,
        usage={
            "target/rollout": Usage(
                calls=3, reused=2, input_tokens=100, cached_tokens=None, output_tokens=20, cost_usd=0.25
            ),
            "optimizer/reflect": Usage(
                calls=1,
                input_tokens=None,
                cached_tokens=None,
                output_tokens=None,
                reasoning_tokens=None,
                cost_usd=None,
            ),
        },
        failed_requests={"target": {"429": 2, "no answer": 1}},
        notes=("made up",),
    )


@dataclass(frozen=True)
class SampleRun:
    """A whole run that can be told to a watcher, or a part of it."""

    traces: tuple[StepTrace, ...]

    def tell_training(self, watcher: Watcher, folder: Path) -> None:
        """From the opening to the last step."""
        watcher.opened(opening(folder))
        watcher.baseline(seed(), selection(0))
        for trace in self.traces:
            watcher.step(trace)

    def tell_result(self, watcher: Watcher) -> None:
        """The tests and the end."""
        state = self.traces[-1].state
        for which, skill in (
            ("baseline", Skill()),
            ("best", state.best.skill),
            ("final", state.current.skill),
        ):
            watcher.tested(which, skill, rollouts("test", [0.0, float(which != "baseline")]))
        watcher.finished(summary(self.traces), state.best)


SAMPLE = SampleRun(traces(Outcome.rejected, Outcome.accepted, Outcome.unchanged, Outcome.accepted))
