"""What a person should see before an agent is told it: addresses, commands, credentials, hidden text.

An agent acts on a skill with its user's rights, and a skill is written by a model from what other texts
said. Being listed here says nothing bad of a line; not being listed proves nothing good.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from skillopt_exp.records import Skill
from skillopt_exp.redaction import redact

_LONGEST_EXCERPT = 120


class Danger(StrEnum):
    """Kinds of text that are asked about."""

    address = "address"
    command = "command"
    credential = "credential word"
    hidden = "hidden characters"
    comment = "comment that a reader does not see"
    encoded = "encoded text"


@dataclass(frozen=True, slots=True)
class Finding:
    """One such place. ``line`` counts from 1; ``excerpt`` is printable and without secrets."""

    danger: Danger
    line: int
    excerpt: str

    def __str__(self) -> str:
        return f"line {self.line}, {self.danger}: {self.excerpt}"


_WORDS = {
    Danger.address: re.compile(
        r"""
          \b[a-z][a-z0-9+.-]*://[^\s<>"')\]]+
        | \b(?:mailto|data|javascript|file):[^\s<>"')\]]+
        | \b[\w.+-]+@[\w-]+(?:\.[\w-]+)+
        | \b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?\b
        | \b(?:[a-z0-9-]+\.)+[a-z]{2,}/\S*
        | \b(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|ai|co|cn|ru|xyz|info|sh|zip|top)\b
        """,
        re.VERBOSE | re.IGNORECASE,
    ),
    Danger.command: re.compile(
        r"""
          ^\s*(?:```+|~~~+)\s*(?:\{?\.?)(?:ba|z|fi|k|c|tc)?sh\b | ^\s*(?:```+|~~~+)\s*(?:shell|console
          |terminal|powershell|pwsh|ps1|bat|cmd|python|py|javascript|js|ruby|perl|php|applescript)\b
        | ^\s*\$\s+[a-z./~]
        | \b(?:curl|wget|sudo|chmod|chown|rsync|scp|sftp|netcat|ncat|crontab|systemctl|launchctl|osascript
            |powershell|pwsh|invoke-webrequest|invoke-expression|npx|pipx|uvx|kubectl|certutil|regsvr32)\b
        | \b(?:pip3?|npm|yarn|brew|apt|apt-get|dnf|gem|cargo|go)\s+(?:install|add|run|exec)\b
        | \bgit\s+(?:clone|push|pull|config|remote|commit|reset)\b
        | \bdocker\s+(?:run|exec|pull|build)\b
        | \bssh\s+\S+ | \brm\s+-\w+ | \b(?:ba|z|da|k)?sh\s+-c\b | \|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b
        | \b(?:python3?|node|ruby|perl|php)\s+(?:-[cem]\b|\S+\.(?:py|js|rb|pl|php)\b)
        | \b(?:os\.system|subprocess|child_process|eval\(|exec\(|__import__)
        | \$\([^)]+\) | !`
        | >\s*~?/[\w./-]+ | (?:^|[\s`"'])(?:~|/etc|/usr|/bin|/tmp|/home|/root|/var)/[\w./-]+
        """,
        re.VERBOSE | re.IGNORECASE | re.MULTILINE,
    ),
    Danger.credential: re.compile(
        r"""
          pass(?:word|wd|phrase|code)s?\b | \bcredentials?\b | \bsecrets?\b(?!\s+(?:of|to)\b)
        | \b(?:api|access|auth|private|secret|ssh|encryption|signing|aws)[\s_-]*(?:key|token)s?\b
        | \bbearer\b | \b(?:session|login)[\s_-]*(?:cookie|token)s?\b | \.env\b | \bid_(?:rsa|ed25519)\b
        | \benvironment\s+variables?\b | \b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|SECRET|PASSWORD)\b | \bkeychain\b
        | 密码 | 密钥 | 秘钥 | 令牌 | 口令 | 凭证 | 凭据
        """,
        re.VERBOSE | re.IGNORECASE,
    ),
    Danger.encoded: re.compile(
        r"[A-Za-z0-9+/_-]{64,}={0,2}|(?:\\x[0-9a-f]{2}){8,}|(?:%[0-9a-f]{2}){8,}", re.I
    ),
}
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_PLAIN_CONTROLS = frozenset("\n\t")
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Drawn as nothing, though Unicode counts them among the letters, marks and symbols."""
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
_EMOJI_SELECTORS = frozenset("\ufe0e\ufe0f")


def new_findings(text: str, before: str) -> tuple[Finding, ...]:
    """What is in ``text`` and was not in ``before``, the skill that training began with, line by line."""
    known = {(each.danger, each.excerpt) for each in findings(before)}
    return tuple(each for each in findings(text) if (each.danger, each.excerpt) not in known)


def findings(text: str) -> tuple[Finding, ...]:
    """All such places in ``text``, in order, each kind once a line."""
    found = sorted({*_hidden(text), *_words(text), *_comments(text)}, key=_place)
    return tuple(found)


def _place(finding: Finding) -> tuple[int, str, str]:
    return finding.line, finding.danger, finding.excerpt


def _hidden(text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.split("\n"), 1):
        names = dict.fromkeys(_shown_name(each) for each in line if is_hidden(each))
        if names:
            yield Finding(Danger.hidden, number, _excerpt(f"{', '.join(names)} in: {line}"))


def is_hidden(character: str) -> bool:
    """Whether ``character`` is drawn as nothing, or changes how others are drawn."""
    if character in _PLAIN_CONTROLS or character in _EMOJI_SELECTORS:
        return False
    is_selector = "VARIATION SELECTOR" in unicodedata.name(character, "")
    return character in _INVISIBLE or is_selector or unicodedata.category(character) in _HIDDEN_CATEGORIES


def _shown_name(character: str) -> str:
    return f"U+{ord(character):04X}"


def _words(text: str) -> Iterator[Finding]:
    for number, line in enumerate(text.split("\n"), 1):
        # As a model reads it: nothing hidden inside of words, and letters in other widths are letters.
        plain = unicodedata.normalize("NFKC", "".join(each for each in line if not is_hidden(each)))
        for danger, pattern in _WORDS.items():
            if pattern.search(plain):
                yield Finding(danger, number, _excerpt(plain))
        if redact(plain) != plain:
            yield Finding(Danger.credential, number, _excerpt(plain))


def _comments(text: str) -> Iterator[Finding]:
    for match in _COMMENT.finditer(text):
        if match[0] not in Skill.MARKS:
            yield Finding(Danger.comment, text.count("\n", 0, match.start()) + 1, _excerpt(match[0]))


def _excerpt(text: str) -> str:
    flat = " ".join(redact(text).split())
    safe = "".join(
        each if each.isprintable() and not is_hidden(each) else "\N{REPLACEMENT CHARACTER}" for each in flat
    )
    return safe if len(safe) <= _LONGEST_EXCERPT else f"{safe[: _LONGEST_EXCERPT - 1]}…"
