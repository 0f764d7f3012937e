"""Whether a sentence tells its reader to do a thing or not to do it.

A mention is negated when an odd number of negations reaches it: "do not write sentences" forbids
sentences, "never drop the unit" asks for it. A negation reaches to the end of its clause.
"""

import re

_VERBS = (
    r"give|answer|write|state|use|keep|return|output|reply|respond|pick|choose|commit|name|stay|be|check"
    r"|verify|compare|report|finish|carry|include|put|copy|stop|leave|say|decide|settle|stick|work|read"
    r"|provide|make|end"
)
_CLAUSE_STARTS = (
    rf"{_VERBS}|but|just|only|instead|rather|simply|always|then|please|even|so|because|since|which|you"
    rf"|the answer|it"
    r"|they|we|never|do not|not|no|without|when|if|unless|while|otherwise|avoid|omit"
)
_BOUNDARY = re.compile(
    rf"[;:()]|, (?=(?:and |or )?(?:{_CLAUSE_STARTS})\b)| (?=but )| (?=and (?:then |so )?(?:only|just"
    rf"|instead|always|simply|then|stick|commit|keep it|nothing else)\b)"
)

_REWORDED = (
    # "not only this but also that", "nothing but", "no more than": negations by form, not by meaning.
    (
        re.compile(
            r"\b(?:not (?:only|just|merely)|no matter|no doubt|if not|or not)(?= .*\b(?:but|also|too)\b)"
        ),
        "",
    ),
    (re.compile(r"\bnot (?:sure|certain|know)\b"), "unsure"),
    (re.compile(r"\bnothing (?:but|except|other than|beyond|more than|apart from|besides|save)\b"), "only"),
    (
        re.compile(r"\b(?:no|not|never) (?:more|longer) than\b(?= (?:a|one|two|three|four|five|six|\d))"),
        "at most",
    ),
)

_AHEAD = re.compile(
    r"\b(?:not|never|no|without|nor|neither|nothing|avoid\w*|refrain\w*|omit\w*|drop(?:s|ping)?|skip(?:s"
    r"|ping)?|remov\w+|delet\w+|strip(?:s|ping)?|exclud\w+|forbid\w*|forget\w*|los(?:e|es|ing)|ignor\w+"
    r"|disregard\w*|resist\w*|rather than|instead of|as opposed to|in place of|in preference to|(?:free"
    r"|bare|clean|clear|devoid) (?:of|from)|(?:stop|halt|quit|end)\w*(?: \w+)? before|stop(?= \w+ing\b)"
    r"|quit|nobody|no one|none|waste of|pointless|useless to|futile|(?:wrong|forbidden|mistake|error"
    r"|bad) (?:to|for)|separat\w+|detach\w*|(?:wrong|worthless|incomplete|half an answer|no answer|useless"
    r"|insufficient)(?= without\b)|ceas\w+|minus|beware|discard\w*|cut(?:ting)? (?:out|away)|hardly"
    r"|far from|(?:better|safer) than|preferable to|beats?|bans?|banish\w*|suppress\w*|reject\w*"
    r"|dispense with|do away with|shun\w*|eschew\w*|abstain\w*|spare|prevent\w*|prohibit\w*|against (?!the "
    r"|every |each |all |it )|lack\w*|miss(?:es|ing)?|less|fewer|sacrific\w+|leav(?:e|es"
    r"|ing)(?=(?: [\w']+){0,6} (?:out|off|away|aside|behind|unsaid|unwritten)\b)|keep(?:s"
    r"|ing)?(?=(?: [\w']+){0,6} (?:out of|away|off|out|for yourself|to yourself)\b)"
    r"|throw\w*(?=(?: [\w']+){0,6} away\b)|cut(?=(?: [\w']+){0,4} out\b))\b"
)
_BEHIND = re.compile(
    r"\b(?:not|never|no longer|wrong|forbidden|unwanted|unnecessary|unneeded|needless|incorrect|undesirable"
    r"|useless|harmful|bad|worse|banned|prohibited|off limits|superfluous|penali[sz]ed|rejected|ruled out"
    r"|avoided|omitted|dropped|removed|skipped|forgotten|lost|missing|left (?:out|off|unsaid)|discouraged"
    r"|disallowed|taboo|out of place|no place|too many|insufficient|inadequate|incomplete|unacceptable"
    r"|optional|irrelevant|matters little|mistakes?|errors?|faults?|fails?|failures?|costs?|loses?|hurts?"
    r"|spoils?|ruins?|invalid|outside|elsewhere|zero|nothing|no (?:points?|credit|good))\b"
)
_WEAK = re.compile(
    r"\b(?:no need|need not|not need|not have to|not necessary|unnecessary|not required|no reason"
    r"|no obligation|not important|not matter|optional|not worry|not bother|irrelevant|too|overly"
    r"|not always)\b"
)


def reworded(sentence: str) -> str:
    """``sentence`` with idioms that look like negations put into plain words."""
    for pattern, plain in _REWORDED:
        sentence = pattern.sub(plain, sentence)
    return sentence


def is_affirmed(sentence: str, start: int, end: int) -> bool:
    """Whether the mention at ``sentence[start:end]`` is something to do (or to be)."""
    clause_start, clause_end = clause(sentence, start, end)
    ahead = sum(match.end() <= start for match in _AHEAD.finditer(sentence, clause_start, clause_end))
    behind = len(_BEHIND.findall(sentence[end:clause_end]))
    return (ahead + behind) % 2 == 0


def clause(sentence: str, start: int, end: int) -> tuple[int, int]:
    """The clause around ``sentence[start:end]``, as offsets."""
    clause_start, clause_end = 0, len(sentence)
    for boundary in _BOUNDARY.finditer(sentence):
        if boundary.end() <= start:
            clause_start = boundary.end()
        elif boundary.start() >= end:
            clause_end = boundary.start()
            break
    return clause_start, clause_end


def is_weak(sentence: str) -> bool:
    """Whether the sentence lifts a duty and imposes none ("there is no need to be brief")."""
    return bool(_WEAK.search(sentence))
