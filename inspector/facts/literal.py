"""Look up words that are not a fact but occur exactly on a session's path.

Takes a session and any text, and returns a `Fact` of that text alone, or None.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from ..session.queries import readable_text
from ..session.session import Session
from ..session.speakers import Speaker, find_speaker, find_speech, who_speaks
from ..session.toolcalls.arguments import Named
from ..session.toolcalls.canonical_path import LONGEST
from ..session.toolcalls.looks_like_path import ROOTS, looks_like_path
from ..session.tree import BRANCH_SUMMARY, COMPACTION, MICRO, NOTE, Bools
from ..text import brief, has_words
from .block_search import search_blocks
from .extract.collect import FactOccurrences
from .extract.segments import CALLED, REPORT, SORT_OF, TextSegment
from .facts import Fact, Facts
from .line_search import LineMatch
from .mentions import find_runs

_Mention = tuple[int, int, int, int, Speaker]
"""Where some words are said: entry and block by number, the span, and the speaker."""


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
    name, test = f"says {wording}", partial(_says, wording=wording)
    marks = search_blocks(session, _mark_path(session), {name: test}, readable_text)[name]
    holding = list(find_blocks(session, marks))
    kind = "file" if " " not in wording and looks_like_path(wording, ROOTS) else "text"
    if not holding:
        head = (*session.system, *session.provided)
        is_provided = any(_says(part.text, wording) for part in head)
        return _make_fact(session, kind, wording, []) if is_provided else None
    if kind == "file":
        named = [holder for holder in holding if _is_named(holder.text, wording)]
        holding, kind = (named, "file") if named else (holding, "text")
    mentions = [_find_mention(session, holder, text, wording) for holder in holding]
    return _make_fact(session, kind, wording, mentions)


def make_asked(session: Session, text: str, lines: Sequence[LineMatch], kind: str = "text") -> Fact:
    """Return words that no block says exactly as a fact, with the lines that say it.

    Args:
        session: The session.
        text: The words.
        lines: The lines that say them; may be empty.
        kind: The kind of the fact.
    """
    mentions: list[_Mention] = []
    for line in lines:
        at = session.index[line.ref.entry]
        speaker = find_speaker(session.entries[at], session.block(line.ref), line.start)
        mentions.append((at, line.ref.block, line.start, line.end, speaker))
    return _make_fact(session, kind, " ".join(text.split())[:LONGEST], mentions)


def _make_fact(session: Session, kind: str, wording: str, mentions: Iterable[_Mention]) -> Fact:
    """Return words that are no fact of the session as one."""
    occurrences, own = FactOccurrences(), "symbol" if kind == "text" else kind
    occurrences.name(own, wording)
    for entry, block, start, end, speaker in mentions:
        called = session.entries[entry].blocks[block].kind == "tool_call"
        segment = TextSegment(entry, block, 0, CALLED if called else _SORTS[speaker], "")
        occurrences.add(segment, [Named(own, wording, start, end, None)])
    return Fact(kind, wording, 0, Facts(session, occurrences))


def _find_mention(session: Session, holder: PathBlock, text: str, wording: str) -> _Mention:
    """Return the span of a block that says some words: all of it if they are not there exactly."""
    owner = session.entries[holder.entry]
    block, words = owner.blocks[holder.block], owner.blocks[holder.block].text
    spans = list(find_speech(owner, block))
    spoken_spans = (span for span in spans if _says(words[span.start : span.end], wording))
    speaker = next(spoken_spans, spans[0] if spans else who_speaks(owner)).speaker
    start = max(words.find(text), 0)
    end = start + len(text) if words.startswith(text, start) else len(words)
    return holder.entry, holder.block, start, end, speaker


class PathBlock(NamedTuple):
    """A block on the path, by the index of its entry and its own there, and its readable text."""

    entry: int
    block: int
    text: str


def _mark_path(session: Session) -> Bools:
    """Mark the blocks on the path that no compaction wrote: bool per block of the file, a last False."""
    tree = session.tree
    counts = (session.path_index >= 0) & ~np.isin(tree.sort, (NOTE, MICRO, COMPACTION, BRANCH_SUMMARY))
    return np.append(np.repeat(counts, np.diff(tree.start)), False)


def find_blocks(session: Session, marks: Bools | None = None) -> Iterator[PathBlock]:
    """Yield the blocks on the path that no compaction wrote, or those of them that are marked, in order."""
    rows, start = np.flatnonzero(_mark_path(session) if marks is None else marks), session.tree.start
    owners = np.searchsorted(start, rows, side="right") - 1
    order = np.argsort(session.path_index[owners], kind="stable")
    for entry, row in zip(owners[order].tolist(), rows[order].tolist(), strict=True):
        number = row - int(start[entry])
        yield PathBlock(entry, number, readable_text(session.entries[entry].blocks[number]))


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
    for place in _PLACES:
        if place in places:
            return f"{place} ({brief(places[place])})"
    root = session.entries[session.path[0]] if session.path else None
    # If the first row belongs to one that is missing, the text may have been in the missing part.
    if root is None:
        return "nothing before it is in the file"
    cut = root.role == "tool" or (root.parent or root.id) not in session.index
    middle = "; the file begins in the middle of its session" if cut else ""
    return f"nothing said so far holds it{middle}"


_PLACES = (
    *("it is first said later", "only a summary says it", "only another branch says it"),
    "only a sub-agent's own conversation says it",
)
"""The relations of an entry to a path that does not contain it, the most telling first."""


def _tell_place(session: Session, at: int) -> str:
    later, summary, branch, agent = _PLACES
    if session.tree.sort[at] in (COMPACTION, BRANCH_SUMMARY):
        return summary
    if session.entries[at].sidechain is not None:
        return agent
    return later if at > max(session.path, default=-1) else branch
