"""From attempts to edits: what the optimizer proposes to one reflect prompt."""

import random
from collections import Counter
from dataclasses import dataclass

from skillopt_exp.simulation.optimizer.advice import ADVICE, HARMFUL, USELESS
from skillopt_exp.simulation.optimizer.diagnosis import FLAWS_OF, Flaw, answer_kind, diagnose
from skillopt_exp.simulation.optimizer.prompt import Proposal, ReflectPrompt, editable_lines

# Chances, all in [0, 1].
_MISLED = 0.30
"""Steps in which the optimizer has got a wrong idea."""
_MISLED_REPLY = 0.60
"""Replies of such a step that propose it."""
_USELESS = 0.08
_SECOND_RULE = 0.25
_BESIDE_FOCUS = 0.35
"""Minibatches without a flaw in focus whose own flaw is taken up all the same."""
_REWORDED = 0.50
"""Rules that seem not to help and are replaced by another wording."""
_REMINDED = 0.50
"""Replies that remind of a rule that seems not to help, where notes are asked for."""
_MISJUDGED = 0.10
"""Replies that take a defect of the skill for a lapse."""
_DELETED = 0.05
_INSERTED = 0.25
_NUM_IN_FOCUS = 2


@dataclass(frozen=True, slots=True)
class Reflection:
    """What the optimizer says to one reflect prompt."""

    reasoning: str
    summary: str
    edits: tuple[Proposal, ...]
    notes: tuple[str, ...] = ()


def reflect(prompt: ReflectPrompt, rng: random.Random) -> Reflection:
    """Edits for the flaws that the attempts show, at most ``prompt.budget``; sometimes bad advice."""
    if prompt.kind != "failure":
        return _on_success(prompt, rng)
    # One step's minibatches share skill and memory, so they share what the optimizer is after in it.
    step = random.Random(f"{prompt.skill}\0{prompt.num_earlier_steps}\0{sorted(prompt.remembered)}")
    mistake = _mistake(prompt, step)
    flaws = Counter(flaw for flaw in map(diagnose, prompt.attempts) if flaw is not None)
    edits: list[Proposal] = []
    if mistake is not None and rng.random() < _MISLED_REPLY:
        edits.append(mistake)
    elif rng.random() < _USELESS:
        edits += _appended(prompt, [rng.choice(USELESS)], rng)
    else:
        edits += _rules(prompt, flaws, _focus(prompt, step), rng)
    notes = _notes(prompt, flaws, rng) if prompt.notes else ()
    summary = ADVICE[_most_common(flaws)].summary if flaws else ""
    reasoning = f"Read {len(prompt.attempts)} failed attempts. {summary}".strip()
    return Reflection(reasoning, summary, tuple(edits[: prompt.budget]), notes)


def _notes(prompt: ReflectPrompt, flaws: Counter[Flaw], rng: random.Random) -> tuple[str, ...]:
    """A reminder where the skill speaks of a flaw that shows all the same: now and then of something else,
    or idle."""
    forgotten = Counter({flaw: count for flaw, count in flaws.items() if _is_spoken_of(flaw, prompt)})
    lapses = flaws if rng.random() < _MISJUDGED else forgotten
    if not lapses or rng.random() >= _REMINDED:
        return ()
    if rng.random() < _USELESS:
        return (rng.choice(USELESS),)
    return tuple(_wording(_most_common(lapses), prompt, rng))


def _is_spoken_of(flaw: Flaw, prompt: ReflectPrompt) -> bool:
    return ADVICE[flaw].topic.search(prompt.skill) is not None


def _on_success(prompt: ReflectPrompt, rng: random.Random) -> Reflection:
    edits = _appended(prompt, [rng.choice(USELESS)], rng) if rng.random() < _USELESS else []
    return Reflection("The attempts succeeded; little is left to add.", "", tuple(edits[: prompt.budget]))


def _mistake(prompt: ReflectPrompt, step: random.Random) -> Proposal | None:
    """The bad edit that this step's replies fall for, if any."""
    misled, deletes = step.random() < _MISLED, step.random() < _DELETED
    known = prompt.remembered | set(prompt.skill.splitlines())
    wrong_ideas = [idea for idea in map(_as_item, HARMFUL) if idea not in known]
    lines = editable_lines(prompt.skill)
    # Before anything was tried there is no wrong lesson to draw from it.
    if not misled or not (prompt.skill.strip() or prompt.num_earlier_steps):
        return None
    if deletes and lines:
        return Proposal("delete", step.choice(lines), None)
    return Proposal("append", None, step.choice(wrong_ideas)) if wrong_ideas else None


def _focus(prompt: ReflectPrompt, step: random.Random) -> tuple[Flaw, ...]:
    """The flaws that this step is after: few, so that a run improves step by step."""
    kinds = Counter(map(answer_kind, prompt.attempts))
    open_flaws = [
        flaw for kind in sorted(kinds) for flaw in FLAWS_OF[kind] if not _is_spoken_of(flaw, prompt)
    ]
    open_flaws = list(dict.fromkeys(open_flaws))
    step.shuffle(open_flaws)
    # Advice of an earlier epoch goes first.
    open_flaws.sort(key=lambda flaw: ADVICE[flaw].summary not in prompt.advice)
    return tuple(open_flaws[:_NUM_IN_FOCUS])


def _rules(
    prompt: ReflectPrompt, flaws: Counter[Flaw], focus: tuple[Flaw, ...], rng: random.Random
) -> list[Proposal]:
    spoken_of = {flaw for flaw in flaws if _is_spoken_of(flaw, prompt)}
    chosen = [flaw for flaw in focus if flaw in flaws]
    others = [flaw for flaw, _ in flaws.most_common() if flaw not in spoken_of and flaw not in chosen]
    if others and (not chosen and rng.random() < _BESIDE_FOCUS):
        chosen = others[:1]
    if len(chosen) > 1 and rng.random() >= _SECOND_RULE:
        chosen = chosen[:1]
    rules = [rule for flaw in chosen for rule in _wording(flaw, prompt, rng)]
    if rules or others or prompt.notes or not spoken_of:
        return _appended(prompt, rules, rng)
    # Only flaws are left that the skill speaks of: perhaps another wording works better.
    return _reworded(max(spoken_of, key=lambda flaw: (flaws[flaw], flaw)), prompt, rng)


def _wording(flaw: Flaw, prompt: ReflectPrompt, rng: random.Random) -> list[str]:
    """One wording of the rule that was not rejected before, or none."""
    fresh = [
        rule
        for rule in ADVICE[flaw].rules
        if rule not in prompt.skill and not {rule, _as_item(rule)} & prompt.remembered
    ]
    return [rng.choice(fresh)] if fresh else []


def _reworded(flaw: Flaw, prompt: ReflectPrompt, rng: random.Random) -> list[Proposal]:
    lines = [line for line in editable_lines(prompt.skill) if ADVICE[flaw].topic.search(line)]
    rules = _wording(flaw, prompt, rng)
    if not lines or not rules or rng.random() >= _REWORDED:
        return []
    return [Proposal("replace", lines[0], _as_item(rules[0]))]


def _appended(prompt: ReflectPrompt, rules: list[str], rng: random.Random) -> list[Proposal]:
    """The rules as list items: at the end, or behind a line of the skill."""
    lines = editable_lines(prompt.skill)
    edits = []
    for item in map(_as_item, rules):
        if item in prompt.remembered or item in prompt.skill:
            continue
        inserts = bool(lines) and rng.random() < _INSERTED
        edits.append(
            Proposal("insert_after", rng.choice(lines), item) if inserts else Proposal("append", None, item)
        )
    return edits


def _as_item(rule: str) -> str:
    return f"- {rule}"


def _most_common(flaws: Counter[Flaw]) -> Flaw:
    return max(flaws, key=lambda flaw: (flaws[flaw], flaw))
