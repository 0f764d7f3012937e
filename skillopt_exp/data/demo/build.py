"""Makes ``items.jsonl`` from ``facts.toml``: ``python -m skillopt_exp.data.demo.build``.

Every fact becomes one quiz clue, every measurement a few. An item's context holds a passage that
tells the fact, sometimes a second one on the same subject, and passages on others of its kind.
Choices are made by hashing names, never by a running generator: a new fact leaves other items alone,
and the bytes are the same everywhere.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from skillopt_exp.records import Item

FOLDER = Path(__file__).parent
NUM_ITEMS = 1200
CLUES_PER_MEASUREMENT = 3
MEASUREMENT_KIND = "number"

T = TypeVar("T")

THING_CLUES = (
    "This {noun} {fact}",
    "It's the {noun} that {fact}",
    "Which {noun} {fact}?",
    "Name the {noun} that {fact}",
    "Of all {plural}, this is the one that {fact}",
    "It {fact}; name this {noun}",
)
PERSON_CLUES = (
    "This {noun} {fact}",
    "{Pronoun} {fact}",
    "{Pronoun}'s the {noun} who {fact}",
    "Which {noun} {fact}?",
    "{Pronoun} {fact}; name this {noun}",
)
SUBJECT_TITLES = (
    "{Bare} - Encyclopedia",
    "{Bare} | {Plural}",
    "{Bare}: facts and stories",
    "A short guide to {plural}: {bare}",
    "{Bare} - notes for quiz nights",
    "What everyone should know about {name}",
)
MEASUREMENT_TITLES = (
    "{S} - Almanac",
    "{Title} in figures: {s}",
    "{S} | Reference tables",
    "{S} - Quick answers",
)
DATES = ("Mar 14, 2012", "Oct 2, 2009", "Jun 27, 2015", "Jan 9, 2011", "Aug 21, 2016", "Dec 5, 2013")
FRAMES = (
    "{sentences}",
    "{date} ... {sentences}",
    "{sentences} ...",
    "Did you know? {sentences}",
    "{sentences} Read more ...",
)


@dataclass(frozen=True, slots=True)
class Passage:
    """One search result: where it is about ``subject``, its title and its text."""

    subject: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"[DOC] [TLE] {self.title} [PAR] {self.text}"


@dataclass(frozen=True, slots=True)
class Quiz:
    """A clue with its golds, the passages that tell the answer, and those that do not."""

    question: str
    answers: tuple[str, ...]
    telling: tuple[Passage, ...]
    others: tuple[Passage, ...]
    kind: str


@dataclass(frozen=True, slots=True)
class Subject:
    """Something with a name, other accepted names, and what is known of it, in its group's words."""

    name: str
    also: tuple[str, ...]
    facts: tuple[str, ...]
    noun: str
    plural: str
    pronoun: str
    kind: str

    @property
    def bare(self) -> str:
        """The name without its article."""
        return without_article(self.name)


def build(facts: dict[str, Any]) -> tuple[Item, ...]:
    """The demo's items, in a mixed order.

    Raises:
        ValueError: the facts cannot be used: a clue says its answer or occurs twice, or there are too few.
    """
    quizzes = [*_subject_quizzes(_subjects(facts["group"])), *_measurement_quizzes(facts["measure"])]
    questions = [quiz.question for quiz in quizzes]
    for quiz in quizzes:
        if any(mentions(quiz.question, answer) for answer in quiz.answers):
            raise ValueError(f"the clue {quiz.question!r} says its answer {quiz.answers}")
        if questions.count(quiz.question) > 1:
            raise ValueError(f"the clue {quiz.question!r} occurs twice")
    if len(quizzes) < NUM_ITEMS:
        raise ValueError(f"{len(quizzes)} clues, {NUM_ITEMS} needed: write more facts")
    chosen = ranked(quizzes, questions, "order")[:NUM_ITEMS]
    return tuple(_item(f"demo-{number:04d}", quiz) for number, quiz in enumerate(chosen, start=1))


def _subjects(groups: Iterable[dict[str, Any]]) -> list[Subject]:
    subjects = []
    for group in groups:
        for names, *facts in group["entries"]:
            name, *also = names.split("|")
            pronoun = group.get("pronoun", "it")
            subject = Subject(
                name, tuple(also), tuple(facts), group["noun"], group["plural"], pronoun, group["kind"]
            )
            subjects.append(subject)
    return subjects


def _subject_quizzes(subjects: Sequence[Subject]) -> Iterator[Quiz]:
    for subject in subjects:
        rivals = [each for each in subjects if each.plural == subject.plural and each is not subject]
        for index, fact in enumerate(subject.facts):
            stems = THING_CLUES if subject.pronoun == "it" else PERSON_CLUES
            clue = pick(stems, subject.name, fact, "clue").format(
                noun=subject.noun,
                plural=subject.plural,
                Pronoun=opening(subject.pronoun),
                fact=fact,
            )
            rest = subject.facts[index + 1 :] + subject.facts[:index]
            telling = [_subject_passage(subject, (fact, *rest[1:2]), fact)]
            if rest and toss(fact, "second passage"):
                telling.append(_subject_passage(subject, rest[:1], fact))
            others = [
                _subject_passage(rival, ranked(rival.facts, rival.facts, fact)[:2], fact) for rival in rivals
            ]
            golds = (subject.name, *subject.also)
            yield Quiz(opening(clue), golds, tuple(telling), tuple(others), subject.kind)


def _subject_passage(subject: Subject, facts: Sequence[str], salt: str) -> Passage:
    key = (subject.name, *facts, salt)
    title = pick(SUBJECT_TITLES, *key, "title").format(
        bare=subject.bare,
        Bare=opening(subject.bare),
        name=subject.name,
        plural=subject.plural,
        Plural=opening(subject.plural),
    )
    first, *more = facts
    sentences = [
        f"{opening(subject.name)} {first}.",
        *(f"{opening(subject.pronoun)} {fact}." for fact in more),
    ]
    return Passage(subject.name, title, _framed(" ".join(sentences), key))


def _measurement_quizzes(measures: Iterable[dict[str, Any]]) -> Iterator[Quiz]:
    for measure in measures:
        for subject, value, *own_clues in measure["entries"]:
            general = ranked(measure["clues"], measure["clues"], subject, "clue")
            for clue in (*own_clues, *general)[:CLUES_PER_MEASUREMENT]:
                others = [
                    _measurement_passage(measure, rival, known, clue)
                    for rival, known, *_ in measure["entries"]
                    if rival != subject
                ]
                telling = _measurement_passage(measure, subject, value, clue)
                question = clue.format(s=subject, S=opening(subject))
                yield Quiz(question, (value,), (telling,), tuple(others), MEASUREMENT_KIND)


def _measurement_passage(measure: dict[str, Any], subject: str, value: str, salt: str) -> Passage:
    key = (subject, salt)
    words = {"s": subject, "S": opening(subject), "v": value, "Title": opening(measure["title"])}
    title = pick(MEASUREMENT_TITLES, *key, "title").format(**words)
    return Passage(subject, title, _framed(pick(measure["texts"], *key, "text").format(**words), key))


def _framed(sentences: str, key: tuple[str, ...]) -> str:
    return pick(FRAMES, *key, "frame").format(sentences=sentences, date=pick(DATES, *key, "date"))


def _item(item_id: str, quiz: Quiz) -> Item:
    """The passages in a mixed order, the golds as real collections write them."""
    safe = [
        other
        for other in quiz.others
        if not any(mentions(f"{other.title} {other.text}", answer) for answer in quiz.answers)
    ]
    num_others = pick((2, 3), quiz.question, "size")
    chosen = (*quiz.telling, *ranked(safe, [each.subject for each in safe], quiz.question)[:num_others])
    if len(chosen) < 3:
        raise ValueError(f"too few passages for {quiz.question!r}: its group needs more entries")
    context = " ".join(map(str, ranked(chosen, list(map(str, chosen)), quiz.question, "place")))
    answers = tuple(as_gold(answer, quiz.question) for answer in quiz.answers)
    return Item(id=item_id, question=quiz.question, answers=answers, context=context, group=quiz.kind)


def as_gold(answer: str, key: str) -> str:
    """A gold as collections hold it: the article mostly kept, the apostrophe at times behind a backslash."""
    kept = without_article(answer) if toss(key, "bare") and toss(key, "article") else answer
    return kept.replace("'", "\\'") if toss(key, "apostrophe") else kept


def without_article(name: str) -> str:
    """The name without a leading article in lower case (titles such as "The Hobbit" keep theirs)."""
    return re.sub(r"^(?:the|an?) ", "", name)


def opening(text: str) -> str:
    """The text as it begins a sentence."""
    return text[:1].upper() + text[1:]


def mentions(text: str, answer: str) -> bool:
    """Whether the answer, articles and quotation marks aside, stands in the text as whole words."""
    core = without_article(answer.strip('"').removeprefix("The ")).casefold()
    return re.search(rf"(?<!\w){re.escape(core)}(?!\w)", text.casefold()) is not None


def ranked(options: Sequence[T], names: Sequence[str], *key: str) -> list[T]:
    """The options in an order that follows from their names and the key alone."""
    order = sorted(range(len(options)), key=lambda index: _hash(names[index], *key))
    return [options[index] for index in order]


def pick(options: Sequence[T], *key: str) -> T:
    """One of the options, as the key says."""
    return options[int(_hash(*key), 16) % len(options)]


def toss(*key: str) -> bool:
    """Heads or tails, as the key says."""
    return pick((True, False), *key)


def _hash(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()


def to_jsonl(items: Iterable[Item]) -> bytes:
    """One JSON object a line, in the fields that SearchQA's files have, and the group."""
    lines = [
        json.dumps(
            {
                "id": item.id,
                "question": item.question,
                "context": item.context,
                "answers": item.answers,
                "group": item.group,
            },
            ensure_ascii=False,
        )
        for item in items
    ]
    return ("\n".join(lines) + "\n").encode()


def main() -> None:
    """Write the file in place."""
    facts = tomllib.loads((FOLDER / "facts.toml").read_text(encoding="utf-8"))
    (FOLDER / "items.jsonl").write_bytes(to_jsonl(build(facts)))


if __name__ == "__main__":
    main()
