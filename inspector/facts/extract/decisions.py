"""Decisions in words: what is settled on, with its reason or with what it is preferred to."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...session.toolcalls.call_paths import names
from .sentences import ORDERS, Hit, find_sentences, make_overlap, opens_with
from .typed import typed_sentences

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


_PICKS = (
    "go|use|keep|drop|store|have|make|roll|leave|split|remove|move|change|rename|call|switch|replace|revert|add|put"
    "|stick|skip|separate|define|merge|wire|limit|set|bump|push|hide|extract|inline|delete|treat"
)
"""Verbs that a person settles something with; "check", "look" and "run" only say what to do next."""
_LETS = re.compile(
    rf"(?i)(?:^|[,;(:–—-]|\b(?:and|but|so|then|yeah|yes|ok(?:ay)?|nah|no|think|feel|ah|well)) ?"
    rf"let['’]s (?:just |simply |maybe |completely |try |go ahead and )*(?:{_PICKS}|stay with|name|do"
    rf" (?!it$|it\b|this\b"
    rf"|that\b)|do (?:it|this|that) \w+"
    rf"|\w+ [^.?!\n]{1, 60}\bfor now\b|tackle (?:\d|[a-z]\b)|adding|using|making|keeping|doing)"
)
_THINKS = re.compile(
    rf"(?i)\bi (?:also |still |just |do )*(?:think|feel|figure|believe|say|vote) (?:that )?(?:we|it"
    rf"|you) (?:should|can|could)"
    rf" (?:also |just |simply |probably |at least |always )*(?:{_PICKS}|signal|log|do)\b"
    r"|\bi (?:think|feel|say|guess) [^.?!\n]{1,40} (?:is|are|would be|seems?) (?:(?:the )?(?:right|best"
    r"|better|simplest|cleanest)"
    r"|to+ (?:much|big|many|complex|complicated|risky|small|slow))"
    r"|\bthat['’]s the right (?:thing|approach|way|call|choice|place)"
)
_WANTS = re.compile(
    rf"(?i)\b(?:i['’]d|i would|we['’]d)(?: \w+)? (?:like (?:it |this |that |them |us |you )?to"
    rf"|prefer(?! that$)|rather|go (?:with|for))"
    rf" ?(?!know\b|see\b|look\b(?! at  )|understand|ask|check|hear|test|discuss|try out)\S"
    rf"|\b(?:i|we) (?:actually |really |do |just )*want (?:to (?:{_PICKS}|implement|do)\b|(?:it|this|that"
    rf"|them) (?:to|in|as)\b)"
    r"|\bi wouldn['’]t (?:do|add|use|keep|change|touch|bother|go)\b|\bi['’]ll (?:handle|take care|take"
    r"|do) (?:it|that|this|those)\b"
)
_GIVEN = re.compile(
    rf"(?i)\W*(?:no|nah|nope|yes|yeah|yep|ok(?:ay)?|sure|sounds good|agreed?|right)\b[ ,!.:-]+(?:then "
    rf"|please |just |so |but |and |let['’]s )*"
    rf"(?:{_PICKS}|do nothing|do (?:both|neither|all|option|the|\d|[a-d]\b)|neither|both|option|that should"
    rf"|it should|i want|we want)\b"
    rf"|\W*(?:just |maybe |then |rather )+(?:{_PICKS})\b|\W*(?:put|keep|leave|make|move|store|use"
    rf"|call|name) (?:it|them|this|that|those) \w"
    rf"|\W*(?:\w+[,:] )?we can (?:also |just |simply )+(?:{_PICKS})\b|\W*(?:[a-d]|\d)\) (?:i|we|it['’]s|let"
    rf"|use)\b"
    r"|\W*(?:option|variant|approach|plan) (?:\d|[a-d])\b(?! (?:is|has|or))|\W*(?:go|going) (?:with|for)\b"
    r""
)
_ONE = (
    r"(?:the )?(?:first|second|third|last|latter|former|other|simple|simpler|safe|safer|short|long|old|new"
    r"|[a-d]|\d)(?:,? (?:and|&|\+|then) (?:the )?(?:first|second|third|last|[a-d]|\d))*(?: (?:one|option"
    r"|approach"
    r"|variant|way|choice|solution|idea|version|fix|name))?"
)
# An answer that names what is taken, in a few words.
_NAMED = re.compile(
    rf"(?i)\W*(?:(?:yes|yeah|ok(?:ay)?|then|so|just|no|nah)[ ,]+)*(?:(?:let['’]s )?(?:do|take|use|skip|drop"
    rf"|pick|choose"
    rf"|go for) )?(?:(?:option|variant|approach|plan) )?(?:{_ONE}|both(?: of (?:them|those|these))?"
    rf"|neither(?: of (?:them|those|these))?|all of (?:them|those|these)|all (?:three|four)|none of (?:them"
    rf"|those|these))"
    rf"(?: please| for now| then| instead)*\W*$"
)
_TAKEN = re.compile(
    r"(?i)\b(?:we|i)(?:['’]ll| will) (?:just |simply |then )?"
    r"(?:use|keep|go with|take|stick|stay with|drop|call)\b"
    r"|\bi (?:would |['’]d |do |still )?(?:strongly |much |really )*(?:prefer|like) [^.?!\n]{1,60}? "
    r"(?:over|to|more|better|than)\b"
    r"|\bi['’]m (?:fine|ok(?:ay)?|happy|good|cool) with (?!either|whatever|any)"
    r"|\bgo ahead with\b|\byes (?:to|for|on) [^.?!\n]{1,40}\bno (?:to|for|on)\b"
    r"|\bwe can (?:drop|skip|remove|leave|ignore)\b"
)
_TAKEN_CUES = ("'ll", "’ll", " will ", "prefer", " like ", "i'm ", "i’m ", "go ahead with", "yes ", "we can ")
_TAKEN_FIRST = re.compile(
    r"(?i)\W*(?:please )?(?:keep|leave|drop|skip|ditch|ship) "
    r"(?:the|it|that|this|both|all|our|old|existing|\d)\b"
    rf"|\W*(?:{_ONE}) (?:sounds|looks|seems|feels) (?:\w+ )?"
    r"(?:better|best|good|right|cleaner|simpler|safer)\b"
    r"|\W*(?:(?:ok(?:ay)?|well|then|so)[ ,]+)*we (?:do not|don['’]t) need \w"
)
_STEPS = re.compile(
    r"(?i)\b(?:check|look|see|test|review|discuss|think|talk|understand|investigate|read|verify"
    r"|try something)\b"
)
_MAPPED = re.compile(r"\S[^\n]{0,200}? (?:->|→|=>) \S[^\n]{0,80}$")
_FEWEST = 3
"""So many lines of "this -> that" below each other are a list of choices; one alone may show anything."""


def find_choices(text: str) -> Iterator[Hit]:
    """Sentences in which a person settles on something, with or without a reason; lists of "this -> that".

    A question is none, nor is what is only to be done next.

    >>> [form for _, _, form in find_choices("It is slow. Let's go with sqlite. Let's check it.")]
    ["Let's go with sqlite."]
    """
    seen: list[tuple[int, int]] = []
    for start, end, form in typed_sentences(text):
        if _settles(form):
            seen.append((start, end))
            yield start, end, form
    for start, end in _find_mapped(text):
        seen.append((start, end))
        yield start, end, " ".join(text[start:end].split())
    overlaps = make_overlap(seen)
    for start, end, form in find_decisions(text):
        if not overlaps(start, end) and not _NOT.search(form):
            yield start, end, form


_NOT = re.compile(r"(?i)\blet['’]s not\b|\bconsider\b|\bthe comment\b")


def _settles(form: str) -> bool:
    """Whether a person settles something in a sentence."""
    if form[-1] in "?？" or _NOT.search(form):
        return False
    if any(one.search(form) for one in (_LETS, _THINKS, _WANTS)):
        return True
    if _NAMED.match(form) or _TAKEN_FIRST.match(form):
        return True
    low = form.lower()
    if any(cue in low for cue in _TAKEN_CUES) and _TAKEN.search(form):
        return True
    return _GIVEN.match(form) is not None and not _STEPS.search(form)


def _find_mapped(text: str) -> Iterator[tuple[int, int]]:
    """Lines of "this -> that", where several stand below each other."""
    if not ("->" in text or "→" in text or "=>" in text):
        return
    run: list[tuple[int, int]] = []
    at = 0
    for line in [*text.split("\n"), ""]:
        words = line.strip(" \t-*")
        if _MAPPED.match(words) and len(words) < 300:
            start = at + line.find(words)
            run.append((start, start + len(words)))
        else:
            yield from run if len(run) >= _FEWEST else ()
            run = []
        at += len(line) + 1
