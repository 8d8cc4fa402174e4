"""A summary that was written before, read back as lines under the sections of a checkpoint.

Written by this package, it comes back whole; written by another harness, its headings are recognised by
their words. Lines are copied as they are: only their section is interpreted, not their content.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .quotes import clip

LONGEST = 400
"""Characters of a line that are carried on."""
_HEADING = re.compile(
    r"^(?:#{1,6}\s+(?P<a>.+?)|\*\*(?P<b>[^*]{2,60})\*\*:?|\d{1,2}\.\s+(?P<c>[^:]{2,60}):)\s*$"
)
_BULLET = re.compile(r"^(?:[-*•+]|\d{1,3}[.)])\s+(?:\[[ x~]\]\s+)?")
_TAG = re.compile(r"^</?([a-z][a-z-]{1,30})>$")
_LISTS = {"read-files": "read", "modified-files": "modified"}
_RULE = re.compile(r"[-|:+=_*\s]+$")
_NOTHING = re.compile(r"^(?:\(?none\)?|n/a|nothing)\.?$", re.IGNORECASE)
_WORDS = (
    ("said", r"^other sentences$"),
    ("read", "files read|read files"),
    ("modified", "files (?:modified|changed|edited|written)|modified files"),
    ("blocked", "blocked|errors|problems|open issues"),
    ("doing", "in progress|current work|currently"),
    ("done", "done|completed|finished|progress|work so far"),
    ("next", "next|pending|remaining|to-?dos?|open tasks"),
    ("constraints", "constraints?|preferences?|rules"),
    ("decisions", "decisions?"),
    ("goal", "goals?|requests?|intent|objective|task|user messages"),
    ("context", "."),
)
_SECTION = re.compile("|".join(rf"(?P<{slot}>\b(?:{words})\b)" for slot, words in _WORDS[:-1]), re.IGNORECASE)


class SummaryLine(NamedTuple):
    """One line of an earlier summary, and its section."""

    slot: str
    text: str


def section_of(heading: str) -> str:
    """Return the section that a heading means; a heading without known words is context.

    >>> section_of("Key Decisions"), section_of("Primary Request and Intent"), section_of("Notes")
    ('decisions', 'goal', 'context')
    """
    match = _SECTION.search(heading)
    return match.lastgroup or "context" if match else "context"


def read_summary(text: str) -> list[SummaryLine]:
    """Its lines in order, without marks, headings and what says that there is nothing.

    >>> read_summary("## Goal\\n- ship it\\n<modified-files>\\nsrc/a.py\\n</modified-files>")
    [SummaryLine(slot='goal', text='ship it'), SummaryLine(slot='modified', text='src/a.py')]
    """
    lines: list[SummaryLine] = []
    slot, listed = "context", ""
    for raw in text.split("\n"):
        line = raw.strip()
        if tag := _TAG.match(line):
            listed = "" if line.startswith("</") else _LISTS.get(tag[1], "")
        elif listed:
            lines += [SummaryLine(listed, line)] if line else []
        elif heading := _HEADING.match(line):
            slot = section_of(heading["a"] or heading["b"] or heading["c"])
        else:
            words = " ".join(_BULLET.sub("", line).split())
            is_mark = words.startswith(("```", "---")) or _NOTHING.match(words) or _RULE.match(words)
            if len(words) > 2 and not is_mark:
                lines.append(SummaryLine(slot, clip(words, LONGEST)))
    return lines
