"""Decide whether the text around a statement may change it: limit, reject, postpone or attribute it.

A sentence repeats a statement only if all of its words are understood. A summary introduces a rule with words
of few kinds (FRAME). Any other word next to it may change it: "the old guide says to …", "… in the test
build", "… was turned down". Labels and headings have words of their own (_LABELS): "Rejected ideas:".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from unicodedata import category

from .force import ENDED, EXCEPTIONS
from .indexed_text import is_same, is_subject
from .terms import Term, read_terms
from .vocabulary import LIGHT, is_general, split_words, stem

FRAME = LIGHT | frozenset(
    map(
        stem,
        split_words(
            """
            user person human assistant agent model claude rule constraint requirement note important
            preference instruction instruct explicit explicitly request ask remain stand standing emphasize
            emphasise stress insist remind policy convention decision decide agree key critical must ensure
            mandatory required needed remember guideline specify state follow apply using ever before prior
            after until once since because off length size number count rest session conversation task
            relevant more less fewer long large big high low message turn add interrupt reply clarify
            mention repeat respond confirm correct
            """
        ),
    )
)
"""Stems of words with which a summary introduces or restates a rule."""
_LABELS = FRAME - frozenset(
    map(stem, split_words("before prior after until once since off more less fewer long large big high low"))
) | frozenset(
    map(
        stem,
        split_words(
            """
                key technical concept code section problem solve pending current next summary analysis
                analyze analyse chronologically through overview goal progress context info information
                latest first second third initial original main primary intent turn feedback style naming
                format formatting documentation docs general behaviour behavior process workflow plan
                knowledge critical active open-ended project repository repo environment setup git recent
                last exact word quote direction guide
                """
        ),
    )
)
"""Stems of words of a label or a heading that changes nothing below it."""
_ENDS = ".!?\n…·•"
_MODALS = frozenset(("would", "could", "might"))
_DEEPEST, _LONGEST, _REACH = 3, 80, 20_000
"""Headings that are read above a place, characters of the longest, and of the text that is searched."""
_QUOTATION = re.compile(r"\"[^\"\n]{1,2000}\"|“[^”\n]{1,2000}”")
_GOES_ON = re.compile(r"""["”'’»*_`)\]]+[ \t]*[a-z]|["”'’»*_`)\]]*[ \t]*[(,:;→–—-]""")
"""What follows a mark that does not end its sentence: '"Use tabs." was dropped', "Use tabs. (dropped)"."""
_CAUSE = stem("because")
_SPEECH = frozenset(map(stem, split_words("ask request require instruct specify mention state agree decide")))
_NUMBERED = frozenset(("turn", stem("message")))
_ANSWERS = frozenset(("ok", "okay"))
_BESIDE = 400
"""Characters of a line that are read on each side of a place."""
_APPROVING = frozenset("✅✓✔☑☐⚠★☆⭐📌❗🔑")
"""Signs of approval, and those that only point at a line."""
_FRAMES_AND_FACES = re.compile("[\u2500-\u25ff\U0001f600-\U0001f644\U0001f910-\U0001f92f]")
_OTHER_BOX = re.compile(r"(?<!\S)\[[-~!/<>]\]")
"""A check box of something that was cancelled, postponed or is in question."""
_BULLET = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_TITLE = re.compile(r"\s*(?:#{1,6}\s|\*\*[^*]+\*\*:?\s*$|__[^_]+__:?\s*$)")


def is_changed(
    text: str,
    start: int,
    terms: Sequence[Term],
    paired: AbstractSet[int],
    own: Sequence[Term],
    is_copy: bool = True,
) -> bool:
    """Return whether the sentence of a statement, or a heading above it, may change it.

    Args:
        text: The text.
        start: The offset of the statement.
        terms: The terms of the sentence.
        paired: Indices of those that are the statement's.
        own: The terms of the statement.
        is_copy: Whether the sentence has the statement's own words in their order.
    """
    terms, paired = _drop_quotations(text, start, *_drop_inner_marks(text, start, terms, paired))
    return (
        adds_words(terms, paired, own, is_listed(text, start), is_copy)
        or is_under(text, start, own)
        or is_marked(text, start)
    )


def goes_on(text: str, end: int) -> bool:
    """Return whether a sentence goes on behind the mark that ends at an offset.

    >>> goes_on('"Use tabs." was dropped', 10), goes_on("Use tabs. Fix the test.", 9)
    (True, False)
    """
    return _GOES_ON.match(text, end) is not None


def _drop_inner_marks(
    text: str, start: int, terms: Sequence[Term], paired: AbstractSet[int]
) -> tuple[Sequence[Term], AbstractSet[int]]:
    """Return the terms of a sentence without the marks in it that do not end it."""
    base = start - terms[min(paired)].start
    rest = [
        at
        for at, term in enumerate(terms)
        if at in paired or not _is_mark(term, _ENDS) or not goes_on(text, base + term.end)
    ]
    return [terms[at] for at in rest], {index for index, at in enumerate(rest) if at in paired}


def _drop_quotations(
    text: str, start: int, terms: Sequence[Term], paired: AbstractSet[int]
) -> tuple[Sequence[Term], AbstractSet[int]]:
    """Return the terms of a sentence without its check box, and without its other quotations if the statement
    is one of them: in a list of messages, each says something else."""
    first, last = min(paired), max(paired)
    base = start - terms[first].start
    if text[max(0, base + terms[0].start - 1) :][:3].casefold() == "[x]" and first > 0:
        terms, paired = terms[1:], {at - 1 for at in paired}
        first, last = first - 1, last - 1
    spans = [span.span() for span in _QUOTATION.finditer(text, max(0, base), base + terms[-1].end + 2)]
    low, high = start, base + terms[last].end
    own = next((span for span in spans if span[0] < low and high < span[1]), None)
    if own is None or re.search(r"\w", text[own[0] : low] + text[high : own[1]]):
        return terms, paired
    others = [(begin - base, end - base) for begin, end in spans if (begin, end) != own]
    rest = [
        at for at, term in enumerate(terms) if not any(begin <= term.start < end for begin, end in others)
    ]
    return [terms[at] for at in rest], {index for index, at in enumerate(rest) if at in paired}


def adds_words(
    terms: Sequence[Term],
    paired: AbstractSet[int],
    own: Sequence[Term],
    listed: bool = False,
    is_copy: bool = True,
) -> bool:
    """Whether a sentence adds something to a statement that may change it.

    Args:
        terms: The terms of the sentence.
        paired: Indices of those that are the statement's.
        own: The terms of the statement.
        listed: Whether the sentence is in a list of the user's messages (`is_listed`), in which a note in
            brackets after a message is not a part of it.

    >>> from .terms import read_terms
    >>> own, other = read_terms("Use tabs."), read_terms("The plan to use tabs was turned down.")
    >>> adds_words(other, {3, 4}, own), adds_words(read_terms("The user asked to use tabs."), {4, 5}, own)
    (True, False)
    >>> adds_words(read_terms("Rejected: use tabs."), {2, 3}, own)
    True
    """
    low, high = min(paired), max(paired)
    start = next((at + 1 for at in range(low - 1, -1, -1) if _is_mark(terms[at], _ENDS + ";")), 0)
    marks = _ENDS + (";(→–—-" if listed else ";")
    after = range(high + 1, len(terms))
    end = next((at for at in after if _is_mark(terms[at], marks) or terms[at].form == _CAUSE), len(terms))
    rest = next((at for at in range(end, len(terms)) if _is_mark(terms[at], _ENDS)), len(terms))
    colon = next((at for at in range(low - 1, start, -1) if _is_mark(terms[at], ":")), start)
    if _names_another(terms[start:colon], own):
        return True
    forms, sorts = {term.form for term in own}, {term.sort for term in own}
    requests = {at + step for at in range(start, end - 1) if _asks(terms, at) for step in (0, 1)}
    requests |= {
        at for at in range(start, low) if terms[at].form in _ANSWERS and _is_mark(terms[at + 1], ",")
    }
    added = [at for at in range(colon, end) if at not in paired | requests and terms[at].form not in forms]
    if any(terms[at].form in _MODALS or terms[at].sort in ("cancel", "soft") for at in added):
        return True
    permits = any(terms[at].sort == "permission" for at in added) and "permission" not in sorts
    if permits and not {term.sort for term in terms[start:end]} & {"strict", "negation"}:
        return True
    # "Files and folders are forbidden" is not "files are fine, folders are forbidden".
    if is_copy and _count_permissions(terms[low:end]) > _count_permissions(own):
        return True
    new = [at for at in added if is_subject(terms[at]) and terms[at].form not in FRAME]
    new = [at for at in new if terms[at].sort != "value" or terms[at - 1].form not in _NUMBERED]  # "turn 3"
    # "Removing it was dropped": the second word is no other word for the first.
    new = [at for at in new if terms[at].form in ENDED or not any(is_same(terms[at], item) for item in own)]
    # A general word inside a copy is harmless ("sent as email"); in front of it or behind it, it may change
    # the copy ("moved the rule 'use tabs'"). For "ask me first", "ask people first" names others.
    most = 0 if forms & {"i", "me"} else 1
    if len(new) > most or any(
        (is_copy and not low < at < high) or not is_general(terms[at].form) or terms[at].form in ENDED
        for at in new
    ):
        return True
    # "Was never asked to use tabs": the negation is of another verb.
    for at in paired:
        verb = next((to for to in range(at + 1, high) if is_subject(terms[to])), at)
        if terms[at].sort == "negation" and verb not in paired and terms[verb].form in _SPEECH:
            return True
    behind = [term.form for term in terms[high + 1 : end] if term.sort != "mark"]
    if behind in (["was"], ["were"]) or behind[:2] == ["is", "no"]:  # "… (was)", "… is no more"
        return True
    if rest < len(terms) and terms[rest].form == "?" and not requests and "?" not in forms:
        return True
    # "…; afterwards it is allowed", "…, which the user does not want".
    mark = next((at for at in range(high + 1, rest) if terms[at].sort == "mark"), rest)
    return any(term.sort == "negation" for term in terms[mark:rest]) or any(
        (term.sort in ("permission", "cancel") and term.sort not in sorts)
        or (term.form in EXCEPTIONS and term.form not in forms)
        for term in terms[end:rest]
    )


def is_under(text: str, start: int, own: Sequence[Term]) -> bool:
    """Return whether a place of a text is below a heading that may change it, or is struck through.

    >>> from .terms import read_terms
    >>> own, lines = read_terms("Use tabs."), "Rejected ideas:\\n- Use tabs."
    >>> is_under(lines, lines.index("Use"), own), is_under("Key rules:\\n- Use tabs.", 13, own)
    (True, False)
    """
    if text.count("~~", text.rfind("\n", 0, start) + 1, start) % 2:
        return True
    return any(
        _has_symbol(heading) or _names_another(read_terms(heading), own)
        for heading in _find_headings(text, start)
    )


def is_marked(text: str, start: int) -> bool:
    """Return whether a symbol or a check box in the line of a place may change it.

    >>> is_marked("- ❌ Use tabs", 4), is_marked("- [~] Use tabs", 6), is_marked("- ✅ Use tabs", 4)
    (True, True, False)
    """
    low = max(text.rfind("\n", 0, start) + 1, start - _BESIDE)
    end = text.find("\n", start, start + _BESIDE)
    line = text[low : end if end >= 0 else start + _BESIDE]
    return _has_symbol(line) or _OTHER_BOX.search(line) is not None


def _has_symbol(line: str) -> bool:
    """Whether a line has a symbol other than a bullet, a frame or a sign of approval: "❌", "🚫"."""
    if line.isascii():
        return False
    return any(
        category(char) == "So" and char not in _APPROVING and _FRAMES_AND_FACES.match(char) is None
        for char in line
    )


def is_listed(text: str, start: int) -> bool:
    """Whether a place of a text is in a list of the user's messages, as a harness asks for in a summary."""
    return next(_find_headings(text, start), "").casefold() == "all user messages"


def _find_headings(text: str, start: int) -> Iterator[str]:
    """Yield the headings above a place, the nearest first."""
    at = text.rfind("\n", 0, start) + 1
    depth = _read_depth(text[at:start])
    count = 0
    for line in reversed(text[max(0, at - _REACH) : at].splitlines()):
        line_depth, words = _read_depth(line), line.strip().strip("*_# ")
        if line_depth >= depth or not (_TITLE.match(line) or words.endswith(":")):
            continue
        if len(words) <= _LONGEST and (heading := _BULLET.sub("", words).rstrip(": ")):
            yield heading
        depth, count = line_depth, count + 1
        if depth <= 1 or count == _DEEPEST:
            return


def _read_depth(line: str) -> int:
    """Return the depth of a line: 0 for a title; by indentation for others, a bullet below a sentence."""
    if not line.strip():
        return 1_000
    if _TITLE.match(line):
        return 0
    indented = len(line) - len(line.lstrip())
    is_bullet = _BULLET.match(line) is not None
    return 1 + 3 * indented + (2 if is_bullet else not line.rstrip().endswith(":"))


def _names_another(label: Sequence[Term], own: Sequence[Term]) -> bool:
    """Whether a label or a heading has a word that may change what is below it."""
    forms = {term.form for term in own}
    return any(
        term.sort in ("negation", "soft", "cancel", "permission")
        or (term.sort == "word" and term.form not in _LABELS | forms)
        for term in label
    )


def _count_permissions(terms: Sequence[Term]) -> int:
    return sum(term.sort == "permission" for term in terms)


def _asks(terms: Sequence[Term], at: int) -> bool:
    """Whether two terms ask someone to do something: "can you", "would you"."""
    return terms[at].form in _MODALS | {"can", "will"} and terms[at + 1].form == "you"


def _is_mark(term: Term, marks: str) -> bool:
    return term.sort == "mark" and term.form in marks
