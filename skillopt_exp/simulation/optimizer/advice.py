"""What the optimizer writes into a skill: rules against flaws, and advice that helps nobody. Data."""

import re
from dataclasses import dataclass

from skillopt_exp.simulation.optimizer.diagnosis import Flaw


@dataclass(frozen=True, slots=True)
class Advice:
    """What there is to say about one flaw."""

    summary: str
    """The pattern, as a failure summary words it."""
    rules: tuple[str, ...]
    """Wordings of the rule against it."""
    topic: re.Pattern[str]
    """By what a skill is seen to speak of it already."""


def _advice(summary: str, topic: str, *rules: str) -> Advice:
    return Advice(summary, rules, re.compile(topic, re.IGNORECASE))


ADVICE: dict[Flaw, Advice] = {
    Flaw.too_many_words: _advice(
        "The right answer is buried in a whole sentence.",
        r"sentence|bare|as few words|short phrase|as short as",
        "Answer with the bare name, phrase, letter or number alone, and never with a whole sentence.",
        "Inside the answer tags, write as few words as possible: no full sentence, only the answer itself.",
        "Keep the answer short. A sentence around the answer makes it wrong.",
        "Give the shortest phrase that answers the question rather than a complete sentence.",
        "When you know the answer, write just the words that name it; leave out any surrounding sentence.",
    ),
    Flaw.two_answers: _advice(
        "Two candidates are offered where one is wanted.",
        r"exactly one|single (?:answer|candidate)|two candidates|alternatives|more than one",
        "Commit to exactly one answer, even when you are in doubt.",
        "Never offer two candidates; decide on the likeliest and leave out the other.",
        "Put a single answer between the tags. Alternatives joined by a conjunction count as wrong.",
        "If several candidates seem possible, choose the best one and do not mention any alternatives.",
        "Do not hedge: more than one answer is always marked wrong.",
    ),
    Flaw.extra_remark: _advice(
        "The right answer is followed by a remark in parentheses.",
        r"parenthe|remark|expla|comment|additional information",
        "Add no remark in parentheses to the answer.",
        "Write nothing after the answer: no explanation, no comment, no parentheses.",
        "Keep explanations out of the answer tags; an answer with a comment behind it is wrong.",
        "Stop right after the answer, without any additional information about it.",
        "Do not explain or qualify the answer inside the tags.",
    ),
    Flaw.wrong_pick: _advice(
        "Something plausible was picked that does not fit the whole question.",
        r"every detail|each (?:condition|detail)|all (?:parts|details)|plausible|whole question",
        "Before answering, check your candidate against every detail of the question.",
        "Do not take something just because it appears in the text; make sure that it fits all details of "
        "the question.",
        "Verify each condition that the question states, and discard candidates that contradict one of them.",
        "Compare the candidate with the whole question again before you write it down.",
        "Never grab the first plausible candidate: test it against all parts of the question.",
    ),
    Flaw.cut_short: _advice(
        "A name or title is given only in part.",
        r"full name|complete (?:name|title)|every word|any part|surname|shorten",
        "Give the full name or title with all its words.",
        "Never shorten a name: a surname alone is not enough.",
        "Write names and titles completely, every word of them.",
        "Always use the complete title or the complete name of a person.",
        "Do not leave out any part of a name or title.",
    ),
    Flaw.asked_back: _advice(
        "The answer is phrased as a question.",
        r"as a question|form of a question|question form|question mark|statement",
        "Never phrase the answer as a question.",
        "State the answer as a plain statement, not in the form of a question.",
        "Do not answer in the form of a question, even though the clue may come from a quiz.",
        "Avoid question marks in the answer: write it as a statement.",
        "An answer in question form is always marked wrong.",
    ),
    Flaw.no_unit: _advice(
        "The unit that belongs to a number is missing.",
        r"\bunits?\b",
        "Keep the unit together with the number.",
        "Never drop the unit of measurement that belongs to a number.",
        "When the answer is a quantity, include its unit.",
        "A bare number is not enough: give the unit with it.",
        "Write the unit after each figure.",
    ),
    Flaw.spelled_option: _advice(
        "The text of an option is given instead of its letter.",
        r"\bletter",
        "When options are listed, answer with the letter of the option, not with its text.",
        "Give the letter in parentheses; do not write out the wording of the option.",
        "For multiple choice, put the letter of the chosen option between the tags.",
        "Only the letter of the option counts, never its wording.",
        "Name the option by its letter instead of repeating its text.",
    ),
    Flaw.not_exact: _advice(
        "A number is rounded.",
        r"\bround|exact|approximat|estimate",
        "Give the exact number; do not round it.",
        "Never round or estimate a result.",
        "Report numbers exactly as calculated: an approximate figure is wrong.",
        "Avoid approximations. State the precise value.",
        "Rounded numbers are marked wrong, so leave the result unrounded.",
    ),
    Flaw.stopped_early: _advice(
        "The number given is not the one that was asked for: the calculation was not finished.",
        r"last step|final (?:step|result)|intermediate|every step|to the end",
        "Carry the calculation through to the last step before answering.",
        "Do not stop at an intermediate result; report the final result.",
        "Finish every step of the calculation, then give the number that the question asks for.",
        "Work the problem to the end: an intermediate result is not the answer.",
        "Never skip the last step of a calculation.",
    ),
}

USELESS = (
    "Be careful.",
    "Read the task attentively and think before you reply.",
    "Take your time and stay focused.",
    "Do your best on every task.",
    "Try to understand what is meant.",
)

HARMFUL = (
    "Answer in a complete sentence, so that the reader can follow.",
    "When you are unsure, give two candidates instead of one.",
    "Add a short explanation in parentheses after the answer.",
    "Explain your reasoning inside the answer tags.",
    "Name several possibilities, the likeliest first.",
    "Write the answer out as a full sentence that repeats the question's wording.",
)
