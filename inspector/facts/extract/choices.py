"""What a person chooses: their pick between alternatives, or their answer to a question put.

A choice names what is taken. It is read from the person's words alone, in these ways: an option by its number
or place ("1 and 3", "the latter", "B) …"); what they go with, keep, drop or go back to ("let's keep the
map", "yes, drop it", "we'll use sqlite"); which they hold for better ("I'd prefer a map", "I think 2 is the
right one"); what they say was decided; one thing with the other beside it ("keep a rather than b"); and
three or more lines of "this -> that". An answer to a tool's question is a choice in whatever words: the
reader of segments names it, not this file.

None are a wish ("I would like to sleep", "I want a table"), work to be done ("let's add a test", "let's move
to #91"), a report, a question, and bare consent. It costs the choices that are worded as a task ("add it to
the handler") or as a wish, and answers in plain words ("Redis") to a question that the model asked in its
text, as what was asked is not looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .sentences import Hit, holds_any, may_hold
from .typed import typed_sentences

_SOME = r"(?:the|it|this|that|these|those|them|both|all|our|my|your|old|existing|\d)\b"
# Verbs that settle, with what makes work of some of them: "let's go through it", "let's make a plan".
_SETTLES = (
    rf"(?:use\b(?! [^.?!\n]{{1,80}} to (?:find|check|see|test|run|make|figure|look|generate|improve"
    rf"|verify)\b)"
    rf"|keep\b(?! (?:going|working|trying|looking|at it|an eye|in mind|track))|drop|skip|park|postpone|defer"
    rf"|store|leave|remove|stick|stay"
    rf"|revert|roll (?:it |this |that )?back|go (?:with(?!out)|for|back|\d)|have (?!a (?:look|chat|go|think))"
    rf"|put (?!together|up)|make (?!(?:it|this|that) (?:work|happen|pass|run)\b){_SOME}|split|separate|limit"
    rf"|hide|treat|call (?!it a day)|name|switch|replace"
    rf"|set (?!up)|(?:move|rename|change|push|bump) (?!on |forward |ahead )(?:[\w`'’\"-]+ ){{1,4}}(?:to|into"
    rf"|out)\b|wire"
    rf"|tackle (?:\d|[a-z]\b)|do (?:(?:the )?(?:\w+ )?\d|nothing|both|neither|all|option|[a-d]\b)"
    rf"|do (?:it|this|that|these|them|those) (?:in|as|with|on|by|via|at|like|instead|separately)\b)"
)
_LETS = re.compile(
    rf"(?i)\blet['’]s (?:just |simply |maybe |completely |try |rather |instead |go ahead and )*"
    rf"(?:{_SETTLES}|\w+ [^.?!\n]{{1,60}}\b(?:for now|instead)\b|(?:using|making|keeping)\b)"
)
_BETTER = r"(?:right|best|better|simplest|cleanest|cleaner|simpler|nicer|safer|preferable|overkill)"
_THINKS = re.compile(
    rf"(?i)\bi (?:also |still |just |do )*(?:think|feel|figure|believe|say|vote) (?:that )?(?:we|it|you)"
    rf" (?:should|can|could) (?:also |just |simply |probably |at least |always )*{_SETTLES}"
    rf"|\b(?:but|so|then|instead) i (?:think|feel|say) (?:that )?we should\b"
    rf"|\bi (?:think|feel|say|guess) (?!(?:it|this|that) )[^.?!\n]{{1,40}} (?:is|are|would be|seems?"
    rf"|looks?) (?:(?:the |much |a lot )?"
    rf"{_BETTER}|to+ (?:much|big|many|complex|complicated|risky|small|slow))\b"
    r"|\bthat['’]s the right (?:thing|approach|way|call|choice|place)"
)
_PREFERS = re.compile(
    r"(?i)\b(?:i|we)(?:['’]d| would) (?:\w+ )?(?:prefer(?! that$)|rather|go (?:with|for)) ?\S"
    r"|\bi (?:strongly |much |really |still |do )*(?:prefer|like) [^.?!\n]{1,60}? (?:over|more than|better)\b"
    r"|\bi (?:strongly |much |really |still |do )*prefer (?!that\b|not\b|it if)\S"
    r"|^\W*(?:would |rather )?prefer \S"
    r"|\bi wouldn['’]t (?:do|add|use|keep|change|touch|bother|go)\b"
    r"|\bi['’]m (?:fine|ok(?:ay)?|happy|good|cool) with (?!either|whatever|any)"
    r"|\byes (?:to|for|on) [^.?!\n]{1,40}\bno (?:to|for|on)\b"
)
_TAKES = re.compile(
    r"(?i)\b(?:we|i)(?:['’]ll| will) (?:just |simply |then )?(?:use|keep|go with|take|stick|stay with|drop)\b"
    r"(?! (?:this|these|it|them|those)[^.?!\n]* to )|\bi['’]ll (?:handle|take care of) (?:it|that|this"
    r"|those)\b"
    r"|\bgo ahead with\b|\bwe can (?:also |just |simply )*(?:drop|skip|remove|leave|ignore)\b"
    r"|\b(?:i|we)(?:['’]ve| have)? (?:now |just |finally )?(?:decided|chose|picked|opted|settled on)\b"
    r"|\bgoing with\b|\bdecision: |\bis (?:a |the )?(?:fine|good|better|best|right) (?:choice|option)\b"
    r"|\b(?:try|take|do|choose|pick|use|prefer|want) (?:options?|approach|variant|solution|choice) (?:\d"
    r"|[a-d])\b"
    r"|(?:^\W*|\band |[,.] |\bplease |\bjust )(?:revert|roll back|go back) to\b"
    r"|\b(?:implement|use|do|try|take|like|go with) (?:this|that|your) (?:\w+ )?(?:approach|option|suggestion"
    r"|idea|solution"
    r"|recommendation)\b"
    r"|\b(?:try|take|do|choose|pick|use|prefer|go with) the (?:first|second|third|last|other|latter|former)"
    r" (?:one|option|approach|way|solution|variant)\b"
)
# The mark of an answer: "no, …", "B) …", "I actually …". Behind one a wish picks too.
_ANSWERS = re.compile(
    r"(?i)\W*(?:(?:no|nah|nope|yes|yeah|yep|agreed?)\b[ ,!.:-]+(?:then |please |just |so |but |and |again )*"
    r"|[a-d]\) ?)"
)
_CONSENTS = re.compile(
    r"(?i)\W*(?:ok(?:ay)?|sure|sounds good|right|alright|fine(?: with me)?|makes sense|perfect|great|good"
    r"|cool"
    r"|(?:as|like) you (?:suggested|proposed|said|recommended))\b[ ,!.:-]+(?:then |please |just |so )*"
)
_WANTS = re.compile(
    r"(?i)\b(?:i|we)(?:['’]d| would)? (?:actually |really |do |just )*(?:want|like) (?:it |this |that "
    r"|them )?to "
    r"(?!know\b|see\b|look\b|understand|ask|check|hear|test|discuss|try\b)\S"
)
_ACTUALLY = re.compile(r"(?i)\W*(?:i|we) actually (?:do )?want to (?!know\b|see\b|look\b|understand|check)\S")
_GIVEN = re.compile(
    rf"(?i){_SETTLES}|(?:add|update|write|define|extract|inline|delete|merge|fix|extend|integrate|include"
    rf"|apply|support|combine"
    r"|start with) \S"
    r"|(?:neither|both|option|that should|it should|this should|it['’]s)\b"
)
_BARE = re.compile(
    rf"(?i)\W*(?:just |maybe |then |rather )+(?:{_SETTLES}|define|(?:push|put|set|move) it )"
    r"|\W*(?:put|store|leave|keep|name|call) (?:it|them) (?!up\b|to \w+ (?:and|the)\b)\w"
    r"|\W*(?:please )?do (?:all|both|neither|nothing|option|\d)\b"
    rf"|\W*(?:please )?(?:leave|drop|skip|ditch|park) {_SOME}"
    r"|\W*(?:please )?keep (?:(?:the|its|our|my) )?(?:old|existing|current|original|present|first|second|last"
    r"|both|all|\d|it (?:as|in)|as|in place)\b"
    r"|\W*(?:please )?keep [^,.?!]{2,40},? (?:and )?(?:drop|remove|delete|lose) "
    r"|\W*(?:option|variant|approach|plan) (?:\d|[a-d])\b(?! (?:is|has|or|and|does|did|doesn|will|would|can"
    r"|looks|seems|fails|was|in)\b)|\W*(?:please )?(?:go|going) (?:with|for)\b"
    r"|\W*(?:[a-d]|\d)\) (?:it['’]s|let|use)\b"
)
_ONE = (
    r"(?:the )?(?:first|second|third|last|latter|former|other|simple|simpler|safe|safer|short|long|old|new"
    r"|[a-d]|\d)(?:(?:,|,? (?:and|&|\+|then)) ?(?:the )?(?:first|second|third|last|[a-d]|\d))*(?: (?:two"
    r"|three))?"
    r"(?: (?:one|option|approach|variant|way|choice|solution|idea|version|fix|name)(?: (?:\d|[a-d]))?)?"
)
# An answer that names what is taken, in a few words.
_NAMED = re.compile(
    rf"(?i)\W*(?:(?:yes|yeah|ok(?:ay)?|then|so|just|no|nah)[ ,]+)*"
    rf"(?:(?:let['’]s )?(?:do|take|use|skip|drop|pick|choose|go (?:for|with)) )?"
    rf"(?:(?:option|variant|approach|plan|solution|version) )?(?:{_ONE}"
    rf"|(?:both|neither|all|none)(?: of (?:them|those|these))"
    rf"|both|neither|all (?:of (?:it|them)|two|three|four|five|six))"
    rf"(?:,? please| for now| then| instead)*"
    rf"(?:\W*$|, (?:please|do|but|and|because|it['’]s|that['’]s|since|as|with|then|let)\b)"
)
_RATED = re.compile(
    rf"(?i)\W*(?:{_ONE}|(?:option|approach|variant|solution) (?:\d|[a-d])) (?:sounds|looks|seems|feels"
    rf"|is) (?:\w+ )?"
    r"(?:better|best|good|fine|right|cleaner|simpler|safer)\b"
)
_IS_BETTER = re.compile(
    r"(?i)\W*(?!(?:it|this|that|they|he|she|which|what|everything|all|now)\b)[\w./`'-]+ (?:is|are|sounds"
    r"|looks|seems)"
    r" (?:much |a lot |probably |way )?(?:better|cleaner|simpler|safer|best|nicer|preferable)"
    r"(?: (?:here|for|because|since|as|than)\b|\W*$|, )"
)
_BESIDE = re.compile(
    r"(?i)\W*(?:(?:please|so|then|and|also|but|just|ok(?:ay)?|yes|no)\W+)*(?:use|keep|go with|pick|take"
    r"|choose|call|stick|set|rename|switch|change|make (?:it|them|this|that))\b"
    r"[^.?!\n]{1,120}\b(?:instead\b|rather than\b|over the\b)"
    r"|[^.?!\n]{0,60}\bshould(?: not|n['’]t) \w[^.?!\n]{1,60}, but (?:just|rather|simply) \w"
)
_ALONE = re.compile(r"(?:\A|\x1f)\s*([a-dA-D]|\d)[.)]?\s*(?=\Z|\x1f)")
_STEPS = re.compile(
    r"(?i)\b(?:check|look|see|review|discuss|think|talk|understand|investigate|read|verify|try something)\b"
)
_NOT = re.compile(r"(?i)\blet['’]s not\b|\bconsider\b|\bthe comment\b|\b(?:did|do|does|didn['’]t) you\b")
_NOT_CUES = ("let", "consider", "the comment", " you")
_CUES = (
    "let", "think", "feel", "say", "guess", "figure", "believe", "vote", "right", "prefer", "rather", "like",
    "want", "'ll", "’ll", "will", "go ", "going", "we can", "decid", "decision", "chose", "picked", "opted",
    "settled", "revert to", "back to", "suggestion", "idea", "recommendation", "choice", "option", " one",
    " way", "approach", "variant", "solution", "i'm", "i’m", "i'd", "i’d", "would", "yes to", "yes on",
    "yes for",
)  # fmt: skip
_MAPPED = re.compile(r"\S[^\n]{0,200}? (?:->|→|=>) \S[^\n]{0,80}$")
_FEWEST = 3
"""So many lines of "this -> that" below each other are a list of choices; one alone may show anything."""


def find_choices(text: str) -> Iterator[Hit]:
    """Sentences in which a person picks or answers; lists of "this -> that".

    >>> [form for _, _, form in find_choices("Is it? Let's go with sqlite. I want a table. Let's check.")]
    ["Let's go with sqlite."]
    """
    for alone in _ALONE.finditer(text):  # an answer of one letter or number is the whole message
        yield alone.start(1), alone.end(1), alone[1]
    for start, end, form in typed_sentences(text):
        if _chooses(form):
            yield start, end, form
    for start, end in _find_mapped(text):
        yield start, end, " ".join(text[start:end].split())


def _chooses(form: str) -> bool:
    """Whether a person picks or answers in a sentence."""
    if form[-1] in "?？" or (may_hold(form, _NOT_CUES) and _NOT.search(form)):
        return False
    if _NAMED.match(form) or _RATED.match(form) or _IS_BETTER.match(form) or _BESIDE.match(form):
        return True
    low = form.lower()
    if holds_any(low, _CUES):
        if any(one.search(form) for one in (_LETS, _THINKS, _PREFERS, _TAKES)) or _ACTUALLY.match(form):
            return True
    if (answer := _ANSWERS.match(form)) is not None:
        said = form[answer.end() :]
        return not _STEPS.search(form) and (_GIVEN.match(said) or _WANTS.match(said)) is not None
    if (consent := _CONSENTS.match(form)) is not None:
        said = form[consent.end() :]
        return re.match(_SETTLES, said, re.IGNORECASE) is not None and not _STEPS.search(form)
    return _BARE.match(form) is not None and not _STEPS.search(form)


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
