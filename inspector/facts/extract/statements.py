"""Statements: every sentence that a person typed, marked as a rule, as a choice, or not at all.

A rule says what is wanted always, never or only so, how a thing is to be, or in what manner work is to be
done. A choice names what is taken among alternatives. The marks come from a few words and shapes, each worth
some points. A sentence without a mark is still a statement, so a wrong mark loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from ...session.toolcalls.canonical_path import names
from .rule_words import count_foreign
from .typed import Hit, blank_pasted, find_review, typed_sentences

CONSTRAINT, CHOICE, STATEMENT = "constraint", "choice", "statement"


class MarkedSentence(NamedTuple):
    """A sentence: its span, form and kind of fact, and its rank: 0 for a bare "ok", 3 for a clear rule."""

    start: int
    end: int
    form: str
    kind: str
    rank: int


_SHORTHAND = {
    **dict.fromkeys(("pls", "plz"), "please"),
    **dict.fromkeys(("u", "ya"), "you"),
    **{verb + "nt": verb + "n't" for verb in names("do does did is are was must should ca wo would could")},
}
"""Typing shorthand, and how it is spelled out."""
_SHORT = re.compile(rf"(?<![\w'/.=-])(?:{'|'.join(_SHORTHAND)})(?=[\s,!?]|$)")
_ORDERS = names("""
add adjust align allow answer apply ask assume attach attribute base begin bring build bump call capture
change check choose cite clean close combine come commit compare confirm continue convert copy cover create
cut debug declare define delete deploy describe disable do document drop dry-run edit enable end exclude
explain extract fetch filter find fix focus follow format generate get give go group guard handle hide hold
implement import include indent inform insert install integrate keep label leave limit link list load log
look maintain make mark match measure mention merge migrate mock move name note notify omit open order
output pass pick pin place plan point present preserve press print produce propose protect provide publish
pull push put quote raise read rebase refactor refer reject release remove rename render replace reply
report request reset resolve respect respond restart restore restrict retry return reuse revert review
rewrite round run save send separate set share ship show simplify skip sort speak specify spell spend split
squash stage start state stay stick stop store submit suggest summarize support switch take tell test touch
translate treat trim try turn type undo update upgrade upload use validate verify wait work wrap write""")
"""Verbs that open an order."""
_LASTING = names("""
assume cite follow hold keep leave limit name preserve respect restrict speak stay stick treat use
answer ask format reply respond wait""")
"""Those of them that mostly say how work is done, or how the model speaks to the person."""
_OPENS = re.compile(
    r"\W*(?:(?:please|kindly|then|also|and|but|so|now|just|first|finally|only|always|never|ok(?:ay)?|yes|no"
    r"|alright)[,\s]+)*"
    r"([a-z][a-z-]*)"
)
_CLAUSE = r"(?:^\W*|[,;:(]\s?|\b(?:and|but|so|or|then|also|please|just|yes|ok)\s)"
"""The text before an order: the beginning of a sentence or of a clause."""
_BINDS = re.compile(
    rf"""(?x)\b(?:must(?!\ have\b|\ be\ an?\b)|shall|never(?!\ mind)|always|ensures?|make\ sure
    |(?<!to\ )(?<!can\ )avoid|refrain|(?<!you\ )should|be\ (?:sure|careful)|remember\ to
    |from\ (?:now|here)\ on|going\ forward|unless|under\ no\ circumstances|no\ exceptions?
    |hands\ off|off[- ]limits|out\ of\ scope|forbidden|prohibited|banned|mandatory|frozen|untouched|read-only
    |(?:not|\w+n't)\ (?:allowed|needed|necessary|required|supposed|(?:good\ )?enough|want)
    |(?<!that\ )(?<!this\ )(?<!there\ )may\ not\ (?!work|have|match)
    |(?:cannot|can't|won't|will\ not)\ be|(?:need|have)\ to\ (?:stay|be)\b
    |at\ (?:most|least)|no\ (?:more|less|fewer|later|longer)\ than|max(?:imum)?|minimum
    |(?:deadline|budget|limit)\ (?:is|of)(?!\ (?:gone|off|lifted|history)\b)
    |limit(?:ed)?\ (?:\w+\ )?to|prefer(?:s|red|ably)?
    |nothing\ (?:else|goes|may)|nobody\ (?:but|may|else)|stick\ (?:to|with)
    |i\ (?:need|want|expect|hate|insist)\ (?!to\b|you\b)(?:\w+\ ){{1,4}}to\ be
    |(?<!that\ is\ )(?<!this\ is\ )(?<!\bit\ is\ )(?<!hat's\ )(?<!\bit's\ )
    (?:not|isn't|aren't)\ (?:ok(?:ay)?|fine|acceptable)(?=\W*$|[,;]|\ (?:in|for|here|with)\b)
    |not\ (?:ok(?:ay)?|fine|acceptable)\ to
    |(?:important|matters?|essential|crucial)
    \ (?:(?:to|for)\ (?:me|us)\ )?that(?!\ (?:is|was|this|it)\b)
    |(?:let's|let\ us)\ agree\ (?:that|to|on)
    |unacceptable|off\ the\ table|no-go|hold\ off|approv(?:al|e)|permission|sign-?off|by\ default|in\ doubt
    |one\ \w+\ (?:each|at\ a\ time))\b
    |i(?:'d|\ would)\ (?:rather|prefer(?:\ it)?)
    \ (?:if\ |that\ )?(?:you|we)\ (?!.*\b(?:now|this|that\ one)\b)
    |i(?:'d|\ would)\ (?:like|prefer|rather\ have)\ (?:every|each|all|no)\b(?!\ (?:of|the|that|this)\b)
    |{_CLAUSE}stop\ (?!it|that|the)\w+ing
    |{_CLAUSE}(?:don'?t|do\ not|no\ need\ to|let's\ not)\ (?!know|think|worry|see|get\b)
    |{_CLAUSE}no\ (?!(?:idea|one|longer|problem|more|matter|way|errors?|results?|changes?|worries|luck|reason
    |wait|doubt|clue|thanks|need\W*$)\b)[a-z]
    |不要|不得|请勿|務必|务必|必须|必須|只能|禁止|必ず|ないでください|반드시"""
)
"""Words that bind or forbid."""
_STANDS = re.compile(
    r"""(?x)^[\s\-*]*(?:please\ |and\ |also\ )*(?:use|prefer|write|speak)
    \ (?!(?:it|them|the|an?|this|that|these|those|my
    |our|your|his|its|one|two|both|all|more|another|other|any|what|which|whichever|option|approach|plan
    |version|me|us|up|down|out|to|for|something|some)\b)
    (?:[a-z][\w'+\#.-]*(?:\ (?!(?:to|for|from|as|on|here|now|this|that|it)\b)[a-z][\w'+\#-]*){0,2}\W*$
    |(?:[\w'+\#-]+\ ){1,4}?(?:in|for)\ (?:all|every|each|any)\b)"""
)
"""An order to use a kind of thing, and no certain one: "use tabs", "write tests for every module"."""
_LIMITS = re.compile(
    r"""(?x)\b(?:(?<!-)only(?!\ (?:one|two|three|thing|problem|way)\b)|except|instead\ of|rather\ than
    |but\ not|has\ to|as\ (?!soon|fast|quickly|much)\w+\ as\ possible|without\ (?:my|any|\w+ing)|throughout
    |first(?=,\ then|\W*$))\b
    |,\ not\ (?!(?:that|this|those|these|yet)\b)\S"""
)
"""Words that limit or compare, in a report as well."""
EACH_TIME = (
    r"(?:every|each|any)\ (?:\w+\ ){0,2}(?:times?|changes?|commits?|pushe?s?|prs?|pull\ requests?|releases?"
    r"|deploy(?:ment)?s?|steps?|turns?|sessions?|answers?|repl(?:y|ies)|responses?|messages?|runs?|edits?)\b"
    r"|(?:every|each|any|all)\ (?:new|future)\b|(?:before|after)\ (?:every|each|any)\b"
)
"""For each time that work is done, in verbose syntax; "fix each test" names the things of one task."""
_SCOPE = re.compile(
    rf"(?x)(?<![\w/.-])(?:{EACH_TIME}|nothing|everywhere|whenever|when|if|before|until|after|first|exactly"
    r"|at\ a\ time|small|short|separate|single|in\ full|alone|unchanged|style|format|below|above|under|less"
    r"|more|than)(?!\.?[\w/-])"
)
"""Words that say when and in what manner an order holds."""
_STATES = re.compile(
    r"\W*(?:every(?:thing|body|one)?|each|all (?!i\b|good|done|the|of|right|set|is)"
    r"|any (?!luck|idea|news|other)|nothing|nobody)\b"
)
"""The beginning of a sentence that says how all things are to be: "each test has a name"."""
_WHENEVER = re.compile(
    r"\W*(?:(?:and|also|please)\b,?\s+)*(?:when(?:ever)?|if|after|unless|(?:every|each) time)\b"
    r"(?! (?:this|that|it|these|all|everything)\b)"
    r".*?, ([a-z]+)"
)
"""A case, and the first word of what is to be done then."""
_NAMED = re.compile(r" in (?:[A-Z]{2,}|[A-Z][a-z]+)\b")
"""A language, a unit, a format: "answer in German"."""
_LAST = re.compile(
    r".*(?:: |; | — |, (?:(?=(?:please |so |but |and )?(?:don't|do not|never(?! \w+ed\b)) [a-z])"
    r"|but (?=(?:please )?(?:keep|leave|stay|stick|hold|if|when)\b"
    r"|(?:(?!(?:it|this|that|there|you|we|i|he|she|they)\b)[\w-]+ ){1,4}"
    r"(?:should|must|ha(?:s|ve) to|needs? to)\b)))"
)
"""Up to the last clause, which may be a rule by itself: "I said it before: never push"."""
_POINTS_AT = re.compile(r"\W*(?:please )?[a-z]+ (?:this|that|these|those)(?: ones?)?\W*$")
"""An order about what was just spoken of, and nothing else."""
_REASON = re.compile(
    r"(.+?)(?:,? (?:because|since|so that|otherwise)\b"
    r"|, (?:and )?(?:that's|that is|it's|i|we|he|she|they|my \w+|our \w+)(?= ))"
)
"""Up to the reason that follows a rule: "never force-push, that's when we lost a day"."""
_ASIDES = re.compile(
    r"^\W*(?:(?:(?:btw|by the way|fyi|ah|oh|hey|hm+|one (?:more |other |last )?thing)[,:]?"
    r"|(?:right|well|great|good|nice|ok)[,:])\s+(?:(?:and|but|also)\s+)?)+"
)
"""Words before a sentence that say nothing of it."""
_ASKS = re.compile(
    r"\W*(?:please )?(?:can|could|would|will) you (?:(?:please|kindly|also|just) )*(?:mind )?(?=[a-z])"
)
"""A polite question in place of an order."""
_GERUND = re.compile(r"^([a-z]+?)ing\b")
_ENSURES = re.compile(
    r"(?:always|never|not|make sure|be (?:sure|careful)|ensure|avoid|remember to|stick to)\b"
)
"""What follows such a question if it asks for all later work."""
_REPORTED = re.compile(
    r"""(?x)^\W*(?:i(?!\ (?:[\w'’]+\ )?(?:want|need|prefer|expect|like|would|hate|dislike|insist|won't)|'d)
    |he|she|they|there)\b
    |\b(?:was|were|did|(?<!rather\ you\ )didn't|had|got|went|ran|saw|came|took|fails?|failed|crashe[sd]
    |crashing|broken|happens?|happened|tried|yesterday|(?:right|just)\ now|currently|so\ far)\b
    |\b(?!(?:is|are|be|and|but|please|you|we)\b)\w+\ (?:never|always|only)\ \w+(?:ed|s)\b
    |(?<!must\ )(?<!should\ )\b(?:have|has)\ (?:\w{3,}ed|read|written|been|seen|done|made|had)\b
    |\bshould\ (?:be\ (?:able|fine|there|ok|good|fixed|enough)|have|work|fix|now|help|mean|look|we|i)\b"""
)
"""Shapes of a report."""
_DOUBTS = re.compile(
    r"(?<![.@])\b(?:maybe|perhaps|probably|apparently|seems?|looks? like|appears? to"
    r"|(?:^\W*|i |i'd |would |my (?:best )?)guess|wonder\w*|not sure|suspect|i think|i feel|might"
    r"|must have|must be an?"
    r"|there must|for example|scenario|note|keep in mind|to (?:find|check|see|figure) )\b"
    r"|^\W*(?:consider|assume|(?:check|see) (?:if|whether))\b"
    r"|^\W*(?!(?:i|we|you|if|when|and|never)\b)(?:[\w'./`-]+ ){1,3}?"
    r"(?:complain|say|warn|report|claim|think|tell)s\b"
    r"|^\W*(?!(?:i|we|you|if|when|and|never)\b)(?:[\w'./`-]+ ){1,3}?"
    r"(?:complained|said|warned|claimed|told|wrote)\b"
)
_SETTLES = (
    r"(?:use|keep|drop|skip|park|leave|remove|revert|roll|store|put|make\ (?:it|the|them)|rename|call|name"
    r"|set|split|move(?!\ on)|switch|replace|take|pick|choose|do(?!\ (?:it|that)\W*$)|have"
    r"|go\ (?:with|for|back|ahead|\d)|delete|merge|stick|treat|handle)"
)
_TAKES = re.compile(
    rf"""(?x)\b(?:let'?s|(?:we|i)(?:'ll|\ will))\ (?:(?:just|simply|maybe|then|instead|completely)\ )*
    {_SETTLES}\b
    |\bcan\ (?:also\ |just\ )*(?:drop|skip|remove|leave)\b
    |\bi\ (?:prefer|like)\ .*\b(?:over|more|better)\b
    |\b(?:decided|chose|picked|opted|settled\ on|going\ with|go\ (?:with|for|ahead\ with)|fine\ with)\b
    |\b(?:i|we)\ (?:actually|think|feel|figure)\ .*(?:should(?!\ (?:look|check|see|have))|need\ to|right
    |better|best|to+\ much|want\ to)\b
    |^\W*(?:(?:please|just|do|take|use|the|then|yes|no|ok)[,\ ]+)*(?:(?:option|approach|variant|plan)\ )?
    (?:[a-d]|\d|first|second|third|last|latter|former|other|both|neither)(?:\ (?:one|option|approach))?\W*$
    |^\W*(?:[a-d]\)\ (?!why|what|how|is\b|do)|(?:yes|no|nah|nope|yeah|agreed?|ok(?:ay)?)\b[,\ ]+(?:
    (?:then|please|just|so|we\ want\ to|that\ should)\ )*{_SETTLES}\b)
    |^\W*(?:please\ )?(?:keep|use|leave|take|put)\ (?:it|them|(?:the|this|that)\ (?:old|existing|current
    |original|new|first|second|version))\b
    |^\W*[^\s,]+(?:,\ [^\s,]+){{0,9}}\ (?:->|→|=>)\ \S+(?:\ \(.*)?$"""
)
"""Shapes of a choice."""
_BARE = re.compile(
    r"\W*(?:ok(?:ay)?|yes|yeah|no|sure|thanks?|thank you|great|good|perfect|continue|go on|push|commit)?\W*$"
)
_BREAKS_OFF = re.compile(
    r"(?<!, )\b(?:must|shall|should|never|always|needs? to|has to|ensure|make sure)"
    r"(?: (?:not|also|all|that))*\W*$"
)
_ALONE = re.compile(
    r"\W*(?:always|never|every (?:single )?time|(?:with(?:out)? |no )exceptions?|period|full stop|immer"
    r"|nie|niemals|toujours|jamais|siempre|nunca|sempre|mai|altijd|nooit)\W*$"
)
"""A sentence that makes a rule of the one before it: "We log in UTC. Always."."""
_HEADS = re.compile(r"\b(?:constraints?|conventions?|rules?|requirements?|guidelines?|preferences?)\W*$")
_COMMAND = re.compile(r"\A\s*/[a-z][\w:-]*(?=\s|\Z)")
"""A slash command at the beginning of a message."""
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,2}[.)])[ \t]")
_CODE = re.compile(r"\w\([\"'`]|=> ?[{(]| := |;$|\\n|\": ?[\"{\[]|^(?://|/\*|[✓✔✗×]|func |def |class )")


def mark_sentence(form: str) -> tuple[str, int]:
    """Return what a sentence is marked as, and its rank.

    >>> mark_sentence("Never push to main."), mark_sentence("let's go with sqlite")
    (('constraint', 3), ('choice', 2))
    >>> mark_sentence("It never worked."), mark_sentence("ok")
    (('statement', 1), ('statement', 0))
    """
    whole = fold(form)
    low = _ASIDES.sub("", whole)
    if _BARE.match(low):
        return STATEMENT, 0
    if form[-1] == "?" and (asks := _ASKS.match(low)):
        order = (
            _GERUND.sub(r"\1", low[asks.end() : -1]) if asks[0].endswith("mind ") else low[asks.end() : -1]
        )
        binds = _read_verb(order) in _LASTING or _ENSURES.match(order) is not None
        return (CONSTRAINT, 2) if binds and _count_best(order) >= 3 else (STATEMENT, 1)
    if form[-1] in "?？" or _CODE.search(form) or _BREAKS_OFF.search(low):
        return STATEMENT, 1
    points = max(_count_best(low), count_foreign(low))
    points += points == 1 and _NAMED.search(form) is not None
    if points < 5 and _TAKES.search(whole):
        return CHOICE, 2
    return (CONSTRAINT, min(points, 3)) if points >= 2 else (STATEMENT, 1)


def fold(form: str) -> str:
    """Return a text in lower case, with typing shorthand spelled out.

    >>> fold("Pls dont touch it, u can’t")
    "please don't touch it, you can't"
    """
    low = form.lower().replace("’", "'")
    return _SHORT.sub(lambda match: _SHORTHAND[match[0]], low)


def _count_best(low: str) -> int:
    """The points of a sentence, of its last clause, or of it without its reason: the largest number."""
    last = _LAST.match(low)
    clauses = [low, low[last.end() :] if last else ""]
    reasons = filter(None, map(_REASON.match, clauses))
    return max(map(_count_points, (*clauses, *(reason[1] for reason in reasons))))


def _count_bound(low: str) -> int:
    return 3 if _BINDS.search(low) else 2 * any(pattern.search(low) for pattern in (_LIMITS, _STANDS))


def _count_points(low: str) -> int:
    """How much in a sentence, in lower case, speaks for a rule."""
    case, verb = _WHENEVER.match(low), _read_verb(low)
    if case is not None and case[1] in _ORDERS:
        return 3
    orders = verb in _ORDERS
    lasts = verb in _LASTING and low.count(" ") > 1 and not _POINTS_AT.match(low)
    points = _count_bound(low) + orders + lasts
    points += points > 0 and _SCOPE.search(low) is not None
    points += 2 * (not orders and _STATES.match(low) is not None)
    if points < 2:
        return points
    reported = not orders and _REPORTED.search(low) is not None
    return points - 3 * reported - 5 * (_DOUBTS.search(low) is not None)


def find_statements(text: str) -> Iterator[MarkedSentence]:
    """Yield every sentence of a typed text, without what was pasted into it.

    >>> [(one.form, one.kind) for one in find_statements("Rules:\\n- snake_case names\\n\\nFix the test.")]
    [('Rules', 'statement'), ('snake_case names', 'constraint'), ('Fix the test.', 'statement')]
    """
    own = _COMMAND.sub(lambda match: " " * len(match[0]), blank_pasted(text), count=1)
    first, last = find_review(own) or (0, 0)
    for statement in _mark_sentences(own):
        form = " ".join(text[statement.start : statement.end].split())
        # A letter or a number answers only as the whole message.
        answers = statement.kind == CHOICE and (len(form.rstrip(".)")) > 1 or text.strip() == form)
        if first <= statement.start < last:
            yield statement._replace(form=form, kind=STATEMENT, rank=min(statement.rank, 1))
            continue
        kind = STATEMENT if statement.kind == CHOICE and not answers else statement.kind
        yield statement._replace(form=form, kind=kind)


def opens_order(low: str) -> bool:
    """Return whether a text in lower case begins with a verb that orders one thing: "run the tests"."""
    return _read_verb(low) in _ORDERS - _LASTING


def _read_verb(low: str) -> str:
    """Return the verb that opens a text: "keep" of "please keep it"."""
    opening = _OPENS.match(low)
    return opening[1] if opening else ""


def find_rules(text: str) -> Iterator[Hit]:
    """Yield the clear rules in other texts: of a harness, of a summary.

    >>> [form for _, _, form in find_rules("It never ran. Always run the tests! Should we wait?")]
    ['Always run the tests!']
    """
    for start, end, form in typed_sentences(text):
        if mark_sentence(form)[1] > 2:
            yield start, end, form


def _mark_sentences(text: str) -> Iterator[MarkedSentence]:
    """Yield every sentence with its mark. Items below a heading of rules, or below "it must:", are rules."""
    listed, before = False, None
    for start, end, form in typed_sentences(text):
        kind, rank = mark_sentence(form)
        low = fold(form)
        if before is not None and before.kind == STATEMENT and before.rank and _ALONE.match(low):
            if before.form[-1] not in "?？" and not _is_reported(fold(before.form)):
                before, kind, rank = before._replace(kind=CONSTRAINT, rank=3), STATEMENT, 0
        item = _ITEM.match(text, text.rfind("\n", 0, start) + 1) is not None
        if listed and item and kind == STATEMENT and form[-1] not in "?？":
            kind, rank = CONSTRAINT, 2
        heads = _HEADS.search(low[-40:]) or _BREAKS_OFF.search(low[-40:])
        listed = heads is not None or (listed and item)
        if before is not None:
            yield before
        before = MarkedSentence(start, end, form, kind, rank)
    if before is not None:
        yield before


def _is_reported(low: str) -> bool:
    return (_REPORTED.search(low) or _DOUBTS.search(low)) is not None
