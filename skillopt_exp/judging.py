"""What becomes of a candidate: refused for what it is, or scored on val and put before the gate.

A candidate that may not be is refused before any val call is spent: one that is still too long after it
was sent back once, one that says what only val and test items can know, and, where that is asked for, one
that does not even help on the batch that it was made from.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from skillopt_exp.flow import ordered
from skillopt_exp.leak import LeakCheck
from skillopt_exp.llm.base import Chat, Stage
from skillopt_exp.prompts import Prompts
from skillopt_exp.records import Judged, Metric, Outcome, Rollout, ScoredSkill, Skill, Verdict
from skillopt_exp.scoring import Scorer
from skillopt_exp.skill import num_tokens
from skillopt_exp.stages.compact import compact
from skillopt_exp.stages.gate import gain


@dataclass(frozen=True, slots=True)
class Judge:
    """Decides on candidates. ``max_tokens`` None is no limit."""

    scorer: Scorer
    optimizer: Chat
    prompts: Prompts
    max_tokens: int | None
    leaks: LeakCheck

    async def __call__(
        self,
        skill: Skill,
        current: ScoredSkill,
        *,
        step: int,
        epoch_end: bool = False,
        batch: Sequence[Rollout] = (),
        whole: bool = False,
    ) -> Judged:
        """The candidate and the verdict on it, against ``current``, whose attempts at the ``batch`` it is
        to beat first where candidates are screened. ``whole`` scores it on all of val in any case."""
        compaction = None
        if self.too_long(skill, current.skill):
            assert self.max_tokens is not None
            skill, compaction = await compact(self.optimizer, skill, self.max_tokens, self.prompts)
        bare = ScoredSkill(skill, (), step, epoch_end, self.scorer.scoring.repeats)
        verdict = self.refusal(skill, current.skill)
        if verdict is not None:
            return Judged(bare, (), verdict, compaction)
        screening = await self.screening(skill, batch)
        if screening and not _gains(screening, batch, self.scorer.gate.metric):
            return Judged(bare, (), Verdict(Outcome.rejected, by="screen"), compaction, screening)
        judged = await self.scorer.compared(bare, current, whole=whole)
        return replace(judged, compaction=compaction, screening=screening)

    def too_long(self, skill: Skill, current: Skill) -> bool:
        """Whether it is over the limit. One that was over it before may stay, or shrink."""
        return self.max_tokens is not None and num_tokens(skill.text) > max(
            self.max_tokens, num_tokens(current.text)
        )

    def refusal(self, skill: Skill, current: Skill) -> Verdict | None:
        """Why the candidate does not get as far as the target, or None."""
        if self.too_long(skill, current):
            size = f"{num_tokens(skill.text)} tokens, at most {self.max_tokens}"
            return Verdict(Outcome.rejected, by="length", detail=size)
        leak = self.leaks.find(skill.text, current.text)
        return None if leak is None else Verdict(Outcome.rejected, by="leak", detail=str(leak))

    async def screening(self, skill: Skill, batch: Sequence[Rollout]) -> tuple[Rollout, ...]:
        """The candidate's attempts at what its batch attempted; none where nothing is screened, or the text
        met val before, however far it came there: that must not depend on how soon evaluations end."""
        if not self.scorer.scoring.screened or skill.digest in self.scorer.asked:
            return ()
        return await ordered(
            lambda rollout: self.scorer.attempt(skill, rollout.item, Stage.screen, rollout.attempt), batch
        )


def _gains(screening: Sequence[Rollout], batch: Sequence[Rollout], metric: Metric) -> bool:
    """Whether the batch is solved better than it was."""
    after, before = (tuple(rollout.score for rollout in rollouts) for rollouts in (screening, batch))
    return gain(ScoredSkill(Skill(), after, 0), ScoredSkill(Skill(), before, 0), metric) > 0
