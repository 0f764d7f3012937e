"""Whether a candidate says what only the val and test items can know. Pure.

A skill that names their answers, their ids or long pieces of their texts scores on them without having
learned anything. Only lines that the current skill does not have are looked at: what stands in the seed
skill is the user's, and the rest was looked at when it came in.

What is so common that it may stand in any skill does not count: yes and no, single letters, numbers
under three digits, ordinary words, labels that several items share, and text that train items have, too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from skillopt_exp.records import Item, Skill, Split, Splits

PIECE_WORDS, PIECE_CHARS = 8, 32
"""A piece is long from so many words and characters on."""

SHARED = 3
"""An answer of so many items is a label; a word in so many questions is ordinary."""

_MIN_ID_CHARS = 5
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_TOKEN = re.compile(rf"[{_CJK}]|\d+(?:\.\d+)?|[^\W\d_{_CJK}]+")
_CJK_CHAR = re.compile(f"[{_CJK}]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
_LIST_MARK = re.compile(r"^(?:[-*+]|\d+[.)]|#+)\s+")

# Words that a rule of any skill may need; an answer that has no other word is no leak.
_ORDINARY = frozenset(
    re.findall(
        r"\w+",
        """
    a able about above according across actual add additional after again against all almost alone along
    already also although always an and another answer answered answering answers any anything apply are
    around article as ask asked asking asks at avoid away back bare base based be because become been before
    begin being below best better between black blue board body bold book both bottom brief briefly but by
    calculate calculated calculation call called can candidate candidates capital capitals careful case
    certain change character characters check checked choice choose chosen city clear clearly clue clues
    code colour color column comma comment common compare complete completely condition consider context
    copy correct count country current data date day days decide decimal default describe description detail
    details did difference different digit digits direct directly do document does done double doubt down
    drop each earlier easy either else empty end ending enough entire entry equal error even every exact
    exactly example except expected explain explanation expression extra fact fail false few field figure
    figures file final find finish first five fix follow following for form format four fraction from full
    further general get give given gives giving go good great green group guess had half has have he heading
    help her here high hint his hour hours how however if in include included including incorrect index
    information input inside instead instruction into invalid is it item items its itself just keep kept
    key kind know known label language large last later leave left length less let letter letters likely
    line lines list listed little long look low lower made make making male man many mark mark matter may
    maybe me mean meaning measure mention middle might minute minutes missing mistake model month months more
    most much must my name named names nearest need needed negative neither neutral never new next no none
    nor not note nothing noun now null number numbers object of off often old on once one only open option
    options or order original other others otherwise our out output over own page paragraph parentheses part
    parts pass passage passages pattern people per percent person phrase phrases pick piece place plain
    please plural point points positive possible precise prefer problem process prompt proper provide put
    quantity question questions quick quote range rather read real reason reasoning red remark remove repeat
    reply report required response rest result results return right round rule rules same say says second
    see sentence sentences separate set several she short should show sign similar simple simply since
    single singular six size small so some something source space specific spell spelling start state
    statement step steps still stop string style such sum sure symbol table tag tags take task tasks ten
    term text than that the their them then there these they thing things think this those though three
    through time times title titles to together too top total true turn twice two type under understand
    unit units unknown unless until up upper us use used using valid value values verify very was water way
    we week weeks well were what when where whether which while white who whole whom whose why will with
    within without woman word worded wording words work world would write writing written wrong year years
    yes yet you your zero
    """,
    )
)


@dataclass(frozen=True, slots=True)
class Leak:
    """What of which item stands in a candidate. ``kind``: answer, id or text."""

    kind: str
    split: Split
    item_id: str
    match: str

    def __str__(self) -> str:
        return f"{self.kind} of {self.split} item {self.item_id}: {self.match!r}"


class LeakCheck:
    """Looks for what the val and test items of ``splits`` hold."""

    def __init__(self, splits: Splits) -> None:
        self._splits = splits

    def find(self, candidate: str, current: str) -> Leak | None:
        """The first leak in the lines of ``candidate`` that ``current`` does not have."""
        # The marks around its parts are ours: they tell of no item, even where one is about an appendix.
        known = {*current.splitlines(), *Skill.MARKS}
        lines = [_LIST_MARK.sub("", line.strip()) for line in candidate.splitlines() if line not in known]
        new = [line for line in lines if line]
        if not new:
            return None
        return self._answer(new) or self._id("\n".join(new)) or self._text(new)

    def _answer(self, lines: list[str]) -> Leak | None:
        for tokens in map(_tokens, lines):
            for start in range(len(tokens)):
                for width in range(1, min(self._longest_answer, len(tokens) - start) + 1):
                    said = tokens[start : start + width]
                    found = self._answers.get(_folded(said))
                    if found is not None and _same_word(said, found.match):
                        return found
        return None

    def _id(self, text: str) -> Leak | None:
        for split, item in self._held_out():
            name = item.id
            if name in text and _is_telling(name) and re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
                return Leak("id", split, name, name)
        return None

    def _text(self, lines: list[str]) -> Leak | None:
        for piece in (piece for line in lines for piece in _pieces(_flat(line))):
            if f" {piece} " not in self._held_out_text or f" {piece} " in self._train_text:
                continue
            for split, item in self._held_out():
                if f" {piece} " in _flat_item(item):
                    return Leak("text", split, item.id, piece)
        return None

    def _held_out(self) -> Iterator[tuple[Split, Item]]:
        yield from ((Split.val, item) for item in self._splits.val)
        yield from ((Split.test, item) for item in self._splits.test)

    @cached_property
    def _answers(self) -> dict[tuple[str, ...], Leak]:
        """The answers that tell something, by their words."""
        shared = Counter(key for item in self._splits for key in {_key(answer) for answer in item.answers})
        ordinary = self._ordinary
        telling: dict[tuple[str, ...], Leak] = {}
        for split, item in self._held_out():
            for answer in item.answers:
                key = _key(answer)
                told = len("".join(key)) > 1 and not all(_is_trivial(word, ordinary) for word in key)
                if told and shared[key] < SHARED:
                    telling.setdefault(key, Leak("answer", split, item.id, answer))
        return telling

    @cached_property
    def _longest_answer(self) -> int:
        return max(map(len, self._answers), default=0)

    @cached_property
    def _ordinary(self) -> frozenset[str]:
        """Words that several questions use, in lower case: not the names that answers are made of."""
        used = Counter(
            word
            for item in self._splits
            for word in {word for word in _tokens(item.question) if word.islower()}
        )
        return _ORDINARY.union(word for word, count in used.items() if count >= SHARED)

    @cached_property
    def _held_out_text(self) -> str:
        return "\n".join(_flat_item(item) for _, item in self._held_out())

    @cached_property
    def _train_text(self) -> str:
        return "\n".join(map(_flat_item, self._splits.train))


def _tokens(text: str) -> tuple[str, ...]:
    """Words, whole numbers and CJK characters, as they are written."""
    return tuple(_TOKEN.findall(_THOUSANDS.sub("", text)))


def _folded(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(word.casefold() for word in words)


def _key(answer: str) -> tuple[str, ...]:
    """The words of an answer without a leading article."""
    words = _folded(_tokens(answer))
    return words[1:] if len(words) > 1 and words[0] in ("a", "an", "the") else words


def _is_trivial(word: str, ordinary: frozenset[str]) -> bool:
    if word.replace(".", "").isdigit():
        return len(word.replace(".", "")) < 3
    return (len(word) == 1 and not _CJK_CHAR.match(word)) or word in ordinary


def _same_word(said: tuple[str, ...], answer: str) -> bool:
    """A name of one word is meant only where it is written as one: Turkey is no turkey."""
    if len(said) > 1:
        return True
    written = _tokens(answer)[-1]
    return written.islower() or said[0] == written or said[0].isupper()


def _is_telling(name: str) -> bool:
    """Whether an id can stand in a text for no other reason."""
    if len(name) < _MIN_ID_CHARS:
        return False
    return any(char.isdigit() for char in name) or len(name) >= 2 * _MIN_ID_CHARS + 2


def _flat(text: str) -> str:
    """Words alone, in lower case, apart by one space."""
    folded = text.casefold()
    if not folded.isascii():
        folded = _CJK_CHAR.sub(r" \g<0> ", folded)
    return _BETWEEN_WORDS.sub(" ", folded).strip()


def _flat_item(item: Item) -> str:
    return f" {_flat(item.question)} \n {_flat(item.context)} "


def _pieces(line: str) -> Iterator[str]:
    """Every run of words that is just long enough."""
    words = line.split()
    for start in range(len(words) - PIECE_WORDS + 1):
        end = start + PIECE_WORDS
        while end < len(words) and len(" ".join(words[start:end])) < PIECE_CHARS:
            end += 1
        piece = " ".join(words[start:end])
        if len(piece) >= PIECE_CHARS:
            yield piece
