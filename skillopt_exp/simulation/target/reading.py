"""Reads a skill as the simulated target does: which of its sentences are instructions to the reader.

What is shown and not told does not count: code, block quotes, quotations, examples, sections of
examples, reports of what others say. Nor do sentences of a text that is about something else.
"""

import re
from collections.abc import Iterator

_FENCE = re.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_BULLET = re.compile(r"\s*(?:[-*+•]|\(?\d{1,2}[.)]|\[[ x]\])\s+")
_HEADING = re.compile(r"#{1,6}\s")
_ENDS = re.compile(r"(?<=[.!?;])\s+")

_QUOTATIONS = re.compile(
    r"“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»|\"([^\"]*)\"|``([^`]*)``|`([^`]*)`|(?<!\w)[‘']([^'’\n]+)[’'](?!\w)"
)
_ASKING = re.compile(r"(?:what|who|where|which|when)\b(?:\W+\w+){0,3}\W*$", re.IGNORECASE)
_EITHER_OR = re.compile(r"(?:\w+ )?or(?: \w+)?", re.IGNORECASE)

_EXAMPLE_LABEL = re.compile(
    r"(?:(?:bad|good|wrong|right|poor|better|worse|counter)?[ -]?(?:examples?|samples?|illustrations?"
    r"|quotes?|quotations?)\b[^:.]{0,40}|bad|good|wrong|right|q|a|user|assistant):",
    re.IGNORECASE,
)
_EXAMPLE_SECTION = re.compile(
    r"\b(?:examples?|samples?|quotations?|quotes|history|changelog)\b", re.IGNORECASE
)
_EXAMPLE_START = re.compile(r"(?:for (?:example|instance)|as an example|e\.?g\.?|imagine|suppose|say,)\b")
_EXAMPLE_TAIL = re.compile(r"[,(;:] ?(?:for example|for instance|eg|as in|like this)\b.*$")

_SPEAKERS = (
    r"people|guides?|guidelines?|manuals?|handbooks?|books?|teachers?|authors?|users?|customers?|critics"
    r"|someone|somebody|everyone|rule|versions?|templates?|articles?|colleagues?|style|skill|memo|poster"
    r"|phrase|slogan|advice"
)
_SAYING = (
    r"say|says|said|saying|claims?|claimed|argues?|argued|recommends?|recommended|advises?|advised"
    r"|suggests?|suggested|wrote|told|tells?|believes?|thinks?|insists?|insisted|prefers?|used to|demands?"
    r"|demanded"
)
_REPORTED = re.compile(
    rf"\b(?:prompts?|instructions?|notes?|sentence|line)\b(?: [\w']+){{0,2}} (?:said|told|asked|reads?"
    rf"|used to)\b|\b(?:{_SPEAKERS})\b(?: [\w']+){{0,4}} (?:{_SAYING}|asked|asks?|goes|went)\b|\b(?:some"
    rf"|many|most|others|they|he|she) (?:\w+ )?(?:{_SAYING})\b"
    r"|\bexamples? of\b|\b(?:as|is|be|was|are) (?:an? )?(?:\w+ )?example\b|\b(?:myth|misconception|outdated"
    r"|obsolete|superseded|no longer (?:true|valid|applies|apply|holds?))\b|\bused to (?:be|say|read|ask"
    r"|tell)\b|\bthe (?:words?|sentence|phrase|rule|instruction|advice) qq\b"
)

_SUBJECT = re.compile(
    r"\b(?:answer\w*|repl(?:y|ies|ying)|respon(?:d|se|ses|ding)|questions?|clues?|candidates?|tags?"
    r"|predictions?|options?|choices?|passages?|guess\w*|solutions?|gold|scorer|solve|final|results?"
    r"|calculat\w+)\b"
)
_FOREIGN = re.compile(
    r"\b(?:commits|(?:the|a|each|every|one|git) commit|commit messages?|subject lines?|branch(?:es)?"
    r"|pull requests?|merges?|changelogs?|code|functions?|variables?|repositor\w+|recipes?|dough|flour|oven"
    r"|pans?|pots?|sauces?|salt\w*|bak(?:e|ed|ing)|stir\w*|simmer\w*|butter|onions?|garlic|seasoning"
    r"|emails?|e mails?|meetings?|invoices?|slides)\b"
)
_SHORT_NOTE = 3
_SHARE_ON_SUBJECT = 0.2

_CONTRACTIONS = (
    (re.compile(r"\bcan(?:'t|not)\b"), "can not"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\b(\w+)'(?:s|re|ll|ve|d)\b"), r"\1"),
)


def instructions(skill: str) -> tuple[str, ...]:
    """The sentences of ``skill`` that tell the reader how to answer.

    Lower case, contractions expanded, hyphens gone, quotations replaced by ``qq`` (``whatis`` when a
    question word opens a short one, ``qqor`` for "x or y").
    """
    sentences = [_plain(sentence) for sentence in _sentences(skill)]
    sentences = [sentence for sentence in sentences if sentence]
    on_subject = sum(bool(_SUBJECT.search(sentence)) for sentence in sentences)
    if len(sentences) > _SHORT_NOTE and on_subject < _SHARE_ON_SUBJECT * len(sentences):
        return ()
    return tuple(_kept(sentences))


def _kept(sentences: list[str]) -> Iterator[str]:
    for sentence in sentences:
        if _EXAMPLE_START.match(sentence) or _REPORTED.search(sentence) or _FOREIGN.search(sentence):
            continue
        yield _EXAMPLE_TAIL.sub("", sentence)


def _sentences(skill: str) -> Iterator[str]:
    """Sentences as written, without code, block quotes and examples."""
    text = _COMMENT.sub("\n", _FENCE.sub("\n", skill))
    for paragraph in _paragraphs(text):
        # Quotations go first: the full stop inside one ends no sentence.
        unquoted = _QUOTATIONS.sub(_mention, paragraph.replace("e.g.", "eg").replace("i.e.", "ie"))
        yield from _ENDS.split(unquoted)


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs, list items and headings, each on one line."""
    lines: list[str] = []
    in_examples = after_label = False
    for line in [*text.splitlines(), ""]:
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        if lines and (heading or bullet or not line.strip() or line.lstrip().startswith(">")):
            yield " ".join(lines)
            lines = []
        if heading:
            in_examples = bool(_EXAMPLE_SECTION.search(line))
            after_label = False
        bare = line[bullet.end() :] if bullet else line.lstrip("# \t")
        bare = bare.replace("**", "").replace("__", "").strip()
        if not bare:
            after_label = after_label and not line.strip()
            continue
        label = _EXAMPLE_LABEL.match(bare) or (bare.endswith(":") and _EXAMPLE_SECTION.search(bare))
        # A label introduces what stands behind it, and the list below it when it stands alone.
        if label:
            after_label = bare.endswith(":")
        elif after_label and not bullet:
            after_label = False
        elif not (in_examples or after_label or line.lstrip().startswith(">")):
            lines.append(bare)


def _mention(quotation: re.Match[str]) -> str:
    inside = next(group for group in quotation.groups() if group is not None).strip()
    if _ASKING.match(inside):
        return " whatis "
    return " qqor " if _EITHER_OR.fullmatch(inside) else " qq "


def _plain(sentence: str) -> str:
    text = sentence.lower().replace("’", "'")
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    text = re.sub(r"\s+[-–—]+\s+", " ; ", text).replace("—", " ; ")
    text = re.sub(r"(?<=\w)[-–](?=\w)", " ", text)
    return re.sub(r"\s+", " ", text).strip(" .!?*_")
