"""The texts that people typed on a session's path, as a reader of them needs them: each once, with what the
model said before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..session.labels import hash_text
from ..session.session import Session
from .extract.paths import PathFinder
from .extract.segments import ANSWERED, TYPED, TextSegment, read_path

_RAN = "I ran the following shell command:"
"""Gemini CLI's message to the model about a shell command that its user ran."""


class TypedText(NamedTuple):
    """A text that a person typed: its entry, its words, their hash (as in `TextLabels.text`),
    and what the model said before."""

    entry: str
    text: str
    digest: str
    before: str


def find_typed_texts(session: Session) -> Iterator[TypedText]:
    """Every text on the path that a person typed, prompts, answers and refusals alike, in order. One that is
    typed again comes once; shell commands are left out, and of the model's words its reasoning.

    >>> from inspector import read_session
    >>> asked = {"role": "assistant", "content": "A, or B."}
    >>> answer = {"role": "user", "content": "B."}
    >>> session = read_session([{"role": "user", "content": "Which?"}, asked, answer])
    >>> [(one.entry, one.text, one.before) for one in find_typed_texts(session)]
    [('m1', 'Which?', ''), ('m3', 'B.', 'A, or B.')]
    """
    previous, digests = "", set[str]()
    for segment, _ in read_path(session, PathFinder(session.cwd)):
        entry = session.entries[segment.entry]
        if segment.sort == ANSWERED and entry.blocks[segment.block].kind == "text":
            previous = segment.text
        elif segment.sort == TYPED and segment.text.strip() and not _is_shell(segment):
            digest = hash_text(segment.text)
            if digest not in digests:
                digests.add(digest)
                yield TypedText(entry.id, segment.text, digest, previous)


def _is_shell(segment: TextSegment) -> bool:
    return segment.way == "shell" or segment.text.startswith(_RAN)
