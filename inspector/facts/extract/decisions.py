"""Decisions of the model: sentences that settle on something, with a reason or an alternative."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .typed import Hit, typed_sentences
from .word_places import Places

DECISION_WORDS = ("nstead", "ather than", "ecause", "since ", "so that", "to avoid", "to prevent", "decided",
                  "going with", "simpler", "cleaner", "is better", "o I'll", "o we ")  # fmt: skip
_AGAINST = re.compile(r"(?i)\b(?:instead|rather than|decided|going with)\b")
_SETTLES = re.compile(
    r"(?i)\b(?:i['’]ll|i will|i['’]m (?:going|keeping|using|leaving)|let me|let['’]s|we['’]ll|we will|should"
    r"|need to"
    r"|must|us(?:es?|ed|ing)|switch\w*|replac\w+|updat\w+|ke(?:ep|pt)|prefer|chose|decided|opted|skip\w*"
    r"|moved?|made)\b"
)
_TAKES = re.compile(
    r"(?i)^(?:keep|use|skip|leave|drop|put)\b"
    r"|\b(?:i['’]ll|i will|i['’]m (?:going to|keeping|using|leaving)|let me|let['’]s|we['’]ll|we will"
    r"|decided|chose|opted"
    r"|(?:i|we) (?:can just|should|need to|kept|used|went|skipped|left|moved|made|changed|replaced)"
    r"|(?:better|best|safer|simpler|cleaner|easier|makes sense|right|no need) (?:to|call|approach|choice|fix"
    r"|way)"
    r"|(?:is|are) (?:cleaner|simpler|better|safer|best)|should (?:use|go|stay|keep|not))\b"
)
_COMPARES = re.compile(
    r"(?i)\b(?:might|maybe|perhaps|whether|either|would you|should (?:we|i)\b|do you|could|(?:simpler"
    r"|cleaner|better|safer) but"
    r"|(?:let me|(?:need|have|want) to) (?:\w+ )?(?:check|see|look|ask|run|verify|read|find|search"
    r"|investigate"
    r"|trace|debug|think|get|wait|explore|review|understand|know|figure|test))\b"
)


def find_decisions(text: str, places: Places) -> Iterator[Hit]:
    """Yield the decisions in a text; `places` are those of DECISION_WORDS.

    >>> from .word_places import WordTable
    >>> text = "It fails because it is old. I'll skip it since it is old."
    >>> [form for _, _, form in find_decisions(text, WordTable(DECISION_WORDS).find(text))]
    ["I'll skip it since it is old."]
    """
    until = 0
    for at in sorted(at for word in DECISION_WORDS if word in places for at in places[word].tolist()):
        if at < until:
            continue
        start = max(text.rfind("\n", 0, at) + 1, until)
        until = text.find("\n", at)
        until = len(text) if until < 0 else until
        for first, last, form in typed_sentences(text[start:until]):
            if _settles(form):
                yield start + first, start + last, form


def _settles(form: str) -> bool:
    if form[-1] == "?" or not any(word in form for word in DECISION_WORDS) or _COMPARES.search(form):
        return False
    return (_SETTLES if _AGAINST.search(form) else _TAKES).search(form) is not None
