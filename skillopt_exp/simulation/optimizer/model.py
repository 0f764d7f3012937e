"""The simulated optimizer: recognises its prompt and writes the reply."""

import hashlib
import json
import random
import re
from typing import Any

from skillopt_exp.simulation.optimizer.looking_back import guidance, meta_skill
from skillopt_exp.simulation.optimizer.pooling import merge, rank, rate
from skillopt_exp.simulation.optimizer.prompt import (
    CompactPrompt,
    Form,
    LookBackPrompt,
    MergePrompt,
    NotesPrompt,
    Prompt,
    Proposal,
    ProposePrompt,
    RankPrompt,
    RatePrompt,
    ReflectPrompt,
    RewritePrompt,
    parse,
    written,
)
from skillopt_exp.simulation.optimizer.reflecting import Reflection, reflect
from skillopt_exp.simulation.optimizer.rewriting import fewer, shortened, written_anew
from skillopt_exp.simulation.optimizer.suggesting import (
    as_edit,
    merged_skills,
    merged_suggestions,
    rewritten,
    suggested,
)

_CALLED = {Form.edits: "edits", Form.suggestions: "suggestions", Form.skills: "skills"}
_FENCED = 0.02
_TRAILING_COMMA = 0.01
"""Shares of replies with the little faults that real models make, in [0, 1]."""


class Optimizer:
    """Answers the optimizer's prompts. The prompt at hand is all that it knows."""

    def reply(self, text: str) -> str:
        """The reply to the prompt ``text``: JSON where the prompt asks for it."""
        # Every chance of a reply comes from its prompt, so that equal prompts get equal replies.
        rng = random.Random(hashlib.sha256(text.encode(errors="surrogatepass")).digest())
        prompt = parse(text)
        if prompt is None:
            wants_json = re.search(r"\bjson\b", text, re.IGNORECASE)
            return "{}" if wants_json else "There is nothing here to improve."
        return _as_models_write(_answer(prompt, rng), rng)


def _answer(prompt: Prompt, rng: random.Random) -> dict[str, Any]:
    match prompt:
        case ReflectPrompt():
            reflection = reflect(prompt, rng)
            proposed = _proposed(prompt, reflection, rng)
            return {
                "reasoning": reflection.reasoning,
                "failure_summary": reflection.summary,
                prompt.form: [written(each, prompt.form, with_support=False) for each in proposed],
            } | ({"appendix_notes": list(reflection.notes)} if prompt.notes else {})
        case ProposePrompt():
            reflection, text = written_anew(prompt, rng)
            return {
                "reasoning": reflection.reasoning,
                "failure_summary": reflection.summary,
                "new_skill": text,
            }
        case MergePrompt():
            merged, called = _merged(prompt), _CALLED[prompt.form]
            return {
                "reasoning": f"{len(prompt.edits)} {called} say {len(merged)} different things.",
                prompt.form: [written(each, prompt.form, with_support=True) for each in merged],
            }
        case RewritePrompt():
            edits = tuple(map(as_edit, prompt.suggestions))
            text = rewritten(prompt.skill, edits, rng)
            return {"reasoning": f"{len(edits)} suggestions are worked in.", "new_skill": text}
        case RankPrompt():
            return {
                "reasoning": "The edits with most support come first.",
                "selected_indices": list(rank(prompt.edits, prompt.budget)),
            }
        case RatePrompt():
            return {
                "reasoning": "A young skill bears more at once than one that has grown.",
                "learning_rate": rate(prompt.edits, prompt.skill),
            }
        case NotesPrompt():
            left = fewer(prompt.notes, prompt.most)
            return {"reasoning": "Notes on the same rule became one.", "appendix_notes": list(left)}
        case CompactPrompt():
            text = shortened(prompt.skill, prompt.max_tokens)
            return {"reasoning": "Rules that say the same became one.", "new_skill": text}
        case LookBackPrompt(kind="slow_update"):
            text, reasoning = guidance(prompt, rng)
            return {"reasoning": reasoning, "slow_update_content": text}
        case LookBackPrompt():
            text, reasoning = meta_skill(prompt)
            return {"reasoning": reasoning, "meta_skill_content": text}


def _proposed(prompt: ReflectPrompt, reflection: Reflection, rng: random.Random) -> tuple[Proposal, ...]:
    """What was thought of as edits, in the form that is asked for."""
    match prompt.form:
        case Form.edits:
            return reflection.edits
        case Form.suggestions:
            return tuple(map(suggested, reflection.edits))
        case Form.skills:
            if not reflection.edits:
                return ()
            text = rewritten(prompt.skill, reflection.edits, rng)
            return (Proposal("rewrite", reflection.summary or "what was learned", text),)


def _merged(prompt: MergePrompt) -> tuple[Proposal, ...]:
    match prompt.form:
        case Form.edits:
            return merge(prompt.edits)
        case Form.suggestions:
            return merged_suggestions(prompt.edits)
        case Form.skills:
            return merged_skills(prompt.skill, prompt.edits)


def _as_models_write(answer: dict[str, Any], rng: random.Random) -> str:
    text = json.dumps(answer, ensure_ascii=False)
    chance = rng.random()
    if chance < _FENCED:
        return f"```json\n{text}\n```"
    return f"{text[:-1]},}}" if chance < _FENCED + _TRAILING_COMMA else text
