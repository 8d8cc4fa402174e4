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
from .typed import Hit, blank_pasted, find_documents, typed_sentences

CONSTRAINT, CHOICE, STATEMENT = "constraint", "choice", "statement"


class MarkedSentence(NamedTuple):
    """A sentence: its span, form and kind of fact, and its rank: 0 for a bare "ok", 3 for a clear rule."""

    start: int
    end: int
    form: str
    kind: str
    rank: int


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
_LASTING = names(
    "assume cite follow hold keep leave limit name preserve respect restrict speak stay stick treat use"
)
"""Those of them that mostly say how work is done, not which."""
_ANSWERS = names("answer ask format reply respond wait")
"""Those that say how the model speaks to the person."""
_OPENS = re.compile(
    r"\W*(?:(?:please|kindly|then|also|and|but|so|now|just|first|finally|only|always|never|ok(?:ay)?|yes|no"
    r"|alright)[,\s]+)*"
    r"([a-z][a-z-]*)"
)
_CLAUSE = r"(?:^\W*|[,;:(]\s?|\b(?:and|but|so|or|then|also|please|just|yes|ok)\s)"
"""The text before an order: the beginning of a sentence or of a clause."""
_BINDS = re.compile(
    rf"""(?x)\b(?:must(?!\ have\b|\ be\ an?\b)|shall|never(?!\ mind)|always|ensures?|make\ sure
    |(?<!to\ )(?<!can\ )avoid|refrain|(?<!you\ )should
    |be\ (?:sure|careful)|remember\ to|from\ (?:now|here)\ on|going\ forward|unless|regardless|strictly
    |under\ no\ circumstances|at\ no\ (?:time|point)|hands\ off|hold\ off|off[- ]limits|off\ the\ table|no-go
    |out\ of\ scope|no\ exceptions?|forbidden|prohibited|banned|mandatory|frozen|untouched|unacceptable|taboo
    |(?:not|\w+n't)\ (?:allowed|needed|necessary|required|supposed|(?:good\ )?enough|want)|not\ (?:ok(?:ay)?
    |fine|acceptable)\ to
    |(?<!that\ )(?<!this\ )(?<!there\ )may\ not\ (?!work|have|match)
    |(?:cannot|can't|won't|will\ not)\ be|(?<!still\ )needs?\ to\ be
    |(?:need|have)\ to\ (?:stay|support|remain)|have\ to\ be
    |i\ need\ (?:\w+\ ){{1,3}}to\ be|i\ want\ (?!to\b|you\b)|i\ (?:hate|dislike|insist|demand|expect
    |won't\ accept|like\ my)|you\ are\ not\ to|not\ to\ be|read-only|i(?:'d
    |\ would)\ like\ you\ to
    |(?:\w{{3,}}s|it|this|that|rest)\ (?:need|has|have|needs)\ to|still\ have\ to|it's\ (?:important
    |essential|crucial|critical)
    |at\ (?:most|least)|tops|no\ (?:more|less|fewer|later|longer)\ than|max(?:imum)?|minimum|capped
    |cap\ (?:of|is)
    |(?:deadline|budget|limit)\ (?:is|of)|limit(?:ed)?\ (?:\w+\ )?to|prefer(?:s|red|ably)?|nothing\ (?:else
    |goes|may)
    |nobody\ (?:but|may|else)|stick\ (?:to|with)|approv(?:al|e)|permission|sign-?off|by\ default
    |defaults?\ to|in\ doubt|one\ \w+\ (?:each|at\ a\ time))\b
    |i(?:'d|\ would)\ rather\ (?:you|we)\ (?:didn't|did\ not|don't)|{_CLAUSE}stop\ (?!it|that|the)\w+ing
    |{_CLAUSE}(?:don'?t|do\ not|no\ need\ to|let's\ not|you\ don't\ have\ to)\ (?!know|think|worry|see|get\b)
    |^\W*(?:please\ )?be\ (?!able|right|back)[a-z]+\W*$|{_CLAUSE}no\ (?!(?:idea|one|longer|problem|more
    |matter|worries|way|clue|doubt|need|wait|reason|luck|errors?
    |results?|output|response|changes?)\b)[a-z]|不要|不得|请勿|務必|务必|必须|必須|只能|禁止|必ず|ないでください|반드시
    |niemals|jamais|nunca"""
)
"""Words that bind or forbid."""
_LIMITS = re.compile(
    r"""(?x)\b(?:(?<!-)only(?!\ (?:one|two|three|thing|problem|way)\b)|except|ideally|instead\ of
    |rather\ than|but\ not|has\ to
    |as\ (?!soon|fast|quickly|much)\w+\ as\ possible
    |without\ (?:my|any|\w+ing)|(?<=\w\ )before\ (?:we|you)\ (?!\w+ed\b)|throughout
    |no\ more(?=\W*$)|per\ (?!second|minute|hour|day)|first(?=,\ then
    |\W*$))\b
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
    rf"(?x)(?<![\w/.-])(?:{EACH_TIME}|nothing|everywhere|whenever|when|if|before|until|after"
    r"|first|exactly|for\ now|at\ a\ time|small(?:est)?|short|minimal|simplest|separate|single"
    r"|(?<!this\ )(?<!that\ )one"
    r"|as\ \w+\ as|in\ full|alone|unchanged|style|format|below|above|under|less|more|than)(?!\.?[\w/-])"
)
"""Words that say when and in what manner an order holds."""
_NAMED = re.compile(r" in (?:[A-Z]{2,}|[A-Z][a-z]+)\b")
"""A language, a unit, a format: "answer in German"."""
_STATES = re.compile(
    r"""(?x)^\W*(?:(?:every(?:thing|body|one)?|each|all\ (?!good|done|the|of|right|set|is)|any\ (?!luck|idea
    |news|other)|nothing|nobody)\b
    |(?!(?:but|and|also|it|its|that|this|these|those|they|there|so|i|we|you|why|what|let'?s|tests|users|logs
    |my|both|some|many|most|other|two|three)\b)
    (?:(?!(?:the|a|an|my|our|your)\b)(?:[\w`-]+\ ){0,2}[\w-]+[^s\W]s\ (?:are|have|need|go|come|start|end|use
    |carry|get|default|follow|live)\ \w
    |(?:[\w`-]+\ ){1,4}(?:(?:stays?|remains?|belongs?|follows?)\ |(?:needs?|requires?)\ (?!help|to\ know)
    |(?:is|are|goe?s?|comes?)\ (?:\w+\ ){0,4}
    (?:here|everywhere|fixed|frozen|final|first|later|in\ this\ (?:repo|project|codebase)|to\ stderr)\b))
    |we\ (?:don't|do\ not|always|never|only)\ (?!know|think|see|have|understand|really|get|need)
    |we\ .*\ here\W*$)"""
)
"""The shape of a sentence that says how things are to be: "types are plain JSON here"."""
_WHENEVER = re.compile(
    r"\W*(?:(?:and|also|please)\b,?\s+)*(when(?:ever)?|whatever|if|before|after|once|unless"
    r"|every time|each time|any ?time)\b"
    r"(?! (?:this|that|it|these|all|everything"
    r"|(?:we|i|you) (?:go|make any|do any|continue|proceed|move on))\b)"
    r".*?, (?!(?:it|i|we|you|they|he|she|the|this|that|there|these|my|our"
    r"|nothing|an?|no)\b)([a-z]+)"
)
"""A case, and what is to be done then."""
_GENERAL = re.compile(
    r"""(?x)(?!.*(?:\.\.\.|[(="“_→]|--|\b(?:i|it|they|you|now|can|could|will|works?|more|another|again|too
    |as\ well|also|me|him|correct|has|today|tomorrow|tonight|week|morning|last)\b
    |(?<!are\ )(?<!is\ )(?<!be\ )(?<!get\ )(?<!gets\ )\b\w{3,}ed\b))
    (?=.*(?:\d|\b(?:is|are|do|does|don't|doesn't|gets?|goe?s?|needs?|have|has|can't|cannot)\b))
    \W{0,3}(?!(?:it|we|he|she|this|that|these|those|there|here|the|my|his|her|their|its|our|your|an?|some
    |both|and|but|so|or
    |then|ok|okay|yes|yeah|no|nah|if|when|what|why|how|where|who|which|thanks|sorry|great|nice|good|perfect
    |looks?|seems?|just
    |still|once|after|not|same|one|two|any|got|have|is|are|do|does|did|would|should|as|in|at|on|for|with|from
    |to|of
    |let'?s|\w+'(?:s|re|ve|m|ll))\b)[a-z][\w./`'-]*(?:\ \S+){2,14}[.!]$"""
)
"""A short sentence that speaks of no one thing: "red builds don't get merged"."""
_LAST = re.compile(r".*(?:: |; | - | — |\.\.\. ?)")
"""Up to the last clause, which may be a rule by itself."""
_FORBIDS = re.compile(
    r".*, (?:(?=(?:please |so |but |and )?(?:don't|do not|never(?! \w+ed\b)) [a-z])"
    r"|but (?=(?:please )?(?:keep|leave|stay|stick|hold|if|when)\b))"
)
"""Up to a last clause that forbids or keeps: "that is the other board, don't flash it"."""
_POINTS_AT = re.compile(r"\W*(?:please )?[a-z]+ (?:this|that|these|those)(?: ones?)?\W*$")
"""An order about what was just spoken of, and nothing else."""
_REASON = re.compile(
    r"(.+?)(?:,? (?:because|since|so that|otherwise)\b|, (?:that's|that is|it's|i|we|they)(?= ))"
)
"""Up to the reason that follows a rule: "never force-push, that's when we lost a day"."""
_ASIDES = re.compile(
    r"^\W*(?:(?:(?:btw|by the way|fyi|ah|oh|hey|hm+|one more thing)[,:]?"
    r"|(?:right|well|great|good|nice|ok)[,:])\s+(?:(?:and|but|also)\s+)?)+"
)
"""Words before a sentence that say nothing of it."""
_ASKS = re.compile(
    r"\W*(?:please )?(?:can|could|would|will) you (?:(?:please|kindly|also|just) )*(?:mind )?(?=[a-z])"
)
"""A polite question in place of an order."""
_PLEASE = re.compile(r"(?!(?:yes|now|the|then|next)\b)[\w-]+ [\w -]{2,40},? please\W*$")
_REPORTED = re.compile(
    r"""(?x)^\W*(?:i(?!\ (?:[\w'’]+\ )?(?:want|need|prefer|expect|like|would|hate|dislike|insist|demand|won't
    |like)|'d)
    |he|she|they|there)\b
    |\b(?:was|were|did|didn't|had|got|went|ran|saw|came|took|fails?|failed|crashe[sd]|crashing|broken
    |happens?|happened)\b
    |\b(?!(?:is|are|be|and|but|please|you|we)\b)\w+\ (?:also\ |still\ )?(?:never|always|only)\ (?:\w+(?:ed|s)
    |have)\b
    |\bi\ (?:get|see|tried)\b|\bnot?\ \w+\ (?:\w+\ )?(?:found|visible|shown|seen|failed)\b
    |(?<!must\ )(?<!should\ )(?<!shall\ )\b(?:have|has)\ (?:\w{3,}ed|read|written|been|seen|done|made|had)\b
    |\b(?:right\ now|just\ now|currently|at\ the\ moment|yesterday|so\ far|last\ (?:week|run|year)|already)\b
    |\bshould\ (?:\w+\ ){1,3}(?:again|now|already)\b
    |\bshould\ (?:be\ (?:able|fine|there|ok|good|it|fixed|enough|easy|possible)|have|work|fix|now|help|do\ it
    |mean|result|look|we|i)\b
    |^\W*(?:the|our|my|this)\ (?:(?!should|must|shall|may|has|needs?)[\w-]+\ ){1,2}(?!is|has|needs)\w{2,}s\ .*
    \b(?:instead\ of|rather\ than)\b
    |\b(?:they|he|she|it|who|which|that|logs?|errors?|message)\ (?:says?|said|claims?|told|asked
    |complains?)\b"""
)
"""Shapes of a report."""
_CORRECTS = re.compile(
    r"(?:^\W*|[,;:] )(?:please )?(?:do not|don't|never) [a-z-]+ [^.!?]{2,200}?,? but"
    r" (?:only|just|rather|instead)\b"
)
"""An order that refuses one thing for another: "do not X, but only Y". It does not mark a report."""
_DOUBTS = re.compile(
    r"(?<![.@])\b(?:maybe|perhaps|probably|apparently|seems?|looks? like|appears? to|guess|wonder\w*|not sure"
    r"|suspect|curious|no idea"
    r"|i think|i feel|might|must have|must be an?|there must|example|scenario|note|keep in mind|keep going"
    r"|i(?:'d| would) expect|i want to make sure|to (?:find|check|see|figure) |(?:the|this|inline) comment)\b"
    r"|^\W*(?:(?:consider|assume)(?!.* (?:as|fixed|frozen)\b)|(?:check|see) (?:if|whether)\b"
    r"|expected, actual)"
)
_SETTLES = (
    r"(?:use|keep|drop|skip|park|leave|remove|revert|roll|stay|store|split|put|make\ (?:it|the|them)"
    r"|move(?!\ on)|rename|call|name|set|switch"
    r"|replace|take|pick|choose|do(?!\ (?:it|that)\W*$)|have|go\ (?:with|for|back|ahead|\d)|extend|extract"
    r"|delete|merge|define|stick|treat)"
)
_TAKES = re.compile(
    rf"""(?x)\blet'?s\ (?:(?:just|simply|maybe|completely|rather
    |instead)\ )*{_SETTLES}\b(?!\ (?:on\ )?to\ \S+\W*$|\ it\ work)
    |\b(?:i'd|i\ would|we'd)\ (?:\w+\ )?(?:prefer|rather(?!\ (?:you|we)\ d)|go|like\ it)\ (?!that\W*$)
    |\bi\ (?:prefer|like)\ .*\b(?:over|more|better)\b
    |\b(?:we|i)(?:'ll|\ will)\ (?:just\ |then\ )?(?:use|keep|go|take|stick|stay|drop|handle|do)\b
    |\bcan\ (?:also\ |just\ )*(?:drop|skip|remove|leave)
    |\b(?:decided|chose|picked|opted|settled\ on|going\ with|go\ (?:with|for|ahead\ with)|fine\ with
    |decision:)
    |\b(?:i|we)\ (?:actually|think|feel|figure)\ .*(?:should(?!\ (?:look|check|see|have))|need\ to|right
    |better|best|to+\ much|want\ to)\b
    |\bis\ (?:the\ |much\ |a\ )?(?:right|better|best|fine|good)\ (?:approach|choice|option|one|here)\b
    |\b(?:yes|no)\ to\ \S+,
    |^\W*(?:(?:please|just|do|take|use|the|skip|then|yes|no|ok)[,\ ]+)*(?:(?:option|approach|variant
    |plan)\ )?(?:[a-d]|\d|first|second|third|last|latter|former|other
    |both|neither|all\ of|simpler|all\ (?:two|three|four|five))(?:,?\ (?:and|&)\ \d|\ one|\ option|\ approach
    |\ two|,\ \d)*(?:\W+please)?\W*$
    |^\W*(?:[a-d]\)\ (?!why|what|how|is\b|do)|(?:yes|no|nah|nope|yeah|agreed?|ok(?:ay)?)\b[,\ ]+(?:
    (?:then|please|just|so|we\ want\ to|that\ should)\ )*{_SETTLES}\b)
    |^\W*(?:please\ )?(?:keep|use|leave|take|put|name|call|revert\ to)\ (?:it|them|(?:the|this|that)\ (?:old
    |existing|current|original|new|first|second|version))\b
    |\b(?:this|that|your)\ (?:approach|option|suggestion|idea)\b|\bone\ (?:is|sounds)\ (?:fine|better|good)
    |^\W*(?:neither|both|as\ you\ suggested),
    |^\W*[^\s,]+(?:,\ [^\s,]+){{0,9}}\ (?:->|→|=>)\ \S+(?:\ \(.*)?$"""
)
"""Shapes of a choice."""
_WONDERS = re.compile(r"\W*(?:(?:and|but|so|also|ok(?:ay)?)\W+)*(?:what|how) about\b")
"""A question, also without a question mark."""
_BARE = re.compile(
    r"\W*(?:ok(?:ay)?|yes|yeah|no|sure|thanks?|thank you|great|good|perfect|continue|go on|push|commit)?\W*$"
)
_BREAKS_OFF = re.compile(
    r"(?<!, )\b(?:must|shall|should|never|always|needs? to|has to|ensure|make sure)"
    r"(?: (?:not|also|all|that))*\W*$"
)
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
    whole = _fold(form)
    low = _ASIDES.sub("", whole)
    if _BARE.match(low):
        return STATEMENT, 0
    if form[-1] == "?" and (asks := _ASKS.match(low)):
        order = low[asks.end() : -1]
        binds = opens_lasting(order) or _BINDS.match(order) is not None
        return (CONSTRAINT, 2) if binds and _count_best(order) >= 3 else (STATEMENT, 1)
    if form[-1] in "?？" or _WONDERS.match(low) or _CODE.search(form) or _BREAKS_OFF.search(low):
        return STATEMENT, 1
    points = _count_best(low)
    points += points == 1 and _NAMED.search(form) is not None
    if points < 5 and _TAKES.search(whole):
        return CHOICE, 2
    if points >= 2:
        return CONSTRAINT, 3 if points >= 3 else 2
    return STATEMENT, 1


def _fold(form: str) -> str:
    return form.lower().replace("’", "'")


def _count_best(low: str) -> int:
    """The points of a sentence, of its last clause, or of it without its reason: the largest number."""
    bound = _count_bound(low)
    points = [_count_points(low, bound)]
    clauses = [low[clause.end() :] for clause in (_LAST.match(low), _FORBIDS.match(low)) if clause]
    if reason := _REASON.match(low):
        clauses.append(reason[1])
    points += [_count_points(clause, _count_bound(clause) if bound else 0) for clause in clauses]
    return max(points)


def _count_bound(low: str) -> int:
    return 3 if _BINDS.search(low) else 2 * (_LIMITS.search(low) is not None)


def _count_points(low: str, bound: int) -> int:
    """How much in a sentence, in lower case, speaks for a rule; `bound` is for its binding words."""
    verb = _read_verb(low)
    orders = verb in _ORDERS
    case = _WHENEVER.match(low)
    if case is not None and (case[1] != "if" or case[2] in _ORDERS):
        return 3
    if not bound and _POINTS_AT.match(low):
        return 0
    points = bound + orders + (verb in _LASTING and low.count(" ") > 1)
    points += points > 0 and _SCOPE.search(low) is not None
    if not orders and (_STATES.match(low) or _PLEASE.match(low) or _GENERAL.match(low)):
        points += 2
    if points < 2:
        return points
    reported = not orders and _REPORTED.search(low) is not None and _CORRECTS.search(low) is None
    return points - 3 * reported - 5 * (_DOUBTS.search(low) is not None)


def _read_verb(low: str) -> str:
    """Return the verb that opens a text: "keep" of "please keep it", and of "mind keeping it short"."""
    opening = _OPENS.match(low)
    verb = opening[1] if opening else ""
    return verb.removesuffix("ing") if verb.removesuffix("ing") in _ORDERS else verb


def find_statements(text: str) -> Iterator[MarkedSentence]:
    """Yield every sentence of a typed text, without what was pasted into it.

    >>> [(one.form, one.kind) for one in find_statements("Rules:\\n- snake_case names\\n\\nFix the test.")]
    [('Rules', 'statement'), ('snake_case names', 'constraint'), ('Fix the test.', 'statement')]
    """
    own = _COMMAND.sub(lambda match: " " * len(match[0]), blank_pasted(text), count=1)
    documents = list(find_documents(own))
    for statement in _mark_sentences(own):
        form = " ".join(text[statement.start : statement.end].split())
        # A letter or a number answers only as the whole message.
        answers = statement.kind == CHOICE and (len(form.rstrip(".)")) > 1 or text.strip() == form)
        if any(start <= statement.start < end for start, end in documents):
            yield statement._replace(form=form, kind=STATEMENT, rank=min(statement.rank, 1))
            continue
        kind = STATEMENT if statement.kind == CHOICE and not answers else statement.kind
        yield statement._replace(form=form, kind=kind)


def opens_order(low: str) -> bool:
    """Return whether a text in lower case begins with a verb that orders one thing: "run the tests"."""
    return _read_verb(low) in _ORDERS - _LASTING - _ANSWERS


def opens_lasting(low: str) -> bool:
    """Return whether a text in lower case begins with a verb that says how work is done: "keep it small"."""
    return _read_verb(low) in _LASTING


def find_rules(text: str) -> Iterator[Hit]:
    """Yield the clear rules in other texts: of a harness, of a summary.

    >>> [form for _, _, form in find_rules("It never ran. Always run the tests! Should we wait?")]
    ['Always run the tests!']
    """
    for start, end, form in typed_sentences(text):
        if _count_best(_fold(form)) > 2 and mark_sentence(form)[1] > 2:
            yield start, end, form


def _mark_sentences(text: str) -> Iterator[MarkedSentence]:
    """Yield every sentence with its mark. Items below a heading of rules, or below "it must:", are rules; an
    item among questions is the subject of a question, unless its words bind or order."""
    listed = False
    for start, end, form in typed_sentences(text):
        kind, rank = mark_sentence(form)
        item = _ITEM.match(text, text.rfind("\n", 0, start) + 1) is not None
        if listed and item and kind == STATEMENT and form[-1] not in "?？":
            kind, rank = CONSTRAINT, 2
        elif item and (kind, rank) == (CONSTRAINT, 2) and _is_asked(text, start, form):
            kind, rank = STATEMENT, 1
        low = form[-40:].lower()
        heads = _HEADS.search(low) or _BREAKS_OFF.search(low)
        listed = heads is not None or (listed and item)
        yield MarkedSentence(start, end, form, kind, rank)


def _is_asked(text: str, start: int, form: str) -> bool:
    """Whether an item has no word that binds or orders, and its list has questions."""
    low = _fold(form)
    if _count_bound(low) or opens_order(low) or opens_lasting(low):
        return False
    first, last = text.rfind("\n\n", 0, start) + 1, text.find("\n\n", start)
    lines = text[first : last if last >= 0 else len(text)].splitlines()
    return any(_ITEM.match(line) and line.rstrip()[-1:] in ("?", "？") for line in lines)
