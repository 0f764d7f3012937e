"""Whether a sentence demands something, permits it, or only describes how things are."""

import re

_DEMANDING = re.compile(
    r"\b(?:must|should|ought|shall|needs? (?!not)|has to|have to|always|never|do not|please|your?|make sure"
    r"|ensure|counts?|wanted|expected|required|accepted|allowed|suffices?|enough|belongs?|let|worth|beats?"
    r"|better than|rather than|instead of|wrong|fails?|loses?|marked|scored|insufficient|incomplete"
    r"|unacceptable|mistakes?|forbidden|banned|prohibited|unwanted|unnecessary|needless|superfluous|invalid"
    r"|penali[sz]ed|rejected|no place|not (?:\w+ )?(?:the|an) answer|no answer|acceptable|nothing|instead"
    r"|looks? for|matters|credit|points|part of (?:the|an|your|every|any) answer|meaningless|worthless"
    r"|useless|stays?|remains?|will do|does the job|plenty|ideal|perfect|preferred|preferable|correct"
    r"|proper|compared|checked|it takes|scorer|grad(?:ed|er|ing)|judged?|valid|earns?|too many|all that"
    r"|scores?|(?:is|are) (?:given (?:in full|with)|written|kept|reported)|out of place|outside|taboo"
    r"|avoided|goes?|important|essential|called for|to be|costs?|is to|are to)\b"
)
_DESCRIBING = re.compile(
    r"\b(?:often|usually|sometimes|typically|generally|mostly|occasionally|frequently|rarely|tends? to"
    r"|var(?:y|ies)|may|might|some|many|most|several of|common|on average|in general|differ\w*|(?:has"
    r"|have)(?! (?:no|to)\b))\b"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|had|can|could|may|might|will|would|does|appears?|stands?|comes?|occurs?"
    r"|contains?|mentions?|gives?|lists?|exists?|ends?|carry|carries|consists?|marks?|differs?)\b"
)
_OF_ANSWERS = re.compile(r"\b(?:answers?|repl(?:y|ies)|responses?|outputs?|predictions?|gold)\b")
_OF_DATA = re.compile(
    r"\b(?:passages?|contexts?|clues?|documents?|data ?sets?|(?:questions?|tasks?) (?:has|have))\b"
)
_LEADING = re.compile(
    r"(?:(?:and|then|but|so|or|please|just|simply|only|also|even|in short|when in doubt) )+"
)
_VERBS = re.compile(
    r"(?:abstain|add|adhere|aim|answer|append|apply|ask|attach|avoid|be|beware|calculate|carry|check|choose"
    r"|cite|commit|compare|complete|compute|confirm|consider|continue|copy|count|cross|cut|decide|deliver"
    r"|discard|dismiss|display|do|double|drop|eliminate|emit|end|enter|examine|exclude|explain|express"
    r"|extract|fill|finali[sz]e|finish|follow|forget|give|go|hold|identify|ignore|include|indicate|insert"
    r"|jump|keep|leave|limit|list|look|make|match|mention|name|no|not|offer|omit|output|perform|pick|place"
    r"|point|prefer|present|preserve|print|produce|provide|put|quote|re|read|reduce|refer|refrain|reject"
    r"|remember|remove|render|rely|repeat|reply|report|weigh|separate|attach|save|reserve|hand|decide"
    r"|choose|enumerate|paraphrase|simplify|adjust|fill|cut|close|ask|reach|represent|reproduce|resist"
    r"|resolve|respond|restrict|retain|return|review|rule|say|scan|see|select|settle|show|shun|skip|solve"
    r"|specify|spell|stand|start|state|stay|stick|stop|strip|submit|supply|take|tell|test|think|treat|trim"
    r"|trust|try|type|use|validate|verify|walk|weigh|work|wrap|write|pair|accompany|shorten|round|phrase"
    r"|turn|throw|restate|record|stop|cling|estimate|approximate|hedge|elaborate|abbreviate|truncate|append"
    r"|pose|guess)\b"
)
_PREPOSITION = re.compile(
    r"(?:inside|between|in|within|on|for|after|before|with|at|among|to|from|instead of)\b"
)
_WORDS_BEFORE_VERB = 7

_PERMISSION = re.compile(
    r"\b(?:not matter|matters? little|not worry|not bother|(?:not|never) (?:mind|hesitate|hold back"
    r"|be (?:shy|afraid))|not care|no harm|no problem|no objection|nothing (?:wrong|bad|against)|fine|okay"
    r"|ok|all right|feel free|welcome|free to|permitted to|(?<!not )allowed to|by all means|happily"
    r"|happy to|not (?:a |an )?(?:wrong|bad|forbidden|mistake|error|problem|harmful|crime|sin|prohibited"
    r"|banned|fault))\b"
)


def is_demand(sentence: str) -> bool:
    """Whether the sentence tells its reader to do something: by mood, by judgement, or in a few bare "
    "words."""
    if _DEMANDING.search(sentence) or _has_imperative(sentence):
        return True
    if _DESCRIBING.search(sentence):
        return False
    if not _FINITE.search(sentence):
        return True
    return bool(_OF_ANSWERS.search(sentence)) and not _OF_DATA.search(sentence)


def is_permission(clause: str) -> bool:
    """Whether the clause allows what it speaks of, in words that may look like a negation of it."""
    return bool(_PERMISSION.search(clause))


def _has_imperative(sentence: str) -> bool:
    for part in re.split(r"[,;:()] *", sentence):
        start = _LEADING.match(part)
        words = part[start.end() :] if start else part
        if _VERBS.match(words):
            return True
        if _PREPOSITION.match(words):
            first_words = words.split()[1:_WORDS_BEFORE_VERB]
            if any(_VERBS.fullmatch(word) for word in first_words):
                return True
    return False
