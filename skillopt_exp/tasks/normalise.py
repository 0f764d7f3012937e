"""What counts as the same text: SQuAD's normalisation, carried over to all of Unicode.

On plain English it does what SQuAD's evaluation does: lower case, no punctuation, no articles, single
spaces. It differs where SQuAD's would lose or confuse an answer: an article that is the whole answer
stays, and so do a decimal point, a minus sign, and the marks of names such as ``C++``.
"""

import re
import unicodedata
from functools import lru_cache

_TRADE_MARKS = str.maketrans("", "", "™℠®©")
_VULGAR_AFTER_DIGIT = re.compile(r"(?<=\d)(?=[¼-¾⅐-⅞])")
_SAME_MARKS = str.maketrans({"−": "-", "–": "-", "‐": "-", "‒": "-", "⁄": "/"})

_CARRY_MEANING = ".-+#"
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?[^\d.+#-]*")
_MARKED_NAME = re.compile(r"[^\W\d_]+[+#]+")

_ARTICLES = frozenset({"a", "an", "the"})

_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")


def unify(text: str) -> str:
    """``text`` in one spelling of each character: NFKC, one minus sign, one slash; case is kept.

    Done before NFKC, which would confuse them: trade marks and lone accents go, and a space comes
    between a whole number and a fraction sign.

    >>> unify("１½ −5 Lego™")
    '1 1/2 -5 Lego'
    """
    if text.isascii():
        return text
    spaced = _VULGAR_AFTER_DIGIT.sub(" ", text.translate(_TRADE_MARKS))
    bare = "".join(char for char in spaced if char.isascii() or unicodedata.category(char) != "Sk")
    return unicodedata.normalize("NFKC", bare).translate(_SAME_MARKS)


def fold(text: str) -> str:
    """``text`` without case and punctuation, words apart by one space; articles stay.

    Punctuation is removed, not replaced: ``U.S.`` and ``US`` are one word, as are ``well-known`` and
    ``wellknown``. Currency signs and ASCII symbols go as in SQuAD; other symbols are content. A point
    between the digits of one number stays, a minus before it too, and ``+`` or ``#`` after a name.

    >>> fold('"The U.S. Senate," 1,000 well-known')
    'the us senate 1000 wellknown'
    >>> fold("(-3.5) $5 12.25.1937 C++, C# ∞")
    '-3.5 5 12251937 c++ c# ∞'
    """
    folded = unify(unify(text).casefold())
    words = (_without_punctuation(word) for word in folded.split())
    # Removing what stood between a letter and an accent lets the two combine.
    return unicodedata.normalize("NFKC", " ".join(word for word in words if word))


def normalise(text: str) -> str:
    """``text`` as answers are compared: folded, and without English articles.

    Articles go only where all letters are Latin and something remains: an answer ``A`` is no empty
    answer. The result is empty when nothing but punctuation was there; an empty one matches nothing.

    >>> normalise("The Red Badge of Courage!")
    'red badge of courage'
    >>> normalise("A"), normalise("«...»")
    ('a', '')
    """
    folded = fold(text)
    words = folded.split()
    content = [word for word in words if word not in _ARTICLES]
    if not content or len(content) == len(words) or not _all_latin(folded):
        return folded
    return " ".join(content)


def tokens(text: str) -> tuple[str, ...]:
    """The units that partial credit counts: words, and single characters of Chinese, Japanese, Korean.

    >>> tokens("The Tower of 東京")
    ('the', 'tower', 'of', '東', '京')
    """
    return tuple(_TOKEN.findall(normalise(text)))


def _without_punctuation(word: str) -> str:
    bare = "".join(char for char in word if char in _CARRY_MEANING or not _is_punctuation(char))
    core = bare.rstrip(".-")
    if _NUMBER.fullmatch(core) or _MARKED_NAME.fullmatch(core):
        return core
    return "".join(char for char in bare if char not in _CARRY_MEANING)


@lru_cache(maxsize=4096)
def _is_punctuation(char: str) -> bool:
    category = unicodedata.category(char)
    if category[0] == "P" or category in {"Sc", "Sk", "Cc", "Cf"}:
        return True
    return "\ufe00" <= char <= "\ufe0f" or (char.isascii() and category[0] == "S")


def _all_latin(text: str) -> bool:
    if text.isascii():
        return True
    return all(unicodedata.name(char, "").startswith("LATIN") for char in text if char.isalpha())
