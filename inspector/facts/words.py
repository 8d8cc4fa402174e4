"""What people and models settle in sentences: rules and decisions.

Each finder walks one text and gives (start, end, form). None backtracks without bound: a cue is looked for
first, and what stands around it is read at most 400 characters far. An automaton over all literals at once
(Aho-Corasick) was not taken: the literals are few, each search runs at memory speed, and most of the time
goes into the hits, not into the search.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .paths import LONGEST

Hit = tuple[int, int, str]

_RULE = re.compile(
    r"(?i)\b(?:never|always|must|do not|don['’]t|should not|shouldn['’]t|make sure|be sure to|ensure that"
    r"|only use|avoid|no need to|(?:it|they|this) needs? to|(?:only|don['’]t|do not) want"
    r"|should only|has to\b|unless|not allowed|at most|no more than|prefer(?:ably)?\b|important:"
    r"|without (?:changing|touching|breaking|using|adding)|"
    r"use [^.\n|]{1,120}(?:, not | instead of | rather than ))"
)
_RULE_CUES = ("never", "always", "must", "not", "n't", "n’t", "make sure", "be sure", "ensure", "only use",
              "avoid", "no need", "should", "has to", "unless", "at most", "no more", "prefer", "important:",
              "not allowed", "need to", "needs to", "want", "without", "use ")  # fmt: skip
# What only looks like one: a report of what someone does, and politeness.
_TOLD = re.compile(
    r"(?i)(?:\b(?:i|we|you|they|it|he|she|that|this|which|who|there|these|those|also|still|really|is|are|was"
    r"|were|has|have|had|be|been|will|would|why|\w+s) )$"
)
_ORDER = re.compile(r"(?i)(?:^|[.!?,;:(|*\n>-]|\b(?:please|and|but|so|then|just|also|or)) *$")
_CHOICE = re.compile(
    r"(?i)\b(?:instead of|rather than|instead\b|(?:is|are) (?:cleaner|simpler|better|safer|best)"
    r" (?:because|since|as)\b"
    r"|decided (?:to|on|against|not)\b|decision: |going with\b"
    r"|(?:we|i)(?:['’]ve)? (?:chose|picked|opted|settled)\b"
    r"|(?:let me|let['’]s|i['’]ll|we['’]ll|i will|(?:i|we) should|(?:i|we) need to) [^.\n]{3,160}"
    r" (?:because|since|as (?:it|they|we|the|th[ei]s|that))\b"
    r"|let['’]s (?:use|keep|skip|drop|stick with|go with)\b"
    r"|(?:given|since|because) [^.\n]{3,200},"
    r" (?:i['’]ll|we['’]ll|let['’]s|let me|(?:i|we) (?:should|need to))\b)"
)
_CHOICE_CUES = ("instead", "rather than", "because", "since", " as", "going with", "decided", "decision: ",
                "chose", "picked", "opted", "settled", "let's", "let’s", "let me", "given")  # fmt: skip
_SETTLES = re.compile(
    r"(?i)\b(?:i['’]ll|i will|i['’]m going|let me|let['’]s|we['’]ll|we will|should|need to|must|use[sd]?"
    r"|using|switch|replac(?:e|ing)\b|updat(?:e|ing)\b|keep|prefer|now|chose|decided|opted|settled|picked"
    r"|going with|is (?:cleaner|simpler|better))"
)
_WEIGHS = re.compile(
    r"(?i)\b(?:could|might|maybe|perhaps|whether|would you|should we|should i|do you"
    r"|option [a-z1-9]:|or should|consider(?:ing)?"
    r"|let me (?:just |also |now |first )*(?:check|see|look|examine|ask|run|verify|read|understand|find"
    r"|search|investigate|trace|debug|think))\b"
)
_STOP = re.compile(r"[.!?](?=[\s\"')*<]|$)|\n| \| |</?[a-z][\w-]{2,40}>")
_LEAD = " \t\r\n-*>•#0123456789.|"


def find_rules(text: str) -> Iterator[Hit]:
    """Sentences that tell what must, must not, or must always be done."""
    for match, start, end, form in _sentences(text, _RULE, _RULE_CUES):
        cue = match.group().lower()
        before = text[max(start, match.start() - 16) : match.start()]
        if form[-1] == "?" or (cue in ("never", "always") and _TOLD.search(before)):
            continue
        if cue in ("do not", "don't", "don’t") and not _ORDER.search(before):
            continue
        yield start, end, form


def find_decisions(text: str) -> Iterator[Hit]:
    """Sentences that settle on something, with the reason or what it is preferred to."""
    for _, start, end, form in _sentences(text, _CHOICE, _CHOICE_CUES):
        if form[-1] != "?" and _SETTLES.search(form) and not _WEIGHS.search(form):
            yield start, end, form


def _sentences(
    text: str, pattern: re.Pattern[str], cues: tuple[str, ...]
) -> Iterator[tuple[re.Match[str], int, int, str]]:
    """(cue, start, end, form) of every sentence with a cue; one in brackets stands by itself."""
    until = -1
    for match in _matches(text, pattern, cues):
        if match.start() < until:
            continue
        start = max(0, match.start() - LONGEST // 2, until)
        for stop in _STOP.finditer(text, start, match.start()):
            start = stop.end()
        stop_after = _STOP.search(text, match.end(), start + LONGEST)
        until = stop_after.end() if stop_after else min(len(text), start + LONGEST)
        end = until
        opened = text.rfind("(", start, match.start())
        if opened >= 0 and text.find(")", opened, match.start()) < 0:
            closed = text.find(")", match.end(), until + 1)
            start, end = opened + 1, closed if closed >= 0 else until
            until = end + 1
        if match.group()[:3].lower() in ("it ", "the", "thi"):
            start = match.start()  # "…, it needs to …" is a clause of its own
        sentence = text[start:end]
        start += len(sentence) - len(sentence.lstrip(_LEAD))
        end = start + len(text[start:end].rstrip(" \t\r\n|:"))
        form = " ".join(text[start:end].split())
        if len(form) > 8:
            yield match, start, end, form


def _matches(text: str, pattern: re.Pattern[str], cues: tuple[str, ...]) -> Iterator[re.Match[str]]:
    """The pattern's matches, looked for only in lines that hold a cue."""
    at = 0
    for line in text.split("\n"):
        low = line.lower()
        if any(cue in low for cue in cues):
            yield from pattern.finditer(text, at, at + len(line))
        at += len(line) + 1
