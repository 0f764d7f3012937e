"""The end of an epoch: guidance for the skill, and advice of the optimizer to itself."""

import random
from collections import Counter

from skillopt_exp.simulation.optimizer.advice import ADVICE
from skillopt_exp.simulation.optimizer.diagnosis import diagnose
from skillopt_exp.simulation.optimizer.prompt import LookBackPrompt, ReflectPrompt
from skillopt_exp.simulation.optimizer.reflecting import Reflection, reflect

_NEW_RULES = 2


def guidance(prompt: LookBackPrompt, rng: random.Random) -> tuple[str, str]:
    """The new guidance and the reasoning: what stood there, and what the failing tasks call for."""
    seen = _reflected(prompt, rng)
    kept = [line for line in prompt.guidance.splitlines() if line.strip()]
    new = [edit.content for edit in seen.edits if edit.content is not None and edit.content not in kept]
    return "\n".join([*kept, *new]), f"{len(prompt.failing)} of {prompt.num_pairs} tasks fail. {seen.summary}"


def meta_skill(prompt: LookBackPrompt) -> tuple[str, str]:
    """The advice and the reasoning: the commonest failures that no rule speaks of come first."""
    flaws = Counter(flaw for flaw in map(diagnose, prompt.failing) if flaw is not None)
    open_flaws = [flaw for flaw, _ in flaws.most_common() if not ADVICE[flaw].topic.search(prompt.skill)]
    first = " ".join(ADVICE[flaw].summary for flaw in open_flaws[:_NEW_RULES])
    looked = f"{len(prompt.failing)} of {prompt.num_pairs} tasks fail."
    if not first:
        return "Every failure has its rule by now: word the rules more plainly before adding any.", looked
    return f"Look first at failures of this kind, which no rule speaks of yet: {first}", looked


def _reflected(prompt: LookBackPrompt, rng: random.Random) -> Reflection:
    """Guidance is thought of as edits are, with the same slips."""
    if not prompt.failing:
        return Reflection("", "", ())
    as_reflected = ReflectPrompt(
        kind="failure",
        skill=prompt.skill,
        remembered=frozenset(),
        num_earlier_steps=0,
        attempts=prompt.failing,
        budget=_NEW_RULES,
    )
    return reflect(as_reflected, rng)
