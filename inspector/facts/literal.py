"""Look up words that are not a fact but occur exactly on a session's path.

Takes a session and any text, and returns a `Fact` of that text alone, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..session.blocks import Block
from ..session.entries import Entry
from ..session.queries import readable_text
from ..session.session import Session
from ..session.speakers import Speaker, find_speaker, find_speech, who_speaks
from ..session.toolcalls.arguments import Named
from ..session.toolcalls.canonical_path import LONGEST
from ..session.toolcalls.looks_like_path import ROOTS, looks_like_path
from ..session.tree import BRANCH_SUMMARY, COMPACTION, MICRO, NOTE
from ..text import brief, has_words
from .extract.collect import FactOccurrences
from .extract.segments import CALLED, REPORT, SORT_OF, TextSegment
from .facts import Fact, Facts
from .line_search import LineMatch
from .mentions import find_runs


def find_literal(session: Session, text: str) -> Fact | None:
    """Return any words as a fact if the session's path, or the text before its messages, holds them exactly.

    The kind is "file" if a path names it, else "text".

    >>> from inspector.demo import open_demo
    >>> find_literal(open_demo(), "nobody has said this") is None
    True
    """
    wording = " ".join(text.split())
    if not 0 < len(wording) <= LONGEST:
        return None
    holding = [block for block in _find_blocks(session) if _says(block.text, wording)]
    kind = "file" if " " not in wording and looks_like_path(wording, ROOTS) else "text"
    if not holding:
        head = (*session.system, *session.provided)
        is_provided = any(_says(part.text, wording) for part in head)
        return _make_fact(session, kind, wording, []) if is_provided else None
    if kind == "file":
        named = [block for block in holding if _is_named(block.text, wording)]
        holding, kind = (named, "file") if named else (holding, "text")
    return _make_fact(session, kind, wording, [_find_mention(holder, text, wording) for holder in holding])


def make_asked(session: Session, text: str, lines: Sequence[LineMatch], kind: str = "text") -> Fact:
    """Return words that no block says exactly as a fact, with the lines that say it.

    Args:
        session: The session.
        text: The words.
        lines: The lines that say them; may be empty.
        kind: The kind of the fact.
    """
    mentions = []
    for line in lines:
        at = session.index[line.ref.entry]
        speaker = find_speaker(session.entries[at], session.block(line.ref), line.start)
        mentions.append(_Mention(at, line.ref.block, line.start, line.end, speaker))
    return _make_fact(session, kind, " ".join(text.split())[:LONGEST], mentions)


class _Mention(NamedTuple):
    """Where some words are said: entry and block by number, the span, and the speaker."""

    entry: int
    block: int
    start: int
    end: int
    speaker: Speaker


def _make_fact(session: Session, kind: str, wording: str, mentions: Iterable[_Mention]) -> Fact:
    """Return words that are no fact of the session as one."""
    occurrences, own = FactOccurrences(), "symbol" if kind == "text" else kind
    occurrences.name(own, wording)
    for entry, block, start, end, speaker in mentions:
        called = session.entries[entry].blocks[block].kind == "tool_call"
        segment = TextSegment(entry, block, 0, CALLED if called else _SORTS[speaker], "")
        occurrences.add(segment, [Named(own, wording, start, end, None)])
    return Fact(kind, wording, 0, Facts(session, occurrences))


def _find_mention(holding: _PathBlock, text: str, wording: str) -> _Mention:
    """Return the span of a block that says some words: all of it if they are not there exactly."""
    block, words = holding.block, holding.block.text
    spans = list(find_speech(holding.owner, block))
    spoken_spans = (span for span in spans if _says(words[span.start : span.end], wording))
    speaker = next(spoken_spans, spans[0] if spans else who_speaks(holding.owner)).speaker
    start = max(words.find(text), 0)
    end = start + len(text) if words.startswith(text, start) else len(words)
    return _Mention(holding.entry, holding.number, start, end, speaker)


class _PathBlock(NamedTuple):
    """A block on the path: its entry's index, its own number there, and its readable text."""

    entry: int
    number: int
    owner: Entry
    block: Block
    text: str


def _find_blocks(session: Session) -> Iterator[_PathBlock]:
    """Yield the blocks on the path that no compaction wrote."""
    for at in session.path:
        if session.tree.sort[at] not in (NOTE, MICRO, COMPACTION, BRANCH_SUMMARY):
            entry = session.entries[at]
            for number, block in enumerate(entry.blocks):
                yield _PathBlock(at, number, entry, block, readable_text(block))


def _says(text: str, wording: str) -> bool:
    """Whether a text says some words in a row, whatever the blanks between them."""
    return all(word in text for word in wording.split(" ")) and has_words(" ".join(text.split()), wording)


def _is_named(text: str, path: str) -> bool:
    """Whether a text names a file or folder, and not just a longer name that ends like it."""
    name = path.replace("\\", "/").removeprefix("./").strip("/")
    return any(f"/{name}/" in f"/{run.removeprefix('@')}/" for run in find_runs(text, both=True))


_SORTS = {**SORT_OF, "tool": REPORT}
"""The sort of the texts of each speaker."""


def tell_absence(session: Session, text: str) -> str:
    """Explain why no text on a session's path holds a text: other places in the file that do, if any.

    >>> from inspector.demo import open_demo
    >>> session = open_demo()
    >>> start = session.at(session.entries[session.path[0]].id)
    >>> tell_absence(start, session.entries[session.path[-1]].blocks[0].text[:20]).partition(" (")[0]
    'it is first said later'
    >>> tell_absence(start, "nobody has said this")
    'nothing said so far holds it'
    """
    wording, path = " ".join(text.split()), set(session.path)
    places: dict[str, str] = {}
    for at, entry in enumerate(session.entries) if wording else ():
        if at in path and session.tree.sort[at] not in (COMPACTION, BRANCH_SUMMARY):
            continue
        if any(_says(readable_text(block), wording) for block in entry.blocks):
            places.setdefault(_tell_place(session, at), entry.id)
    for place in ("it is first said later", "only a summary says it", "only another branch says it"):
        if place in places:
            return f"{place} ({brief(places[place])})"
    for place, name in places.items():
        return f"{place} ({brief(name)})"
    root = session.entries[session.path[0]] if session.path else None
    # If the first row belongs to one that is missing, the text may have been in the missing part.
    if root is None:
        return "nothing before it is in the file"
    cut = root.role == "tool" or (root.parent or root.id) not in session.index
    middle = "; the file begins in the middle of its session" if cut else ""
    return f"nothing said so far holds it{middle}"


def _tell_place(session: Session, at: int) -> str:
    """Describe the relation of an entry to a path that does not contain it."""
    if session.tree.sort[at] in (COMPACTION, BRANCH_SUMMARY):
        return "only a summary says it"
    if session.entries[at].sidechain is not None:
        return "only a sub-agent's own conversation says it"
    return "it is first said later" if at > max(session.path, default=-1) else "only another branch says it"
