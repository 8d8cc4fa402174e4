"""Rules in words: what a user, or a harness in the user's name, wants always, never, or only so.

A rule says what is wanted always, never or only so, how a thing is to be, or in what manner a work is to be
done or what is not to be done with it. A plain task is none, nor is a question, a report, a guess ("it must
have crashed"), an aim ("a flag to skip it"), a plan, or what was pasted. Some cues make a rule wherever they
stand ("must", "never"). Others do so only in a sentence that opens with a verb which tells someone to do
something: "run it before you push" is a rule, "it ran before you pushed" none. A sentence that breaks off
("The page must:") is none itself, and neither are the items below it.

It costs rules that are worded as a description ("types are plain JSON"), as a case ("if it gets long,
convert it") or as a question: about two of three rules that people type (`tests/typed.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .sentences import ORDERS, Hit, find_sentences, holds_any, make_overlap, may_hold, opens_with
from .typed import typed_sentences

_RULE = re.compile(
    r"(?i)\b(?:never|always|must|shall|(?:do not|don['’]?t)(?! want\b)|should not|shouldn['’]t|mustn['’]t"
    r"|make sure"
    r"|be (?:sure|careful) (?:to|not)|ensure that|only use|avoid|no need to|need to be\b"
    r"|(?:it|they|this|that|these|those|rest|everything) (?:all |also )?needs? to"
    r"|(?:only|don['’]?t|do not) want|(?:is|are) (?:required|mandatory|forbidden|prohibited)\b|should\b"
    r"|has to\b|have to be\b|unless|not allowed|at most|at least|no more than|prefer(?:ably)?\b|important:"
    r"|critical:|remember to|stick (?:to|with)\b|from now on|going forward|refrain from"
    r"|(?:cannot|can['’]t|may not) be\b|you (?:may|can|are) (?:not|only)\b|let['’]s not\b"
    r"|we (?:always|never|only|don['’]t) (?:use|commit|push|add|write|allow|touch|edit|change|do|support"
    r"|deploy|merge|release|ship|squash|log|store)\b"
    r"|no (?:new|other|additional|breaking|external|extra|unnecessary|emojis?|placeholders?)\b"
    r"|without (?:changing|touching|breaking|using|adding|modifying|removing|asking|running)"
    r"|use [^.\n|]{1,120}(?:, not | instead of | rather than )|niemals|auf keinen fall|jamais|nunca"
    r"|only\b|instead of|rather than|except\b|before\b|until\b|without\b|exactly\b|keep\b|skip\b"
    r"|no [a-z]+ (?:please|needed|allowed)\b|max(?:imum)?\b(?!-)|leave\b|not the\b"
    r"|(?<!\bif )(?:we|you) (?:do not|don['’]?t) (?:need|have) to\b|limit(?: \w+){0,2} to\b"
    r"|nothing else)|(?i:\(not |, not (?:just |only )?[\w`\"'“*]|, (?:nothing|no) [\w`])"
    r"|不要|不得|请勿|請勿|务必|務必|一定要|必须|必須|只能|禁止|必ず|ないでください|てはいけません|반드시|절대"
)
_CUES = (
    "never", "always", "must", "shall", "not", "n't", "n’t", "dont", "make sure", "be sure", "careful",
    "ensure", "only", "avoid", "no need", "should", "has to", "have to", "unless", "at most", "at least",
    "no more", "prefer", "important:", "critical:", "need to", "needs to", "want", "without", "use ",
    "required", "mandatory", "forbidden", "prohibited", "remember", "stick", "from now", "forward", "nothing",
    "refrain", "instead of", "rather than", "except", "before", "until", "exactly", "keep", "skip", "prevent",
    "please", "needed", "allowed", "max", "leave", ", no ", "no new", "no other", "no add", "no break",
    "limit", "no ext", "no un", "no emoji", "no place", "niemals", "keinen", "jamais", "nunca", "不要",
    "不得", "请勿", "請勿", "务必", "務必", "一定要", "必须", "必須", "只能", "禁止", "必ず", "ください",
    "いけません", "반드시", "절대",
)  # fmt: skip
_WEAK = re.compile(
    r"(?i)only$|instead of|rather than|except|before|until|without$|exactly|keep|skip"
    r"|max|leave|limit|\(not |, no|not the|nothing else|at least|no [a-z]+ (?:please|needed|allowed)"
)
_ORDERS = ORDERS - {"look", "compare", "take", "plan"}
_ASKS = re.compile(r"(?i)\b(?:i|we) (?:\w+ )?$|\b(?:what|how|where|who|why|when|whether)\b[^,;.]{0,40}$")
_HOPES = re.compile(
    r"(?i) ?(?:[.!,;:)\n]|$)| (?:i|we|you|it)\b| (?:now|already|better|probably|hopefully)\b"
    r"| (?:be (?:able|fine|good|ok(?:ay)?|enough|ready|done|possible|easy)|work|have been|pass|result in"
    r"|lead to|mean|cause)\b"
)
# What the model should do to answer is work, what it should do from now on a rule.
_LOOKS = re.compile(
    r"(?i)\byou should(?: also| even| really| first| just| now)? (?:justify|read|continue|try|have|see|know"
    r"|think"
    r"|look|check|understand|explain|realize|answer|tell|be|find|get|need|start)\b"
)
_NOW = re.compile(r"(?i)\b(?:now|already|again)\W*$")
_OF_OTHERS = re.compile(r"(?i)\b(?:that|what|which|where|how|why) (?:you|we|i|it|they) $|\bwhich $")
# Code and what programs print: a test's name, a comment, a message in quotation marks, an error.
_CODE = re.compile(r"\w\([\"'`]|=> ?[{(]| := |;$|\\n|\": ?[\"{\[]")
_CODE_MARKS = ("(", "=>", ":=", ";", "\\n", '":')
"""What holds none of these is no code by that pattern, which takes less long to see."""
_CODE_FIRST = re.compile(
    r"[✓✔✗×○]|//|/\*|(?:func|def|class|return|const) |(?i:error|fatal|panic|exception): "
)
# What a skill or a tool says of itself in a list of them.
_OF_ITSELF = re.compile(
    r"(?i)\W*(?:[\w:.-]{1,60}: )?(?:this (?:skill|tool|command|agent|mode)\b"
    r"|use (?:(?:this|it)(?: \w+)? )?(?:proactively )?(?:when|after|if|for)\b)"
)
# What only looks like one: a report of what someone does, and politeness.
_TOLD = re.compile(
    r"(?i)(?:\b(?:i|we|you|they|it|he|she|that|this|which|who|there|these|those|also|still|really|currently"
    r"|is|are|was|likely|probably|almost|actually|simply|even"
    r"|were|has|have|had|be|been|will|would|why|not|\w+s)|n['’]t) $"
)
# "Also never delete it" goes on ordering; "it also never worked", "also never worked" tell.
_ALSO = re.compile(r"(?i)\W*(?:and )?also,? (?:never|always) (?!\w+ed\b|\w+s\b|was\b|were\b|been\b|had\b)\w")
# "They only want to know" tells of others.
_THAT = re.compile(r"(?i) (?:it|that|this)(?:[.!;\n]|$)")
_OTHERS = re.compile(r"(?i)\b(?:they|he|she|it|who) $")
_ORDER = re.compile(r"(?i)(?:^|[.!?,;:(|*\n>-]|\b(?:please|and|but|so|then|just|also|or)) *$")
# "Keep in mind …" tells something, "it may not be needed" weighs, "I'd prefer that" points elsewhere.
_REMINDS = re.compile(r"(?i)\W*keep in mind\b")
_GUESS = re.compile(r"(?i)\b(?:this|that|it|which|there|they|and|or) $")
_POINTS = re.compile(r"(?i) (?:it|that|this)\W*$")
# "It must have crashed" guesses; "a flag to skip it", "if we can avoid it" tell what something is for.
_MAY_BE = re.compile(
    r"(?i) (?:have (?:been|\w+ed|\w+en|misread|gone|done|got|made|left|lost|come|run)\b"
    r"|be (?:it|an? \w+ (?:in|some)))"
)
_AIMS = ("keep", "skip", "leave", "avoid", "limit", "prefer")
_AIM = re.compile(r"(?i)(?<!need)(?<!want)(?<!try)(?<!sure)(?<!please) to $|\b(?:can|could|might|may) $")
_PRONOUN = re.compile(
    r"(?i)\b(?:i|we|you|they|it|he|she|that|this|who)(?: just| also| still| really| simply| even)* $"
)
_PAST = re.compile(r"(?i) (?:was|were|got|had|did|went|came|took|made|ran|saw)\b")
# A sentence that breaks off there says nothing by itself: what it is about stands in the list below it.
_BREAKS_OFF = re.compile(
    r"(?i)\b(?:must|shall|should|needs? to|has to|have to|cannot|never|always|make sure|ensure)"
    r"(?: (?:not|also|always|never|all|that))*$"
)
_BROKEN_OFF = ("must", "all", "should", " to", "not", "never", "always", "sure", "also", "that")
"""How such a sentence ends, which takes less long to see."""
_CLAUSE = re.compile(r"(?i)(?:it|they|this|that|these) (?:all |also )?needs? to")


def find_rules(text: str) -> Iterator[Hit]:
    """Sentences that tell what must, must not, or must always be done.

    >>> [form for _, _, form in find_rules("It never ran. Run the tests before you push! Should we wait?")]
    ['Run the tests before you push!']
    """
    return find_sentences(text, _RULE, _CUES, _is_rule, _start_clause)


def _is_rule(match: re.Match[str], start: int, form: str) -> bool:
    cue, text = match.group().lower(), match.string
    before = text[max(start, match.start() - 16) : match.start()]
    if form[-1] in "?？" or _is_code(form) or _breaks_off(form):
        return False
    if cue in ("never", "always") and _PAST.match(text, match.end()):
        return False
    if cue in ("never", "always") and not _ALSO.match(text, start):
        if _TOLD.search(before) or (
            before.strip() and _DOES.match(text, match.end()) and not _ORDER.search(before)
        ):
            return False
    if _SAYS.search(text, max(start, match.start() - 80), match.start()):
        return False
    if cue.endswith(" want") and (_OTHERS.search(before) or _THAT.match(text, match.end())):
        return False
    if cue in ("do not", "don't", "don’t", "dont"):
        return _ORDER.search(before) is not None and not _PRONOUN.search(before)
    if cue == "have to be" and before.endswith(("n't ", "n’t ", " not ")):
        return False
    if cue == "must" and _MAY_BE.match(text, match.end()):
        return False
    if cue in _AIMS and _AIM.search(before):
        return False
    if cue == "before" and text.startswith(" and after", match.end()):
        return False
    if cue == "unless" and form[:6].lower() == "unless" and "," not in form:
        return False  # the exception to what stands before it
    if (cue == "should" or _WEAK.match(cue)) and _OF_ITSELF.match(form):
        return False
    if cue == "should":
        if match.string[max(0, match.start() - 1) : match.start()] in ("'", '"', "`"):
            return False
        if _ASKS.search(text, max(start, match.start() - 60), match.start()) or _OF_OTHERS.search(before):
            return False
        return not (_LOOKS.search(form) or _HOPES.match(text, match.end()) or _NOW.search(form))
    if cue == "may not be":
        return _GUESS.search(before) is None
    if cue[:6] == "prefer" and _POINTS.match(text[match.end() : start + len(form)]):
        return False
    if cue[:3] == "no " and cue != "no need to" and not _WEAK.match(cue):
        return _ORDER.search(before) is not None
    return not _WEAK.match(cue) or (opens_with(form) in _ORDERS and not _REMINDS.match(form))


def _is_code(form: str) -> bool:
    """Whether a sentence is code or what a program prints."""
    return _CODE_FIRST.match(form) is not None or (
        holds_any(form, _CODE_MARKS) and _CODE.search(form) is not None
    )


def _breaks_off(form: str) -> bool:
    """Whether a sentence ends before it says what must be."""
    ends = form[-8:].lower().endswith(_BROKEN_OFF) or not form.isascii()
    return ends and _BREAKS_OFF.search(form) is not None


def _start_clause(match: re.Match[str], start: int) -> int:
    """ "…, it needs to …" is a clause of its own."""
    return match.start() if _CLAUSE.match(match.group()) else start


_MAKES = (
    "use|keep|avoid|write|prefer|answer|respond|reply|report|format|stick|follow|limit|ensure|end|start|begin"
    "|send"
    "|show|call|name|include|cite|quote|list|put|give|run|ask|wait|confirm|restate|pick|choose|sign|address"
    "|present"
    "|deploy|commit|push|open|create|add|make|return|state|explain|summari[sz]e|tell|say|check|update|notify"
)
"""Verbs of an order that a person may give for all times."""
_WHENEVER = re.compile(
    rf"(?i)\W*(?:(?:please|and|so|also|then|but|ok)\W+)*"
    rf"(?!(?:once|when|after) (?:this|that|it|these|all|everything)\b[^,]* done\b)(?:when(?:ever)?|before"
    rf"|after|once|any ?time"
    rf"|if (?=you\b|we\b|i\b|in doubt|unsure|an?\b|any|the user|something|someone|there)"
    rf"|each time"
    rf"|every time|unless)\b[^.!?\n]{{2,160}}?[,;] (?:then |please |always |just |first )*(?:{_MAKES}|do"
    rf"|don['’]t)\b"
)
_FOR_ALL = re.compile(
    rf"(?i)\W*(?:(?:please|and|so|also|then|but|always)\W+)*"
    rf"(?!(?:show|list|give|create|add|explain|tell|check|update)\b)(?:{_MAKES})\b"
    rf"(?:(?!\b(?:how|what|that|which|where)\b)[^.!?\n]){{0,100}}?\b(?:every|all"
    rf"|each|any"
    rf"|everything|always|throughout|by default|whenever|at all times|style|format|tone)\b"
)
_IN_MANNER = re.compile(
    r"(?i:\W*(?:please\W+)?(?:write|answer|respond|reply|report|format|send|use|express|give|show|present)\b)"
    r"[^.!?\n]{0,80}? (?:in|on|with) (?:[A-Z]\w+|(?:the )?[\w-]+ (?:style|format|tone|units?|language"
    r"|spelling)\b)"
)
_SETTING = re.compile(
    r"(?i)\b(?!i\b|we\b|you\b|that\b|which\b|still\b)[\w`)'-]+ (?!still)(?:\w+ )?(?:needs to|has to)\b"
    r"|(?<!still )(?<!which )(?<!yet )\bneeds? to be\b(?! (?:able"
    r"|possible))"
    r"|\b(?:just|only)\b[^.!?\n]{1,80}\bfor now\b|\bfor now,? (?:just|only)\b"
    r"|\bi (?:basically |really |actually |just )?(?:would )?(?:only |just )?want (?!to\b|it to work\b|you\b"
    r"|us\b"
    r"|the answer)"
    r"|^\W*ideally\b|\bregardless of\b|\bnothing else\b|\banything else is\b|\bin (?:two|three|separate"
    r"|one) commits?\b"
    r"|\b(?:push|commit|merge|deploy|write|go)\b[^.!?,\n]{0,30} directly\b"
    r"|\bif not,? \w+ [^.!?\n]{0,20}first\b"
    r"|\b(?:write|add|run|read|do|update|create|test|ask|build)\b [^.!?,\n]{1,60} first$"
    r"|\b(?:write|add|run|read|do|update|create|test|ask|build)\b [^.!?\n]{1,200} first\.$"
    r"|\bfocus (?:only )?on\b"
    r"|\bnot good enough\b|\bunder no circumstances\b|\b(?:is|are) capped\b|\bcap(?:ped)? (?:is|of|at)\b"
    r"|\b(?:is|are) the expected\b|\bdo(?:es)? not move\b|\bdeadline (?:is|for)\b|\bhard (?:limit"
    r"|constraint|cap)\b"
    r"|\bneeds? (?:[\w'’]+ ){0,4}approval\b|\brequires? (?:[\w'’]+ ){0,4}(?:approval|sign-?off|review"
    r"|confirmation)\b"
    r"|\bwithout (?:[\w'’]+ ){0,5}(?:approv\w+|permission|consent|sign-?off)\b|\b(?:and|by) nobody else\b"
    r"|\b(?:the )?users? (?:strongly |always |really )?(?:wants?|prefers?|likes?|needs?|expects?|asked"
    r"|dislikes?|hates?)\b"
    r"|\b(?:user|my|our)(?:['’]s)? (?:preferred|preference|favou?rite)\b|\b(?:i|we) (?:always "
    r"|strongly )?prefer (?!that\b)"
    r"|^\W*(?:please )?(?:use(?![^!?\n]{0,160} to (?:run|check|find|figure|see|test|get|determine|confirm)\b)"
    r"(?! (?:the )?(?:solution|option|approach|variant|version) \w+\W*$)|keep|avoid|stick|always|never"
    r"|prefer) [^?]{3,}$(?<!it)(?<!this)(?<!that)"
    r"|\bcan you (?:please )?ensure\b|\bregardless\b|\bat no (?:point|time)\b|\bno exceptions?\b|\bstrictly\b"
)
_NO = re.compile(
    r"(?i)(?:^\W*(?:(?:\w+ )?(?:rules?|note|important|constraints?): )?|[,;:(\n]|\b(?:so|and|but|yet"
    r"|then)) ?no (?!wait|idea|problem|worries|longer|more\b|one\b|thanks?"
    r"|i\b|all\b|that|it\b|we\b|you\b|this|there|remove|need to know|matter|reason|way\b|clue|doubt|such|luck"
    r"|users?\b|effect|difference|results?\b|errors?\b)[a-z][\w-]+"
)
_NO_TOLD = re.compile(
    r"(?i)\b(?:visible|found|yet|shown|showing|there|at all|is|are|was|were|did|does|got|see|works?|displays?"
    r"|displayed|appears?|happen\w*|still|anywhere|came|since|so far|today|yesterday"
    r"|(?!allowed|needed|wanted|permitted|required|added)\w+ed|in (?:the )?(?:file|output|logs?|database"
    r"|db))\b"
)
_WISHES = re.compile(r"(?i)\b(?:should|must|wants?|needs?|prefer|only|let['’]s|please)\b")
# How things are to be that most projects have rules about, in words that hold no order.
_STANDS = re.compile(
    r"(?i)\bhold off\b"
    r"|\b(?:go(?:es)?|belongs?|lives?) (?:in|into|under|to|on) [^.!?\n]{1,60}\bnot\b"
    r"|\b(?:in|into|as) (?:small|smaller|tiny|separate|single) (?:steps?|commits?|chunks?|pieces?|PRs?)\b"
    r"|\bone (?:step|thing|file|commit) at a time\b|\bstep by step\b"
    r"|\b(?:is|are)(?: not|n['’]t) (?:needed|necessary|required|wanted|in scope)\b"
    r"|\blet['’]s (?:avoid|always|never|only)\b|\bhands off\b|\b(?:is|are) (?:off[- ]limits|out of scope)\b"
    r"|\b(?:stays?|remains?|leave [^.!?\n]{1,40}) (?:as (?:it is|they are|is)|unchanged|untouched|alone)\b"
    r"|\b(?:we|it|this|they) (?:also |still )?(?:need to|has to|have to) (?:support|stay|remain|keep"
    r"|work(?! on))\b"
    r"|\bi need (?:it|this|that|these|them|the [\w-]+) to (?:be|stay|work|have|look|support|use)\b"
    r"|\bit(?:['’]s| is) (?:important|essential|crucial|critical|vital) (?:that|to (?!know|see|note))\b"
)
_STANDS_CUES = (
    "hold off", "not", "n't", "n’t", "small", "tiny", "separate", "single", "one ", "step ", "let's", "let’s",
    "hands off", " off", "out of scope", "stay", "remain", "leave ", "need to", "has to", "have to",
    "i need ", "important", "essential", "crucial", "critical", "vital",
)  # fmt: skip
_STANDS_FIRST = re.compile(
    r"(?i)\W*(?:(?:and|so|also|please|always|just) )*be (?:more |less |very |as )?"
    r"(?!so\b|able\b|right\b|back\b|sure\b|nice\b)[a-z]+\b"
    r"|\W*(?:(?:please|and|so|also|only|just|exactly) )*(?:one|a single|1) [\w-]+ (?:per|for each|for every) "
    r"|\W*(?:all|every|each) [\w -]{2,40} "
    r"(?:in [\w-]+\W*$|needs? |gets? (?:an?|its|their) |goes? in|stays? |to be )"
    r"|\W*(?:please )?(?:stop|quit) (?!running|watching|waiting)\w+ing\b"
    r"|\W*(?:please )?(?:treat|count|handle) [^.!?\n]{2,50} as \w"
    r"|\W*(?:please )?(?:make|do|use|write|keep|apply) [^.!?\n]{0,40}\b"
    r"(?:minimal|smallest|simplest|as (?:few|little|small|short|simple|close)) "
    r"|\W*(?:please )?(?:stay|remain) (?:on|in|within|inside) (?:this|the|that|our)\b"
)
_MEASURES = re.compile(
    r"(?i)\W*(?!.*\b(?:is|are|has|have|was|takes?|took|got|shows?)\b)[\w -]{3,40} "
    r"(?:shorter|smaller|longer|fewer|less|more) than \d+ \w+\W*$"
)
# "The build always fails" tells what it does, "the error says it must be one" what somebody else wants.
_DOES = re.compile(r"(?i) (?:\w+ed|\w*[^s\W]s|does|has|is|was)\b")
_SAYS = re.compile(
    r"(?i)\b(?:errors?|logs?|output|messages?|compiler|linter|docs?|documentation|it|reviewer|copilot|he"
    r"|she|they)"
    r" (?:says?|said|claims?|complains?|tells?|told|thinks?)\b[^.!?\n]{0,60}$"
)
_SETTING_CUES = (
    "s to", "to be", "for now", "want", "ideally", "regardless", " else", "one commit", "two commit",
    "three commit", "separate commit", "directly", "if not", " first", "focus ", "good enough", "under no",
    "capped", "cap ", "the expected", "not move", "deadline ", "hard ", "approv", "sign", "review",
    "confirmation", "permission", "consent", "prefer", " like", " need", " expect", " asked", " dislike",
    " hate", "favo", "use ", "keep ", "avoid ", "stick ", "always ", "never ", "ensure", "at no ",
    "exception", "strictly",
)  # fmt: skip
"""In lower case: what holds none of these is no setting, which takes less long to see."""
_ENSURES = re.compile(r"(?i)\W*(?:\w+\W+){0,3}?can you (?:please )?ensure\b")
_DOUBTS = re.compile(
    r"(?i)\b(?:maybe|perhaps|i wonder|not sure|i guess|wouldn['’]t it|shouldn['’]t|would need to be"
    r"|i (?:suspect|assume|was wondering)|i(?:['’]m| am) (?:curious|wondering)|i(?:['’]d| would) expect"
    r"|my understanding|there must be|i want(?:ed)? to make sure|just to (?:make|be) sure)\b"
    r"|^\W*(?:(?:it|this|that) )?(?:looks? like|seems?|appears?|apparently)\b"
    r"|, (?:right|no|yeah|hey)$"
)
_DOUBT_CUES = (
    "maybe", "perhaps", "wonder", "sure", "guess", "wouldn", "shouldn", "need to be", "suspect", "assume",
    "curious", "expect", "understanding", "must be", "look", "seem", "appear", "apparent", ", right", ", no",
    ", yeah", ", hey",
)  # fmt: skip
_FAULT = re.compile(
    r"(?i)(?:incorrect|expected|actual|result|example|scenario|note|issue|bug)\b[^.]{0,20}[,:] "
)
_CHOOSES = re.compile(
    r"(?i)\W*(?:i['’]d|i would) (?:\w+ )?(?:prefer|rather)\b"
    r"|\W*(?:yeah|yes|yep|no|nah|ok(?:ay)?)\b[ ,]+(?:then |so )?(?:that|it|this|these) should\b"
)
_REPORTS = re.compile(
    r"(?i)\W*(?:right now|currently|at the moment)\b|\W*(?:i['’]ve|i (?:still )?(?:see|get|got|have)"
    r"|there(?:['’]s| is| are)|we (?:still )?(?:see|get"
    r"|got))\b[^.]*, no "
)
_ADVISES = re.compile(
    r"(?i)\W*(?:for (?:example|instance)|consider|the (?:comment|code|function|method|calculation|current"
    r"|inline)|this (?:method"
    r"|function|code))\b"
)


def find_typed_rules(text: str) -> Iterator[Hit]:
    """The same in words that a person typed: also what they want a thing to be, and orders for all times.

    A question is none, but one that asks to ensure something; nor is what reads like a review or a report.

    >>> [form for _, _, form in find_typed_rules("When you finish, end your reply with DONE. Is it fast?")]
    ['When you finish, end your reply with DONE.']
    """
    seen: list[tuple[int, int]] = []
    before = (0, 0)
    listed = False
    for start, end, form in typed_sentences(text):
        line = text.rfind("\n", 0, start) + 1
        item = _ITEM.match(text, line) is not None
        listed = _HEADS.search(form) is not None or (listed and item)
        span = _find_typed_rule(text[start:end], form)
        if span is None and listed and item and len(form) > 12 and form[-1] not in "?？:":
            span = 0, end - start
        if span is not None:
            first, last = start + span[0], start + span[1]
            if _NO_OBJECT.match(form) and before[1] and not text[before[1] : start].strip(" \t"):
                first = before[0]  # what it is about stands in the sentence before
                if seen and seen[-1] == before:
                    seen.pop()
            seen.append((first, last))
        before = (start, end)
    for first, last in seen:
        yield first, last, " ".join(text[first:last].split())
    overlaps = make_overlap(seen)
    for start, end, form in find_rules(text):
        if not overlaps(start, end) and not _is_told(form):
            yield start, end, form


_PLAN = re.compile(
    r"(?i)\blet['’]s (?!not\b|just\b|only\b|always\b|never\b|avoid\b|keep\b|limit\b)|\bwe can (?:also"
    r" )?drop\b"
)
_ITS_OWN = re.compile(r"(?i)\b(?:it|they|this|that|these|those) (?:all |also )?(?:needs? to|has to|must)\b")


def _is_told(form: str) -> bool:
    """Whether a sentence is a question, code, a doubt, a review's advice, a report or a plan."""
    if form[-1] in "?？" and not _ENSURES.match(form):
        return True
    if _is_code(form) or any(one.match(form) for one in (_ADVISES, _FAULT, _REMINDS, _REPORTS, _CHOOSES)):
        return True
    doubts = may_hold(form, _DOUBT_CUES) and _DOUBTS.search(form) is not None
    return doubts or (may_hold(form, ("let", "drop")) and _PLAN.search(form) is not None)


def _sets(words: str) -> bool:
    """Whether words say what something is to be, without an order."""
    if _forbids(words):
        return True
    low = words.lower()
    return holds_any(low, _SETTING_CUES) and _SETTING.search(words) is not None


def _forbids(words: str) -> bool:
    """Whether words rule a thing out: "no emojis", "keep it small, no extras", but not "no card is seen"."""
    found = _NO.search(words) if may_hold(words, ("no ",)) else None
    if found is None or (not found[0].endswith("ing") and _NO_TOLD.search(words, found.end())):
        return False
    before = words[: found.start()]
    return not before.strip() or opens_with(words) in _ORDERS or _WISHES.search(before) is not None


def _stands(words: str) -> bool:
    """Whether words say how things are to be, in one of the ways in which projects do."""
    if _STANDS_FIRST.match(words) or (may_hold(words, (" than ",)) and _MEASURES.match(words)):
        return True
    low = words.lower()
    return holds_any(low, _STANDS_CUES) and _STANDS.search(words) is not None


def _is_rule_itself(words: str) -> bool:
    """Whether what stands before a bracket is the rule."""
    return _sets(words) or _stands(words) or next(find_rules(words), None) is not None


def _find_typed_rule(words: str, form: str) -> tuple[int, int] | None:
    """Where in a sentence the rule is: in brackets, in the clause that starts with it, or all of it."""
    for match in _IN_BRACKETS.finditer(words):
        inner = match[1]
        if inner.count(" ") > 1 and _sets(inner) and not _is_rule_itself(words[: match.start()]):
            return match.start(1), match.end(1)
    if _is_told(form) or _breaks_off(form):
        return None
    if _sets(form) or _stands(form) or any(one.match(form) for one in (_WHENEVER, _FOR_ALL, _IN_MANNER)):
        own = _ITS_OWN.search(words)
        clause = own is not None and own.start() > 0 and words[: own.start()].rstrip()[-1:] in ",;"
        return (own.start() if own is not None and clause else 0), len(words)
    return None


_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]")
_HEADS = re.compile(
    r"(?i)^(?:#+ )?(?:(?:[\w/&,-]+ ){0,3}(?:constraints?|conventions?|rules?|requirements?|guidelines?"
    r"|preferences?)"
    r"|.{0,60}\b(?:i['’]d (?:prefer|like) that|make sure(?: that)?|please (?:note|follow|ensure)(?: that)?))"
    r"(?:[ /][\w/ -]{0,30})?$"
)
"""What a list of rules stands below."""
_NO_OBJECT = re.compile(
    r"(?i)\W*(?:please |and |but |so )*(?:never|always|do not|don['’]t|must not|may not|cannot"
    r"|can['’]t) (?:ever )?\w+"
    r"(?:\W*$| (?:without|unless|before|until|at all|under|for any|in any|again)\b)"
)
_IN_BRACKETS = re.compile(r"\(([^()\n]{8,300})\)")
