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
    LookBackPrompt,
    MergePrompt,
    Prompt,
    Proposal,
    ProposePrompt,
    RankPrompt,
    RatePrompt,
    ReflectPrompt,
    parse,
)
from skillopt_exp.simulation.optimizer.reflecting import reflect
from skillopt_exp.simulation.optimizer.rewriting import shortened, written_anew

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
            return {
                "reasoning": reflection.reasoning,
                "failure_summary": reflection.summary,
                "edits": [_written(edit, with_support=False) for edit in reflection.edits],
            }
        case ProposePrompt():
            reflection, text = written_anew(prompt, rng)
            return {
                "reasoning": reflection.reasoning,
                "failure_summary": reflection.summary,
                "new_skill": text,
            }
        case MergePrompt():
            merged = merge(prompt.edits)
            return {
                "reasoning": f"{len(prompt.edits)} edits say {len(merged)} different things.",
                "edits": [_written(edit, with_support=True) for edit in merged],
            }
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
        case CompactPrompt():
            text = shortened(prompt.skill, prompt.max_tokens)
            return {"reasoning": "Rules that say the same became one.", "new_skill": text}
        case LookBackPrompt(kind="slow_update"):
            text, reasoning = guidance(prompt, rng)
            return {"reasoning": reasoning, "slow_update_content": text}
        case LookBackPrompt():
            text, reasoning = meta_skill(prompt)
            return {"reasoning": reasoning, "meta_skill_content": text}


def _written(edit: Proposal, *, with_support: bool) -> dict[str, Any]:
    written: dict[str, Any] = {"op": edit.op}
    if edit.target is not None:
        written["target"] = edit.target
    if edit.content is not None:
        written["content"] = edit.content
    if with_support:
        written |= {"support_count": edit.support, "source_type": edit.source}
    return written


def _as_models_write(answer: dict[str, Any], rng: random.Random) -> str:
    text = json.dumps(answer, ensure_ascii=False)
    chance = rng.random()
    if chance < _FENCED:
        return f"```json\n{text}\n```"
    return f"{text[:-1]},}}" if chance < _FENCED + _TRAILING_COMMA else text
