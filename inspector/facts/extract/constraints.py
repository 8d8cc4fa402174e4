"""Rules in words: what a user, or a harness in the user's name, wants always, never, or only so.

Some cues make a rule wherever they stand ("must", "never"). Others do so only in a sentence that opens with a
verb which tells someone to do something: "run it before you push" is a rule, "it ran before you pushed" none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .sentences import ORDERS, Hit, find_sentences, opens_with

_RULE = re.compile(
    r"(?i)\b(?:never|always|must|shall|do not|don['’]?t|should not|shouldn['’]t|mustn['’]t|make sure"
    r"|be (?:sure|careful) (?:to|not)|ensure that|only use|avoid|no need to|need to be\b"
    r"|(?:it|they|this|that|these|those|rest|everything) (?:all |also )?needs? to"
    r"|(?:only|don['’]?t|do not) want|(?:is|are) (?:required|mandatory|forbidden|prohibited)\b|should\b"
    r"|has to\b|have to be\b|unless|not allowed|at most|at least|no more than|prefer(?:ably)?\b|important:"
    r"|critical:|remember to|stick (?:to|with)\b|from now on|going forward|refrain from"
    r"|(?:cannot|can['’]t|may not) be\b|you (?:may|can|are) (?:not|only)\b|let['’]s not\b"
    r"|we (?:always|never|only|don['’]t) (?:use|commit|push|add|write|allow|touch|edit|change|do|support)\b"
    r"|no (?:new|other|additional|breaking|external|extra|unnecessary|emojis?|placeholders?)\b"
    r"|without (?:changing|touching|breaking|using|adding|modifying|removing|asking|running)"
    r"|use [^.\n|]{1,120}(?:, not | instead of | rather than )|niemals|auf keinen fall|jamais|nunca"
    r"|only\b|instead of|rather than|except\b|before\b|until\b|without\b|exactly\b|keep\b|skip\b"
    r"|to (?:avoid|prevent)\b|no [a-z]+ (?:please|needed|allowed)\b|max(?:imum)?\b(?!-)|leave\b|not the\b"
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
    r"(?i)only$|instead of|rather than|except|before|until|without$|exactly|keep|skip|to (?:avoid|prevent)"
    r"|max|leave|limit|\(not |, no|not the|nothing else|at least|no [a-z]+ (?:please|needed|allowed)"
)
_ASKS = re.compile(r"(?i)\b(?:i|we) (?:\w+ )?$|\b(?:what|how|where|who|why|when|whether)\b[^,;.]{0,40}$")
_HOPES = re.compile(
    r"(?i) ?(?:[.!,;:)\n]|$)| (?:i|we|you|it)\b"
    r"| (?:now )?(?:be (?:able|fine|good|ok(?:ay)?|enough|ready|done|possible|easy)|work|have been|pass)\b"
)
# Code and what programs print: a test's name, a comment, a message in quotation marks, an error.
_CODE = re.compile(
    r"\w\([\"'`]|=> ?[{(]| := |;$|\\n|\": ?[\"{\[]|^[✓✔✗×○]|^(?://|/\*)|^(?:func|def|class|return|const) "
    r"|^(?i:error|fatal|panic|exception): "
)
# What a skill or a tool says of itself in a list of them.
_OF_ITSELF = re.compile(
    r"(?i)\W*(?:[\w:.-]{1,60}: )?(?:this (?:skill|tool|command|agent|mode)\b"
    r"|use (?:(?:this|it)(?: \w+)? )?(?:proactively )?(?:when|after|if|for)\b)"
)
# What only looks like one: a report of what someone does, and politeness.
_TOLD = re.compile(
    r"(?i)(?:\b(?:i|we|you|they|it|he|she|that|this|which|who|there|these|those|also|still|really|currently|is|are|was"
    r"|were|has|have|had|be|been|will|would|why|not|\w+s)|n['’]t) $"
)
_ORDER = re.compile(r"(?i)(?:^|[.!?,;:(|*\n>-]|\b(?:please|and|but|so|then|just|also|or)) *$")
# "Keep in mind …" tells something, "it may not be needed" weighs, "I'd prefer that" points elsewhere.
_REMINDS = re.compile(r"(?i)\W*keep in mind\b")
_GUESS = re.compile(r"(?i)\b(?:this|that|it|which|there|they|and|or) $")
_POINTS = re.compile(r"(?i) (?:it|that|this)\W*$")
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
    if form[-1] in "?？" or _CODE.search(form) or (cue in ("never", "always") and _TOLD.search(before)):
        return False
    if cue in ("do not", "don't", "don’t", "dont"):
        return _ORDER.search(before) is not None
    if (cue == "should" or _WEAK.match(cue)) and _OF_ITSELF.match(form):
        return False
    if cue == "should":
        if match.string[max(0, match.start() - 1) : match.start()] in ("'", '"', "`"):
            return False
        asks = _ASKS.search(text, max(start, match.start() - 60), match.start())
        return not asks and not _HOPES.match(text, match.end())
    if cue == "may not be":
        return _GUESS.search(before) is None
    if cue[:6] == "prefer" and _POINTS.match(text[match.end() : start + len(form)]):
        return False
    if cue[:3] == "no " and cue != "no need to" and not _WEAK.match(cue):
        return _ORDER.search(before) is not None
    return not _WEAK.match(cue) or (opens_with(form) in ORDERS and not _REMINDS.match(form))


def _start_clause(match: re.Match[str], start: int) -> int:
    """ "…, it needs to …" is a clause of its own."""
    return match.start() if _CLAUSE.match(match.group()) else start
