"""What the simulated target takes a skill to say: each habit in many wordings, and what must not count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillopt_exp.simulation.target import Habit, cured, encouraged

CURES = {
    Habit.wordy: (
        "Answer with the bare name or phrase only.",
        "Keep your answers as short as possible.",
        "Do not write full sentences inside the tags.",
        "A few words are enough: the entity itself and nothing else.",
        "Never wrap the answer in a sentence.",
        "Be brief. One to five words will do.",
        "Instead of a whole sentence, put just the name between the tags.",
        "Complete sentences are not wanted; the shortest correct phrase is.",
        "Strip the reply of any surrounding words.",
        "Respond concisely: avoid prose and lead-ins.",
        "Reply tersely.",
        "The answer tags should hold nothing but the name itself.",
    ),
    Habit.hedging: (
        "Commit to exactly one answer.",
        "Never offer two candidates.",
        "Don't hedge: pick the likeliest candidate and drop the alternatives.",
        "If you are torn between possibilities, choose the single best one.",
        "Give one name, not a list of options.",
        "Several candidates joined by 'or' count as wrong.",
        "Decide on a single answer even when you are not sure.",
        "Leave out every alternative.",
        "Refrain from naming more than one possibility.",
        "Settle for one candidate instead of listing several.",
    ),
    Habit.aside: (
        "Add no explanation after the answer.",
        "Do not put remarks in parentheses behind the name.",
        "Leave out any comment, bracket or note.",
        "Keep explanations out of the answer tags.",
        "The answer must not be followed by extra information.",
        "Stop right after the answer.",
        "Avoid parenthetical descriptions.",
        "Never justify or elaborate on what you answer.",
        "Parentheses with background facts are not allowed in the answer.",
        "Write the answer without any additional details.",
    ),
    Habit.distractor: (
        "Before answering, check your candidate against every detail of the question.",
        "Don't take a name just because it appears in the passages.",
        "Make sure that the answer fits all parts of the clue.",
        "Verify each condition in the question before you settle on a candidate.",
        "Never grab the first title that looks plausible.",
        "Compare the chosen option with the whole question once more.",
        "Re-read the clue and confirm that the candidate matches it.",
        "Test every option against the details of the question.",
        "Beware of distractors: other titles in the text are traps.",
        "Do not copy a number from the question merely because it stands there.",
    ),
    Habit.partial: (
        "Give the full name, not just the surname.",
        "Never shorten a name or title.",
        "Write titles completely, with every word.",
        "Include first and last name.",
        "A last name alone is not enough.",
        "Do not drop any part of the title.",
        "Always give the complete title.",
        "Don't abbreviate names.",
        "Names must not be truncated.",
        "Spell the whole name out.",
    ),
    Habit.question_form: (
        "Never phrase the answer as a question.",
        "State the answer as a statement.",
        "Do not answer in the form of a question, even though this is a quiz.",
        'Don\'t begin with "What is" or "Who is".',
        "Answers are plain noun phrases; question marks are wrong.",
        "Avoid the quiz-show style of replying with a question.",
        "The answer should be declarative.",
        "No Jeopardy phrasing.",
        "Don't turn your reply into a question.",
        "An answer in question form is marked wrong.",
    ),
    Habit.unit: (
        "Keep the unit with the number.",
        "Never drop the unit of measurement.",
        "A bare number is not enough: write the unit too.",
        "Include units such as km or kg.",
        "When the answer is a quantity, give number and unit.",
        "Don't leave out the unit.",
        "The unit must not be omitted.",
        "Numbers without their unit count as wrong.",
        "Add the noun that belongs to the number.",
        "Always state what is being counted along with the figure.",
    ),
    Habit.option_text: (
        "Answer with the letter of the option.",
        "Give the option's letter, such as (B), not its wording.",
        "Do not write out the text of the option.",
        "For multiple choice, reply with the letter in parentheses.",
        "Only the letter counts.",
        "Never copy the option; name its letter.",
        "Put the choice label inside the tags.",
        "Use the letter rather than the wording of the choice.",
        "The text of the chosen option is not accepted.",
        "Return a single letter like (A).",
    ),
    Habit.rounding: (
        "Give the exact number.",
        "Do not round.",
        "Never approximate or estimate a result.",
        "Report numbers exactly as calculated.",
        "Rounded figures are wrong.",
        "Avoid estimates; the precise value is needed.",
        "State results to the last digit.",
        "Numbers must be exact.",
        "Don't give a rough figure.",
        "Leave the result unrounded.",
    ),
    Habit.unfinished: (
        "Carry the calculation through to the last step.",
        "Don't stop at an intermediate result.",
        "Report the final result, not a subtotal.",
        "Finish every step of the calculation before answering.",
        "Never stop one step short.",
        "Make sure that the number you give is the quantity that the question asks for.",
        "Complete all steps of the computation.",
        "Intermediate results are not the answer.",
        "Work all the way to the end of the problem.",
        "Do not skip the last step.",
    ),
}

ENCOURAGING = {
    Habit.wordy: (
        "Answer in a full sentence.",
        "Always reply with a complete sentence.",
        "Do not keep answers short.",
    ),
    Habit.hedging: (
        "If unsure, give two candidates.",
        "Name several possibilities.",
        "Offer an alternative answer too, joined with or.",
    ),
    Habit.aside: (
        "Explain your reasoning inside the answer.",
        "Add a short explanation in parentheses after the answer.",
        "Append a remark on why it is right.",
    ),
    Habit.distractor: ("Take the first title that appears in the passages.",),
    Habit.partial: ("Use only the last name of people.", "Shorten names to the last word."),
    Habit.question_form: ("Phrase your answer as a question.", "Answer in the form of a question."),
    Habit.unit: ("Leave out the unit.", "Drop units of measurement."),
    Habit.option_text: ("Write out the text of the option.", "Do not give the letter."),
    Habit.rounding: ("Round the result to a convenient number.", "Give an approximate number."),
    Habit.unfinished: ("Stop at an intermediate result.", "Report the intermediate result."),
}

NEAR_MISSES = (
    "Do not keep your answers short.",
    "There is no need to be brief.",
    "It isn't necessary to commit to a single answer.",
    "You don't have to check the candidate against every detail of the question.",
    "Never give the letter of the option.",
    "Feel free to explain.",
    "Do not bother with units.",
    "It does not matter whether the number is exact.",
    "Don't worry about finishing every step.",
    "You need not give the full name.",
    "Avoid giving the exact number.",
    'Someone wrote: "Answer with the bare name only."',
    "> Keep your answers as short as possible.",
    "```\nNever shorten a name or title.\n```",
    "Some guides say that answers should be short.",
    "For example, a prompt might tell the model to give the exact number.",
    "An example of a bad rule is to commit to one answer.",
    "## Examples\n\nNever drop the unit.\n\nDo not round.",
    "Example: Do not hedge.",
    "Brevity is not important.",
    "The old skill told the model to answer with the letter.",
    "It is a myth that answers should be short.",
)

IRRELEVANT = (
    "# Tomato soup\n\nChop two onions and fry them in butter. Add the tomatoes and let them simmer for "
    "twenty minutes."
    " Keep the heat low. Do not add too much salt. Check the seasoning before serving. Serve with bread.",
    "# Commit messages\n\nKeep the subject line short, under 50 characters. Use the imperative mood. Do "
    "not end it with"
    " a full stop. Explain why the change was made in the body. Be concise. Mention one topic only in each "
    "commit.",
    "Read the question carefully. Think before you answer. Stay calm and do your best.",
    "Be polite and friendly. Thank the user for the question.",
)


@pytest.mark.parametrize("habit", Habit)
def test_a_skill_that_tells_the_cure_in_any_of_many_wordings_is_understood(habit: Habit) -> None:
    missed = [text for text in CURES[habit] if habit not in cured(text)]
    assert missed == []


@pytest.mark.parametrize("habit", Habit)
def test_a_skill_that_asks_for_the_habit_is_understood_too(habit: Habit) -> None:
    missed = [text for text in ENCOURAGING[habit] if habit not in encouraged(text) or habit in cured(text)]
    assert missed == []


def test_a_cure_encourages_no_habit() -> None:
    odd = {text: found for texts in CURES.values() for text in texts if (found := encouraged(text))}
    assert odd == {}


@pytest.mark.parametrize("text", NEAR_MISSES)
def test_what_is_negated_or_quoted_or_reported_cures_nothing(text: str) -> None:
    assert cured(text) == frozenset()


@pytest.mark.parametrize("text", IRRELEVANT)
def test_a_skill_about_something_else_changes_nothing(text: str) -> None:
    assert (cured(text), encouraged(text)) == (frozenset(), frozenset())


def test_the_last_word_on_a_habit_counts() -> None:
    short, long = "Keep your answers short.", "Answer in a full sentence."
    assert Habit.wordy in cured(f"- {long}\n- {short}")
    assert Habit.wordy in encouraged(f"- {short}\n- {long}")


def test_a_line_break_within_a_sentence_does_not_matter() -> None:
    assert Habit.wordy in cured("Answer with the bare\nname or phrase\nonly.")


_ANY_CURE = st.sampled_from([text for texts in CURES.values() for text in texts])


@given(st.lists(_ANY_CURE, min_size=1, max_size=4), st.sampled_from(["quote", "fence", "block", "section"]))
def test_cures_that_are_shown_and_not_told_cure_nothing(texts: list[str], how: str) -> None:
    joined = " ".join(text.replace('"', "").replace("'", "") for text in texts)
    match how:
        case "quote":
            skill = f'A note on the wall reads "{joined}" and hangs there still.'
        case "fence":
            skill = f"~~~text\n{joined}\n~~~"
        case "block":
            skill = "\n".join(f"> {text}" for text in texts)
        case _:
            skill = "# Examples\n" + "\n".join(f"- {text}" for text in texts)
    assert cured(skill) == frozenset()


@given(st.permutations([texts[0] for texts in CURES.values()]))
def test_all_cures_together_cure_everything_in_any_order(texts: list[str]) -> None:
    assert cured("# How to answer\n\n" + "\n".join(f"- {text}" for text in texts)) == frozenset(Habit)


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    assert not cured(text) & encouraged(text)
