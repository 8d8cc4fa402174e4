"""What users and the model say, cut to what a summary has room for.

Places are numbers that grow along the path: the entry's position times 2^32, as `gleaning` numbers facts.
"""

from __future__ import annotations

import re

from ...session.session import Session
from ...session.speakers import find_speech, who_speaks
from ...text import printable

WORDS = 600
"""Characters of the first and the last request; the model's last words have half of it, others a third."""

_SENTENCE = re.compile(r"(?<=[.!?:])\s+")
_SPACE, _BETWEEN = re.compile(r" "), re.compile(r"[^\w.,]")
_TELLING = 25  # characters; "Done." and "Good point." tell nothing


def find_requests(session: Session) -> list[tuple[int, str]]:
    """(place, words) of what the user asks for, without what the harness puts among it."""
    found = []
    for at, entry in enumerate(session.entries):
        if entry.opens_turn:
            said = (
                block.text[start:end]
                for block in entry.blocks
                if block.kind == "text"
                for start, end, speaker, _ in find_speech(entry, block)
                if speaker == "user" or who_speaks(entry).way in ("plan", "task")
            )
            text = " ".join(said).strip()
            if text:
                found.append((at << 32, text))
    return found


def find_answers(session: Session) -> list[tuple[int, str]]:
    """(place, words) of what the model says, without its reasoning."""
    entries = enumerate(session.entries)
    return [(at << 32, e.text.strip()) for at, e in entries if e.role == "assistant" and e.text.strip()]


def find_sentence(text: str) -> str:
    """The first sentence that is long enough to say something; empty without one.

    >>> find_sentence("Done. The boards show the right hour again.")
    'The boards show the right hour again.'
    """
    for line in text[: 4 * WORDS].split("\n"):
        for sentence in _SENTENCE.split(line.strip(" #>*-")):
            if len(sentence) >= _TELLING:
                return clip(sentence, WORDS // 3)
    return ""


def last_line(text: str) -> str:
    """The last line that says anything."""
    lines = (line.strip() for line in reversed(text[-4 * WORDS :].split("\n")))
    return next((" ".join(line.split()) for line in lines if line), "")


def clip(text: str, limit: int) -> str:
    """The text on one line, at most `limit` characters of it, safe to show."""
    line = " ".join(text[: 4 * limit].split())
    whole = len(line) <= limit and len(text) <= 4 * limit
    return printable(line if whole else f"{cut_words(line, limit - 1)}…")


def cut_words(line: str, limit: int) -> str:
    """At most `limit` characters of a line, its last word, number or path not cut in two where that can be.

    A word that fills half the room is cut all the same, at a sign between its parts if it has one.

    >>> cut_words("see src/a.py and src/b.py", 20), cut_words("x" * 40, 20) == "x" * 20
    ('see src/a.py and', True)
    """
    if len(line) <= limit:
        return line
    for ends in (_SPACE, _BETWEEN):
        if found := [match.start() for match in ends.finditer(line, limit // 2, limit + 1)]:
            return line[: found[-1]]
    return line[:limit]


def quote(text: str, limit: int) -> str:
    """The same in quotation marks."""
    return f'"{clip(text, limit)}"'
