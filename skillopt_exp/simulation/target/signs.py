"""The words by which a skill speaks of each habit. Data, not code.

``good`` are words for what the cure asks for, ``bad`` words for the habit itself; a sentence cures
when it asks for the one or forbids the other. Each line is a family of wordings, a regular expression
over plain sentences (see ``reading``) in which ``<3>`` stands for up to three words in between and
``{number}`` for a family that several lines share. Which of the wordings a skill uses does not matter.
"""

import re
from dataclasses import dataclass

from skillopt_exp.simulation.target.habits import Habit

# Any words but negations, which must stay visible to ``polarity``.
_GAP = r"(?:(?!(?:not|never|no|nor|without|instead|rather|but|avoid|than)\b)[\w']+,? ){{0,{}}}"

_SHARED = {
    "short": r"(?:short|brief|bare|terse|concise|succinct|compact|laconic|minimal|tight|lean|crisp"
    r"|pithy)(?:est|er)?",
    "reply": r"(?:answers?|repl(?:y|ies)|responses?|outputs?|results?|predictions?|texts?)",
    "names": r"(?:names?|titles?|phrase|terms?|expressions?|designations?|wordings?|forms?)",
    "number": r"(?:numbers?|values?|figures?|results?|amounts?|digits?|counts?|quantit(?:y|ies)|totals?|sums?"
    r"|numerals?)",
    "work": r"(?:calculations?|computations?|arithmetic|steps?|working|sums?|chain|maths?|operations?"
    r"|problem)",
    "remarks": r"(?:explanations?|reason\w*|remarks?|comments?|notes?|justifications?)",
    "cutting": r"(?:(?:shorten|abbreviat|truncat|clip|crop|chop|abridg|curtail|trim|contract)\w*"
    r"|cut(?:ting)?)",
    "check": r"(?:check|verif|confirm|test|compar|match|validat|weigh|examin|scrutini|measur|inspect"
    r"|reconsider|evaluat|review|assess|prov|hold)\w*",
    "fit": r"(?:fit|match|satisf|meet|agree|compl|suit|account|explain|consisten|square|line up)\w*",
    "detail": r"(?:details?|parts?|words?|conditions?|constraints?|clues?|hints?|requirements?|facts?"
    r"|aspects?|elements?|pieces?|propert\w+|criteri\w+|questions?|descriptions?|demands?|statements?)",
    "source": r"(?:questions?|clues?|passages?|details?|hints?|conditions?|text|context|evidence|wording)",
    "option": r"(?:option|choice|alternative)s?",
    # "Only one answer", "only the full name": cures of other habits.
    "of_this": r"(?:(?!(?:one|single|full|complete|entire|whole|exact|final|last|first|precise|part"
    r"|another|any|because|since)\b)\w+ ){0,3}",
}


@dataclass(frozen=True, slots=True)
class Signs:
    """Mentions of the cure and of the habit."""

    good: re.Pattern[str]
    bad: re.Pattern[str]


def _any(*families: str) -> re.Pattern[str]:
    text = "|".join(families)
    for name, family in _SHARED.items():
        text = text.replace(f"{{{name}}}", family)
    text = re.sub(r"<(\d)>", lambda gap: _GAP.format(gap[1]), text)
    return re.compile(rf"(?<!\w)(?:{text})")


SIGNS: dict[Habit, Signs] = {
    Habit.wordy: Signs(
        good=_any(
            r"{short} <2>(?:{reply}|names?|phrases?|nouns?|terms?|words?|entit\w+|forms?|strings?|spans?"
            r"|values?)\b",
            r"(?!bare (?:numbers?|letters?)){short} <2>(?:letters?|numbers?|facts?|one|version|wording)\b",
            r"{reply} <4>{short}\b",
            r"(?:be|stay|remain) <1>{short}\b",
            r"(?:keep|make) (?:it|them|things|this|that|everything|the content|yourself) <1>{short}\b",
            r"(?:briefly|tersely|concisely|succinctly|brevity|conciseness|concision|to the point)\b",
            r"(?:bare|naked)\b(?! (?:of|numbers?|figures?|digits?|numerals?|values?))",
            r"(?:stripped down|telegraphic|telegram|minimalis\w+|shortest|economical)\b",
            r"(?:only|just|merely|solely|purely|at most|exactly) {of_this}(?:names?|phrases?|entit\w+"
            r"|terms?|nouns?)\b",
            r"(?:only|just|merely|solely|purely|at most|exactly) {of_this}(?:words?|number|fact|title|value"
            r"|item)\b",
            r"(?:only|just|merely|solely|purely) {of_this}(?:answers?(?! (?:to|when|if|after))|thing"
            r"|essential\w*)\b",
            r"at most (?:an?|one|\w+)? ?(?:few )?(?:words?|phrase)\b",
            r"(?<!last )(?<!family )(?<!first )(?:name|phrase|term|entity|word|answer|title|fact)"
            r" (?:itself )?(?:alone|only|by itself|on its own|itself|standing alone|and (?:nothing"
            r"|no more))\b",
            r"nothing (?:else|more|further|besides|around)\b|no more and no less\b",
            r"(?:no|not one|not an?|not a single|without an?) (?:further |superfluous )?(?:word|syllable)"
            r" (?:more|else|beyond|extra|too many)\b",
            r"(?:few|fewest|handful of|couple of|minimum of|(?:smallest|least) number of) <1>words?\b",
            r"(?:one|two|three|four|five|six|\d+)(?: (?:or|to|and) \w+)? words?\b|(?:word|name) or two\b",
            r"as (?:short|brief|concise|terse|few|little)\b|(?:is|are) all (?:that )?(?:is |it "
            r"|you )?(?:need|tak|want|count)\w*|shorter (?:is|the) better\b|(?:little|least"
            r"|minimum of) text\b|sparing with words\b",
            r"(?:trim|cut|reduce|boil|pare|condense)(?:s|d|ming|ting)? <4>(?:down|to the)\b",
        ),
        bad=_any(
            r"(?:full|whole|complete|entire|long|proper|grammatical|running|lengthy|finished|several"
            r"|multiple|well formed|polished|flowing|elaborate) <1>sentences?\b",
            r"(?:in|as|into|an?|any|write|using?|form|of|than|with|build) (?:\w+ly )?sentences?\b(?! (?:of"
            r"|in|from|that))",
            r"sentences\b(?! (?:of|in|from|that))|sentences? (?:is|has|does|costs?|around|inside)\b",
            r"(?:paragraphs?|prose|essays?|stor(?:y|ies)|lectures?|monologues?|speech(?:es)?)\b",
            r"(?:long|lengthy|verbose|wordy|elaborate|rambling|extended) <1>(?:{reply}|phrases?)\b"
            r"|long winded\b",
            r"(?:verbosity|wordiness|wordy|verbose|rambl\w+|padd\w+|pad|filler|fluff|chatter|chatty"
            r"|boilerplate)\b",
            r"(?:everything|anything) (?:but|except|other than|besides|beyond) (?:the|what"
            r"|its) <1>(?:names?|answers?|phrase|entity)\b|running text\b|subject and verb\b",
            r"(?:preambles?|lead ins?|introduct\w+|introduc(?:e|ing)|opening phrase|embellish\w*|waffl\w+"
            r"|narrat\w+)\b",
            r"(?:extra|surplus|superfluous|unnecessary|needless|spare|additional|other"
            r"|surrounding) word(?:s|ing)\b",
            r"(?:longer|more) than <2>words?\b|(?:wrap|embed|bury|dress|surround|pack)\w* <4>(?:in|with"
            r"|inside|up)\b",
        ),
    ),
    Habit.hedging: Signs(
        good=_any(
            r"(?:one|single|sole|lone) (?:and only (?:one )?)?(?:(?!word|phrase)\w+ ){0,2}"
            r"(?:answers?|candidates?|choices?|options?|names?|guess|possibility|responses?|reply"
            r"|solutions?|values?|numbers?|pick|suggestion)\b",
            r"(?:only|exactly|just|precisely|at most) (?:one|a single)\b(?! (?:word|phrase|step))",
            r"(?:commit|decid|settl|finali[sz])\w* <2>(?:to|on|for|one)\b|commit to\b|decisive\w*"
            r"|take a stand\b",
            r"(?:stick|stand|stay) (?:with|to|by) (?:one|it|a single|the|your)\b|make up your mind\b"
            r"|make a choice\b|definite\b|names? one thing\b|pick a side\b",
            r"(?:pick|choose|select|take|go (?:with|for)|name|give|offer|submit|report) (?:(?:just|only) )?"
            r"(?:one|a single)\b(?! (?:word|phrase))",
            r"(?:most (?:likely|probable|plausible)|more (?:likely|probable|plausible)|likeliest|best"
            r"|likelier)"
            r" (?:single )?(?:candidate|answer|guess|one|name|option)\b",
        ),
        bad=_any(
            r"hedg\w*|equivocat\w*|waver\w*|(?:on|straddl\w+) the fence\b|dither\w*|both ways\b",
            r"(?!multiple choice)(?:two|several|multiple|both|more than one|various|many|different|second"
            r"|competing|rival|backup|three|pair of|couple of|list of|alternative|other|another|spare"
            r"|further|additional) <2>"
            r"(?:answers?|candidates?|options?|names?|letters?|guess(?:es)?|possibilit\w+|choices?"
            r"|solutions?|values?|numbers?|ones?|suggestions?)\b",
            r"(?:more than one|alternatives?|possibilit(?:y|ies)|either or|runners? up|fallbacks?)\b",
            r"(?:this or that|one or the other|x or y|a or b|qqor)\b|(?:with|by|using) (?:an? )?(?:or"
            r"|slash)\b",
            r"(?:list|enumerat)\w* <2>(?:candidates|options|possibilities|guesses|answers)\b|enumerat\w*"
            r"|leav\w* <2>choice\b",
            r"choices? between\b|the (?:other|second|weaker|less likely)(?: one)?(?=$|,| out\b)",
        ),
    ),
    Habit.aside: Signs(
        good=_any(
            r"(?:unadorned|uncommented|unannotated|unexplained)\b|leave it at that\b",
            r"nothing (?:after|behind|follow\w*|to (?:it|the answer)|(?:is|may|should|must|else|more|extra"
            r"|further)\b)",
            r"(?:stop|end|finish|close) <3>(?:right|directly|immediately|straight|as soon as|once|after the"
            r"|there|where)\b(?! (?:last|final|calculation))",
            r"let (?:it|the answer) <1>stand\b|(?:add|append|attach|put|write|place|follow)\w* nothing\b",
            r"(?:keep|put|move)\w* <4>{remarks} <1>(?:outside|before|elsewhere|above)\b",
            r"{remarks} <5>(?:before|outside|above|elsewhere)\b",
        ),
        bad=_any(
            r"expla(?:in\w*|nat\w+)|remarks?|comment\w*|(?:foot)?notes?\b(?! that)|asides?\b|annotat\w+"
            r"|justif\w+",
            r"clarif\w+|gloss\w*|elaborat\w+|caveats?|rationales?|reasons?\b|reasoning|descri(?:be|bing"
            r"|ption)\w*",
            r"trivia|qualif\w+|apposi\w+|digress\w*|afterthoughts?|background|parenthe\w+|brackets?\b"
            r"|bracketed",
            r"(?:extra|additional|further|more|added|supplementary|supporting|other|surplus|unasked)"
            r" (?:information|info|details?|facts?|context|text|material|data|content|things?|stuff)\b",
            r"(?:any|some)thing (?:else|more|extra|further|after|behind|to (?:it|the answer)"
            r"|in (?:parenthes|bracket))",
            r"add(?:ing)? (?:any|some)thing\b|additions?\b|supplements?\b|elucidat\w+|extras?\b|(?:tell"
            r"|say)\w* why\b|why (?:it|you|this|the answer)\b|aliases\b",
        ),
    ),
    Habit.distractor: Signs(
        good=_any(
            r"(?:{check}|{fit}|make sure|make certain|ensur\w+|look back) <9>(?:every|each|all|whole|entire"
            r"|full|complete)\b"
            r"(?! (?:steps?|digits?)) ?<5>{detail}\b",
            r"{check} <7>(?:against|with|to|by) <4>{source}\b",
            r"(?:{check}|make sure|make certain|ensur\w+|be sure|see|ask) <8>{fit} <4>{detail}\b",
            r"(?:{check}|make sure|make certain|ensur\w+|be sure) <5>(?:is|was) what <3>(?:ask|want|look)\w*",
            r"(?:only|(?:one|candidate|option|answer) that) <1>{fit} (?:with )?(?:the|every|each"
            r"|all) <3>{detail}\b",
            r"(?:rely|go|decide|judge) (?:only )?(?:on|by) the (?:clue|question)\b"
            r"|answer the question (?:that )?(?:is |was )?(?:actually |really )?asked\b",
            r"(?:really|actually) (?:after|ask\w*|want\w*|about|mean\w*|looking for)\b|(?:check|verify"
            r"|test) (?:it|them|yourself|again|twice)\b",
            r"(?:everything|all) (?:that )?the (?:question|clue) (?:says|states|asks|demands|mentions)\b"
            r"|weigh\w* <3>(?:options|candidates)\b",
            r"re ?read\w* (?:the )?<1>(?:question|clue|passage)\b|(?:go|look) back to the (?:question"
            r"|clue)\b",
            r"(?:discard|eliminat|reject|rul|drop|exclud|dismiss|cross)\w* <6>"
            r"(?:contradict|conflict|violat|fail|mismatch|disagree)\w*",
        ),
        bad=_any(
            r"(?:grab|tak|pick|choos|seiz|copy|us|jump|latch|fall|fooled|lured|tempted|mislead|misled"
            r"|distract|mistak|settl|accept|trust|nam|repeat|answer|repl|return|giv|reach|lift|select"
            r"|borrow|snatch|guess)\w* <7>"
            r"(?:because|since|first (?!name\b(?! (?:you|that|in|to))|and)|plausible|(?<!as it )appears?\b"
            r"|appearing|occurs?\b|mentioned|shows? up|turns? up|nearby|familiar|prominent|tempting|similar"
            r"|neighbou?ring|eye catching|catches|happens? to|merely|some (?:other|random)|sounds? right"
            r"|looks? right)",
            r"(?:copy|lift|borrow|snatch|pull)\w* <4>(?:out of|from) the (?:question|text|passages?|context"
            r"|options)\b",
            r"(?:another|other|wrong|neighbou?ring) (?:titles?|entit\w+|passages?|documents?)\b",
            r"(?:let|letting) <7>(?:mislead|fool|distract|tempt|lure|deceive)\b|misleading <1>(?:names?"
            r"|titles?|options?|candidates?|numbers?)\b",
            r"(?:being|occurring|appearing|mentioned) <1>in (?:the|a) (?:passages?|text|context|question)\b"
            r"|unchecked\b|unverified\b",
            r"(?:distractors?|decoys?|red herrings?|look ?alikes?|traps?|lures?)\b",
            r"(?:merely|simply|just|only) (?:because|since|appear\w*|occur\w*|mentioned|happens?)\b",
        ),
    ),
    Habit.partial: Signs(
        good=_any(
            r"(?:full|complete|entire|whole|unabbreviated|unshortened|unabridged"
            r"|total)(?: (?!sentence)\w+){0,2} {names}\b",
            r"(?:{names}|answers?) <3>(?:complete(?:ly)?|in full|whole|entire(?:ly)?|fully|unabbreviated"
            r"|unshortened|unabridged|intact|uncut|in (?:its|their) entirety)\b(?! sentences?)",
            r"(?:first|given|fore|christian|both) ?names?\b(?! (?:you|that|in|which|to))|name and surname\b"
            r"|in full\b",
            r"first and (?:last|family)\b|(?:given|family) and (?:given|family)\b",
            r"(?:every|all|each) (?:of )?(?:the |its |their |single )?(?:words?|parts?|pieces?|components?)"
            r" (?:of|in|from|that belong to) <3>(?:{names}|it)\b",
            r"(?:every|each) (?:single )?word\b|all (?:of )?(?:the |its )?(?:words|parts|pieces)\b"
            r"(?! of the (?:question|clue|problem|passage|calculation))",
            r"words? (?:of|from|in) (?:the|an?|its) <2>(?:names?|titles?)\b",
            r"spell\w* <3>(?:names?|titles?|words?|it|them) <1>out\b|spell\w* out <3>(?:names?|titles?)\b",
        ),
        bad=_any(
            r"(?:(?:last|family|second) names?|surnames?|last words?|final words?|nicknames?|initials"
            r"|acronyms?)\b",
            r"{cutting} <4>(?:names?|titles?|it|them|words?)\b|(?:names?|titles?"
            r"|answers?) <4>(?:{cutting})\b",
            r"{cutting}(?=$)|cut <2>short\b|(?:abbreviated|truncated|shortened|clipped) <1>{names}\b",
            r"(?:drop|omit|leav|skip|los|remov|strip|miss)\w* <4>(?:words?|parts?|pieces?|(?:first"
            r"|given) names?)\b",
            r"(?:part|piece|fragment|half|portion|bit|remainder)s? of <3>(?:names?|titles?|answers?|it)\b",
            r"(?:partial|incomplete|half) {names}\b|(?:fragments?|abbreviations?|short forms?)\b",
        ),
    ),
    Habit.question_form: Signs(
        good=_any(
            r"(?:statements?\b|declarative\w*|affirmative\w*|assertions?|assertive\w*|indicative)",
            r"plain (?:noun phrases?|nouns?|phrases?|assertion)\b|noun phrases?\b(?= (?:instead|rather))",
        ),
        bad=_any(
            r"(?:an?|into|like|as) (?:\w+ )?questions?\b(?! (?:asks?|wants?|is about|needs?|has|calls?))",
            r"(?:form|shape|style|format|manner|guise) of (?:an? )?(?:\w+ )?questions?\b",
            r"questions (?:as answers|score|are|count|get|do)\b|ask(?:ing)? back\b|question (?:forms?"
            r"|formats?|style|marks?|words?|back|in return)\b|(?:with|of|as) questions\b",
            r"interrogativ\w*|(?:jeopardy|quiz|game show|tv)\b|whatis\b",
            r"(?:what|who|where) (?:is|are|was)\b(?=\W*(?:$|or\b|and\b|in\b|at\b))",
        ),
    ),
    Habit.unit: Signs(
        good=_any(
            r"(?<!same )(?<!into )units?\b(?! (?:price|cost|test))|measurement\b|currency\b|dimension\b",
            r"(?:noun|word|thing|symbol|quantity|label)s? (?:that |which )?(?:belongs?|follows?|goes|comes?"
            r"|accompan\w+|(?:is|are|being) <1>(?:counted|measured))\b",
            r"what(?:ever)? the (?:number|figure|quantity) (?:measures|counts|stands for)\b",
            r"what (?:is|was|it|the number|they) (?:being |is )?(?:count(?:s|ed|ing)?|measur(?:es|ed|ing))\b",
            r"counted (?:noun|thing)s?\b|(?:km|kilomet\w+|metres?|meters?|miles?|kilograms?|percent"
            r"|per cent)\b",
        ),
        bad=_any(
            r"(?:bare|naked|lone|dimensionless|plain) (?:numbers?|numerals?|figures?|digits?|values?)\b"
            r"|unitless\b",
            r"digits (?:alone|only)\b",
            r"(?:the|a) (?:number|figure|numeral) (?:alone|only|by (?:it|them)sel\w+|on (?:its|their) own)\b",
            r"(?:only|just|merely) the (?:digits|numerals?)\b",
        ),
    ),
    Habit.option_text: Signs(
        good=_any(
            r"(?<!capital )(?<!case )(?<!upper )(?<!first )(?<!by )(?<!one )(?<!two )(?<!both )(?<!several )"
            r"(?<!second )(?<!different )(?<!many )(?<!more )(?<!multiple )letters?\b(?! by letter)"
            r"(?! of the (?:name|title|word))",
            r"(?:{option}|answer|its|the|choice) (?:labels?|identifiers?|keys?|markers?|symbols?|codes?)\b"
            r"|\([a-f]\)",
            r"(?:label|identifier|marker|tag|code)s? (?:of|for|in front of|before) <3>{option}\b",
        ),
        bad=_any(
            r"(?:text|wording|words|contents?|phrase|meaning) (?:of|in|behind|from) <3>{option}\b",
            r"{option} <1>(?:text|wording|words|content|phrase|itself|verbatim)\b",
            r"(?:copy|quot|repeat|restat|transcrib|spell)\w* <5>(?:{option}|says?)\b",
            r"writ\w* (?:out )?<3>{option} out\b|what (?:the|an|that) <1>{option} says\b",
            r"paraphras\w* <2>{option}\b|(?:its|their) (?:full )?(?:text|wording|contents?)\b",
        ),
    ),
    Habit.rounding: Signs(
        good=_any(
            r"(?:exact|precise|accurate|unrounded|true) <2>{number}\b",
            r"{number} <6>(?:exact(?:ly)?|precise(?:ly)?|unrounded|precision|accurate(?:ly)?|as (?:it"
            r"|they) (?:is|are))\b",
            r"(?:exact|precise|accurate)(?:ly|ness)? (?:with|about|in|to) <3>(?:{number}|{work})\b",
            r"(?:calculat|comput|count|work)\w* <3>(?:exact|precise)ly\b|as (?:it (?:is|was) |you )?"
            r"(?:calculated|computed)\b",
            r"(?:full|complete) precision\b|exactness\b|unrounded\b|(?:be|stay|remain) (?:exact|precise)\b",
            r"(?:to the |every |all |each )(?:the )?(?:last |single )?(?:digits?|decimals?|cents?"
            r"|decimal places?)\b",
        ),
        bad=_any(
            r"round(?:s|ed|ing)?\b(?! (?:trip|table|of)\b)|approximat\w+|estimat\w+|guesstimat\w+|ballpark",
            r"simplif\w* <2>{number}\b|rounder\b|(?:nice|convenient|even|smooth|handy) (?:\w+ )?numbers?\b"
            r"|adjust\w* <3>{number}\b",
            r"order of magnitude|near(?:est|by) <1>(?:ten|hundred|five|number|whole)",
            r"off by (?:a little|\w+)\b|simplifying\b|(?:rough|vague|loose|inexact|imprecise)(?:ly)?\b"
            r"|smooth\w* <2>{number}\b",
        ),
    ),
    Habit.unfinished: Signs(
        good=_any(
            r"(?:final|(?<!to )last|concluding|ultimate|remaining|closing|every|all|each"
            r"|any) (?:of )?(?:the )?<1>"
            r"(?:steps?|operations?|calculations?|computations?|stages?|additions?|subtractions?)\b",
            r"(?:final|end|ultimate|last) (?:results?|numbers?|figures?|values?|amounts?|totals?|quantit\w+"
            r"|outcomes?)\b",
            r"(?:problem|task|question|calculation|computation|solution|work) is (?:\w+ )?(?:solved|done"
            r"|finished|complete|over)\b",
            r"(?:whole|full|complete|entire) (?:calculation|computation|solution|problem|arithmetic|chain)\b",
            r"(?:nothing|something|anything) (?:\w+ )?(?:left|remains|remaining|missing|to be done|to do"
            r"|to compute)\b",
            r"(?:another|one more|further) (?:step|operation|calculation)s?\b|(?:is"
            r"|was) what <1>(?:being )?(?:asked|requested|wanted)\b",
            r"all the way\b|(?:to|at|reach) (?:the|its) (?:very )?end\b|its end\b|to (?:its "
            r"|the )?(?:completion|conclusion|finish)\b",
            r"(?:whole|entire) {work}\b|(?:finish|complet|conclud)\w* <4>{work}\b|solve <3>completely\b",
            r"(?:carry|see) <3>(?:through|on)\b|no <2>steps? <5>(?:left|missing|remain\w*|open|undone)\b",
            r"(?:quantity|number|value|result|amount|figure|total|thing) (?:that "
            r"|which )?(?:the (?:question|problem)|is|was) <1>(?:asks?|asked|wants?|wanted|requested"
            r"|requests)\b",
        ),
        bad=_any(
            r"(?:intermediate|interim|in between|half ?way|midway|half finished|unfinished|premature\w*"
            r"|sub ?totals?)\b",
            r"sub ?(?:steps?|results?|problems?|questions?)\b|(?:along|on) the way\b|half (?:done|solved)\b",
            r"(?:preceding|previous|earlier|prior|second to last|penultimate|last but one) (?:steps?"
            r"|results?|numbers?|stages?)\b",
            r"running totals?\b|partial (?:results?|sums?|totals?|calculations?|numbers?|one)\b",
            r"(?:stop|quit|end|halt|break|give up)\w* <4>(?:early|short|before|too soon|one step|midway"
            r"|half ?way|at (?:an?|the (?:first|second)))\b",
            r"(?:one|a) step (?:short|before|too early|away|from)\b|(?:from|in|out of) the middle\b",
            r"(?:skip|omit|leav|drop|forget)\w* <4>(?:steps?|calculation|undone|unfinished)\b",
        ),
    ),
}
