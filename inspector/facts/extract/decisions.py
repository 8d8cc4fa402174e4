"""Decisions in words: what is settled on, with its reason or with what it is preferred to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...session.toolcalls.call_paths import names
from .sentences import ORDERS, Hit, find_sentences, opens_with

_CHOICE = re.compile(
    r"(?i)\b(?:instead of|rather than|instead\b|because\b|since\b|as (?:it|they|we|the|th[ei]s|that)\b"
    r"|so that\b|to (?:avoid|prevent)\b|given\b|(?:is|are) (?:cleaner|simpler|better|safer|best)\b"
    r"|(?:(?:we|i|you|user)(?:['’]ve| have)? |(?<![a-z\d] ))(?:decided (?:to|on|against|not)|chose|picked"
    r"|opted|settled on)\b|decision: |going with\b|let['’]s (?:use|keep|skip|drop|stick with|go with)\b"
    r"|so (?:i['’]ll|we['’]ll|let['’]s|i (?:will|should)|we (?:will|should))\b)"
)
_CUES = (
    "instead", "rather than", "because", "since", " as ", "so that", "avoid", "prevent", "given", "cleaner",
    "simpler", "better", "safer", "best", "going with", "decided", "decision: ", "chose", "picked", "opted",
    "settled", "let's", "let’s", "so i", "so we", "so let",
)  # fmt: skip
_BY_ITSELF = re.compile(r"(?i).*(?:decided|decision|going with|chose|opted|settled|picked)|let")
_AGAINST = re.compile(r"(?i)instead|rather than")
_SETTLES = re.compile(
    r"(?i)\b(?:i['’]ll|i will|i['’]m going|let me|let['’]s|we['’]ll|we will|should|need to|must|use[sd]?"
    r"|using|switch|replac(?:e|ing)\b|updat(?:e|ing)\b|keep|prefer|chose|decided|opted|settled|picked"
    r"|going with|is (?:cleaner|simpler|better))"
)
# A reason alone explains; with what is done for it, or is to be done, it settles.
_TAKES = re.compile(
    r"(?i)\b(?:i['’]ll|i will|i['’]m going to|i['’]m (?:keeping|using|leaving|skipping|adding)|let me"
    r"|let['’]s|we['’]ll|we will|(?:i|we|you) (?:(?:can|could) (?:just|simply|safely)|should|need to|must"
    r"|have to|kept|keep|chose|use[d]?|went|picked|skipped?|left|moved|made|put|changed|switched|replaced"
    r"|decided|opted|prefer)"
    r"|(?:better|best|safer|safe|fine|cleaner|simpler|simplest|easier|makes sense|not worth|no need) to"
    r"|(?:right|best|better|simplest|cleanest|safest) (?:call|approach|choice|fix|option|way|solution|place)"
    r"|(?:is|are) (?:cleaner|simpler|better|safer|best|preferable)"
    r"|should (?:use|go|stay|live|keep|remain|not))\b"
)
_WEIGHS = re.compile(
    r"(?i)\b(?:might|maybe|perhaps|whether|either|asking (?:me|why|if|for)|wondering|would you|should we"
    r"|should i\b(?! just)|do you|could(?! (?:just|simply))|(?:cleaner|simpler|better|safer) but"
    r"|option [a-z1-9]:|or should"
    r"|consider(?:ing)? (?:that|if|how|adding|using)"
    r"|let me (?:just |also |now |first |try |quickly )*(?:check|see|look|examine|ask|run|verify|read"
    r"|understand|find|search|investigate|trace|debug|think|get|list|wait|continue|explore|review|view)\b"
    r"|(?:i|we) (?:also |now |still )?(?:need|have|want) to (?:check|see|figure|trace|understand|verify|find"
    r"|look|investigate|know|re-?read|read|debug|think|test|confirm)\b)"
)
_DONE = names(
    "took kept used chose moved made left switched replaced removed skipped renamed reverted dropped"
)
_LOOKS = names(
    "check look verify read find note run re-run rerun test review wait ask search support contain"
)
_JOINT = re.compile(r", and |; | — | – ")


def find_decisions(text: str) -> Iterator[Hit]:
    """Sentences that settle on something, with the reason or what it is preferred to.

    >>> [form for _, _, form in find_decisions("It fails because it is old. I'll skip it since it is old.")]
    ["I'll skip it since it is old."]
    """
    return find_sentences(text, _CHOICE, _CUES, _is_choice, _start_clause)


def _is_choice(match: re.Match[str], start: int, form: str) -> bool:
    if form[-1] == "?" or _WEIGHS.search(form):
        return False
    verb = opens_with(form)
    if verb in _DONE or (verb in ORDERS and verb not in _LOOKS):
        return True
    sure = _BY_ITSELF.match(match.group()) or _AGAINST.match(match.group())
    return (_SETTLES if sure else _TAKES).search(form) is not None


def _start_clause(match: re.Match[str], start: int) -> int:
    """What is listed before "… uses x instead of y" is settled, or told, by itself."""
    if _AGAINST.match(match.group()):
        for joint in _JOINT.finditer(match.string, start, match.start()):
            if _SETTLES.search(match.string, joint.end(), match.start()):
                start = joint.end()
    return start
